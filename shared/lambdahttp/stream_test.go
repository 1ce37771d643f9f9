package lambdahttp_test

import (
	"bytes"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"

	"docent/shared/lambdahttp"
)

// stream gives event to h and returns the response while h may still write its body.
func stream(t *testing.T, event events.APIGatewayProxyRequest, log io.Writer, h http.HandlerFunc) *events.APIGatewayProxyStreamingResponse {
	t.Helper()
	f := &lambdahttp.Function{Handler: h, Log: slog.New(slog.NewJSONHandler(log, nil))}
	response, err := f.Stream(t.Context(), event)
	if err != nil {
		t.Fatal(err)
	}
	return response
}

func TestABodyIsSentWhileItIsWritten(t *testing.T) {
	t.Parallel()
	read := make(chan struct{})
	response := stream(t, get, io.Discard, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.WriteHeader(200)
		w.Header().Set("Late", "1")
		w.(http.Flusher).Flush()
		_, _ = io.WriteString(w, "one")
		<-read // the client has it before the handler continues
		_, _ = io.WriteString(w, "two")
		if _, ok := r.Context().Deadline(); ok {
			t.Error("a deadline from nowhere")
		}
	})
	h := http.Header(response.MultiValueHeaders)
	if response.StatusCode != 200 || h.Get("Content-Type") != "text/event-stream" || h.Get("Late") != "" {
		t.Errorf("%d %v", response.StatusCode, h)
	}
	part := make([]byte, 3)
	if _, err := io.ReadFull(response.Body, part); err != nil || string(part) != "one" {
		t.Errorf("%q, %v", part, err)
	}
	close(read)
	if rest, err := io.ReadAll(response.Body); err != nil || string(rest) != "two" {
		t.Errorf("%q, %v", rest, err)
	}
}

func TestStreamsFollowTheRulesOfResponses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		method, path string
		handler      http.HandlerFunc
		status       int
		body         string
	}{
		"empty handler": {"GET", "/documents", func(http.ResponseWriter, *http.Request) {}, 200, ""},
		"head":          {"HEAD", "/documents", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "body") }, 200, ""},
		"no content": {"GET", "/documents", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(204)
			if _, err := io.WriteString(w, "body"); err == nil {
				w.WriteHeader(500)
			}
		}, 204, ""},
		"two statuses": {"GET", "/documents", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(103)
			w.WriteHeader(201)
			w.WriteHeader(500)
			_, _ = io.WriteString(w, "made")
		}, 201, "made"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			event := get
			event.HTTPMethod, event.Path = c.method, c.path
			response := stream(t, event, io.Discard, c.handler)
			if body, err := io.ReadAll(response.Body); err != nil || response.StatusCode != c.status || string(body) != c.body {
				t.Errorf("%d %q, %v", response.StatusCode, body, err)
			}
		})
	}
}

func TestStreamsThatFail(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	response := stream(t, get, &log, func(http.ResponseWriter, *http.Request) { panic("secret") })
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != 500 || !strings.Contains(string(body), `"code":"internal"`) || strings.Contains(string(body), "secret") {
		t.Errorf("panic before a write: %d %s, %v", response.StatusCode, body, err)
	}
	if !strings.Contains(log.String(), "stream_test.go") {
		t.Errorf("log %s", &log)
	}
	response = stream(t, get, io.Discard, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "half")
		panic("secret")
	})
	if body, err = io.ReadAll(response.Body); err == nil || response.StatusCode != 200 || string(body) != "half" {
		t.Errorf("panic after a write: %d %q, %v", response.StatusCode, body, err)
	}
	response = stream(t, events.APIGatewayProxyRequest{HTTPMethod: "PUT", Path: "/", Body: "%", IsBase64Encoded: true}, io.Discard, func(http.ResponseWriter, *http.Request) { t.Error("the handler is asked") })
	if body, err = io.ReadAll(response.Body); err != nil || response.StatusCode != 400 || !strings.Contains(string(body), "invalid-request") {
		t.Errorf("bad base64: %d %s, %v", response.StatusCode, body, err)
	}
}

// TestAReaderThatLeavesDoesNotStopTheHandler: what it writes afterwards is lost.
func TestAReaderThatLeavesDoesNotStopTheHandler(t *testing.T) {
	t.Parallel()
	ended := make(chan error)
	response := stream(t, get, io.Discard, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "one")
		_, err := io.WriteString(w, "two")
		ended <- err
	})
	if _, err := io.ReadFull(response.Body, make([]byte, 3)); err != nil {
		t.Fatal(err)
	}
	if err := response.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err == nil {
		t.Error("the second write succeeded")
	}
}
