package openai_test

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"

	"docent/shared/llm/openai"
)

// transport answers each request itself, so that time can be that of a test.
type transport func(*http.Request) (*http.Response, error)

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) { return t(r) }

func replyOf(status int, body string, header ...string) *http.Response {
	r := &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	return r
}

// TestOneAddress checks the address of a request, its method, headers and body.
func TestOneAddress(t *testing.T) {
	t.Parallel()
	for base, want := range map[string]string{
		"https://models.test":         "https://models.test/chat/completions",
		"https://models.test/v1":      "https://models.test/v1/chat/completions",
		"https://models.test/v1/":     "https://models.test/v1/chat/completions",
		"http://models.test:8000/a/b": "http://models.test:8000/a/b/chat/completions",
	} {
		t.Run(base, func(t *testing.T) {
			t.Parallel()
			c, err := openai.New(base, "m", openai.Options{Transport: transport(func(r *http.Request) (*http.Response, error) {
				if r.Method != http.MethodPost || r.URL.String() != want || r.Header.Get("Content-Type") != "application/json" || r.Header["Authorization"] != nil {
					t.Errorf("%s %s, %v", r.Method, r.URL, r.Header)
				}
				body, err := io.ReadAll(r.Body)
				if err != nil || int64(len(body)) != r.ContentLength || !bytes.HasPrefix(body, []byte("{")) {
					t.Errorf("%d bytes of %d, %v", len(body), r.ContentLength, err)
				}
				return replyOf(200, completion("Run undo [1].", "stop")), nil
			})})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := c.Compose(t.Context(), request); err != nil {
				t.Error(err)
			}
		})
	}
}

// FuzzReply: no reply is more than an error of llm's, and none has an error say what
// a server said.
func FuzzReply(f *testing.F) {
	for _, seed := range []string{completion("Run undo [1].", "stop"), `{"choices":[{}]}`, `{"choices":null}`, `{"choices":[{"message":{"content":["x"]}}]}`,
		`{"error":{"param":"temperature"}}`, `[]`, ``} {
		f.Add(200, seed)
		f.Add(400, seed)
	}
	f.Fuzz(func(t *testing.T, status int, body string) {
		asked := 0
		c, err := openai.New("https://models.test", "m", openai.Options{Transport: transport(func(*http.Request) (*http.Response, error) {
			asked++
			return replyOf(status, body, "Retry-After", "0"), nil
		})})
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.Compose(t.Context(), request)
		if asked > 3 { // a parameter refused again and again, or a server that fails
			t.Errorf("asked %d times", asked)
		}
		if err != nil && len(body) > 40 && strings.Contains(err.Error(), body) {
			t.Errorf("the error says what the server said: %v", err)
		}
	})
}
