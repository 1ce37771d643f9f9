// Package llmtest is a server of a model for tests. It speaks OpenAI's Chat Completions
// and Converse of Amazon Bedrock, and behaves as the test says.
package llmtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream"
	"github.com/google/uuid"
)

// Behaviour is how the server handles a request.
type Behaviour int

// The behaviours.
const (
	Says      Behaviour = iota // answers with the text
	Throttles                  // 429
	Fails                      // 500
	CutsOff                    // ends within its reply
	Hangs                      // until the client has gone
	Pauses                     // within its stream, after the first half of the text, until GoOn
)

// Server is one model.
type Server struct {
	Key string // that requests of Chat Completions must carry; empty: none is asked for

	t       testing.TB
	address string

	mu    sync.Mutex
	does  Behaviour
	text  string
	asked int
	goOn  chan struct{} // closed by GoOn
}

// Start returns a server that replies NOT FOUND until Now changes that.
func Start(t testing.TB) *Server {
	t.Helper()
	s := &Server{t: t, text: "NOT FOUND"}
	listening := httptest.NewServer(s)
	t.Cleanup(listening.Close)
	s.address = listening.URL
	return s
}

// OpenAI returns the address for a client of Chat Completions.
func (s *Server) OpenAI() string { return s.address + "/v1" }

// Bedrock returns the endpoint for a client of Converse and ConverseStream.
func (s *Server) Bedrock() string { return s.address }

// Now sets how the server behaves, and its text, and resets Asked. Requests that came before are not
// affected.
func (s *Server) Now(does Behaviour, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.does, s.text, s.asked, s.goOn = does, text, 0, make(chan struct{})
}

// GoOn ends the pause of the requests since Now. It is called once.
func (s *Server) GoOn() {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.goOn)
}

// Asked returns how many requests came since Now.
func (s *Server) Asked() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked
}

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.asked++
	does, text, goOn := s.does, s.text, s.goOn
	s.mu.Unlock()
	_, _ = io.Copy(io.Discard, r.Body)
	w.Header().Set("Content-Type", "application/json")
	if strings.HasSuffix(r.URL.Path, "/converse-stream") {
		w.Header().Set("Content-Type", "application/vnd.amazon.eventstream")
	}
	reply, half, err := s.reply(r, text)
	if err != nil {
		s.t.Error(err)
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	switch does {
	case Throttles:
		w.Header().Set("X-Amzn-Errortype", "ThrottlingException")
		w.Header().Set("Retry-After-Ms", "1")
		w.WriteHeader(http.StatusTooManyRequests)
	case Fails:
		w.Header().Set("Retry-After-Ms", "1")
		w.WriteHeader(http.StatusInternalServerError)
	case Hangs:
		<-r.Context().Done()
	case CutsOff:
		w.Header().Set("Content-Length", fmt.Sprint(len(reply)))
		_, _ = w.Write(reply[:len(reply)/2])
	case Pauses:
		_, _ = w.Write(reply[:half])
		_ = http.NewResponseController(w).Flush()
		select {
		case <-goOn:
			_, _ = w.Write(reply[half:])
		case <-r.Context().Done():
		}
	default:
		_, _ = w.Write(reply)
	}
}

// reply returns a whole reply in the protocol of the request. Its first half bytes hold half of the
// text, if it is a stream.
func (s *Server) reply(r *http.Request, text string) (whole []byte, half int, err error) {
	switch authorization := r.Header.Get("Authorization"); {
	case r.Method == http.MethodPost && r.URL.Path == "/v1/chat/completions":
		want := ""
		if s.Key != "" {
			want = "Bearer " + s.Key
		}
		if authorization != want {
			return nil, 0, fmt.Errorf("the model is asked with the authorization %q", authorization)
		}
		whole, err = json.Marshal(map[string]any{"id": uuid.NewString(), "object": "chat.completion",
			"choices": []any{map[string]any{"index": 0, "finish_reason": "stop", "message": map[string]any{"role": "assistant", "content": text}}},
			"usage":   map[string]any{"prompt_tokens": 11, "completion_tokens": 3}})
		return whole, 0, err
	case r.Method == http.MethodPost && strings.HasPrefix(r.URL.Path, "/model/") && strings.HasSuffix(r.URL.Path, "/converse"):
		if !strings.HasPrefix(authorization, "AWS4-HMAC-SHA256 ") {
			return nil, 0, fmt.Errorf("the model is asked with the authorization %q", authorization)
		}
		whole, err = json.Marshal(map[string]any{"stopReason": "end_turn",
			"output": map[string]any{"message": map[string]any{"role": "assistant", "content": []any{map[string]any{"text": text}}}},
			"usage":  map[string]any{"inputTokens": 11, "outputTokens": 3, "totalTokens": 14}, "metrics": map[string]any{"latencyMs": 1}})
		return whole, 0, err
	case r.Method == http.MethodPost && strings.HasPrefix(r.URL.Path, "/model/") && strings.HasSuffix(r.URL.Path, "/converse-stream"):
		if !strings.HasPrefix(authorization, "AWS4-HMAC-SHA256 ") {
			return nil, 0, fmt.Errorf("the model is asked with the authorization %q", authorization)
		}
		return converseStream(text)
	}
	return nil, 0, fmt.Errorf("the model is asked by %s %s", r.Method, r.URL.Path)
}

// converseStream returns the events of ConverseStream, with text in two pieces, and the length up to
// the second piece.
func converseStream(text string) (whole []byte, half int, err error) {
	var b bytes.Buffer
	encoder := eventstream.NewEncoder()
	for i, e := range []struct {
		name    string
		payload map[string]any
	}{
		{"messageStart", map[string]any{"role": "assistant"}},
		{"contentBlockDelta", map[string]any{"contentBlockIndex": 0, "delta": map[string]any{"text": text[:len(text)/2]}}},
		{"contentBlockDelta", map[string]any{"contentBlockIndex": 0, "delta": map[string]any{"text": text[len(text)/2:]}}},
		{"contentBlockStop", map[string]any{"contentBlockIndex": 0}},
		{"messageStop", map[string]any{"stopReason": "end_turn"}},
		{"metadata", map[string]any{"usage": map[string]any{"inputTokens": 11, "outputTokens": 3, "totalTokens": 14}, "metrics": map[string]any{"latencyMs": 1}}},
	} {
		if i == 2 {
			half = b.Len()
		}
		payload, err := json.Marshal(e.payload)
		if err != nil {
			return nil, 0, err
		}
		headers := eventstream.Headers{}
		headers.Set(":message-type", eventstream.StringValue("event"))
		headers.Set(":event-type", eventstream.StringValue(e.name))
		headers.Set(":content-type", eventstream.StringValue("application/json"))
		if err := encoder.Encode(&b, eventstream.Message{Headers: headers, Payload: payload}); err != nil {
			return nil, 0, err
		}
	}
	return b.Bytes(), half, nil
}
