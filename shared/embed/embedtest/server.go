package embedtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"docent/shared/embed"
)

// Behaviour is how a Server handles a request.
type Behaviour int

// The behaviours.
const (
	Embeds    Behaviour = iota // sends vectors
	Throttles                  // 429
	Fails                      // 500
	Refuses                    // 400
	Forbids                    // 403
	CutsOff                    // ends within its reply
	Hangs                      // until the client has gone
	Babbles                    // sends no JSON
	Omits                      // leaves out the last vector, or the only one
	Shortens                   // sends vectors that are one number short
	Nulls                      // sends null in place of numbers
	Zeros                      // sends zeros in place of numbers
	Overflows                  // sends a number that no float32 holds
	NeverEnds                  // sends numbers until the client has gone
)

// Server is a server of an embedding model for tests, whose vectors are those of an Engine. It speaks OpenAI's API and
// InvokeModel of Amazon Bedrock.
type Server struct {
	Key     string // that requests of OpenAI's API must carry; empty: none is asked for
	MaxText int    // bytes of a text; a longer one is refused with 400; 0: no limit
	Native  int    // numbers of a vector if a request asks for none; 0: those of the Engine

	t       testing.TB
	engine  *Engine
	address string

	mu    sync.Mutex
	does  []Behaviour // of each request, the last one again and again
	asked int
	texts []string
}

// Serve returns a server of an engine.
func Serve(t testing.TB, e *Engine) *Server {
	t.Helper()
	s := &Server{t: t, engine: e, does: []Behaviour{Embeds}}
	listening := httptest.NewServer(s)
	t.Cleanup(listening.Close)
	s.address = listening.URL
	return s
}

// OpenAI returns the address for a client of OpenAI's API.
func (s *Server) OpenAI() string { return s.address + "/v1" }

// Bedrock returns the endpoint for a client of InvokeModel.
func (s *Server) Bedrock() string { return s.address }

// Now sets how the server handles the next requests, the last behaviour again and again, and forgets those that came.
func (s *Server) Now(does ...Behaviour) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.does, s.asked, s.texts = does, 0, nil
}

// Asked returns how many requests came since Now, and all their texts.
func (s *Server) Asked() (requests int, texts []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked, slices.Clone(s.texts)
}

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	texts, size, err := s.read(r)
	var connection *net.OpError
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &connection) {
		return // the client has gone, or the test has ended
	}
	if err != nil {
		s.t.Error(err)
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	does := s.does[min(s.asked, len(s.does)-1)]
	s.asked++
	s.texts = append(s.texts, texts...)
	s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Retry-After-Ms", "1")
	if s.MaxText > 0 && slices.ContainsFunc(texts, func(text string) bool { return len(text) > s.MaxText }) {
		does = Refuses
	}
	switch does {
	case Throttles:
		w.Header().Set("X-Amzn-Errortype", "ThrottlingException")
		s.refuse(w, http.StatusTooManyRequests)
		return
	case Fails:
		s.refuse(w, http.StatusInternalServerError)
		return
	case Refuses:
		w.Header().Set("X-Amzn-Errortype", "ValidationException")
		s.refuse(w, http.StatusBadRequest)
		return
	case Forbids:
		w.Header().Set("X-Amzn-Errortype", "AccessDeniedException")
		s.refuse(w, http.StatusForbidden)
		return
	case Hangs:
		<-r.Context().Done()
		return
	case Babbles:
		_, _ = io.WriteString(w, "SECRET")
		return
	case NeverEnds:
		_, _ = io.WriteString(w, `{"embedding":[0`)
		for r.Context().Err() == nil {
			if _, err := io.WriteString(w, strings.Repeat(",0.125", 1000)); err != nil {
				return
			}
		}
		return
	}
	vectors, err := New(embed.Model{Name: s.engine.model.Name, Size: size}).Embed(r.Context(), texts, embed.Passage)
	if err != nil {
		s.refuse(w, http.StatusBadRequest)
		return
	}
	reply, err := s.reply(r, vectors, does)
	if err != nil {
		s.t.Error(err)
	}
	if does == CutsOff {
		w.Header().Set("Content-Length", fmt.Sprint(len(reply)))
		reply = reply[:len(reply)/2]
	}
	_, _ = w.Write(reply)
}

// refuse sends an error whose text no client may repeat.
func (s *Server) refuse(w http.ResponseWriter, status int) {
	w.WriteHeader(status)
	_, _ = io.WriteString(w, `{"message":"SECRET","error":{"message":"SECRET"}}`)
}

// read returns the texts of a request in either protocol, and the size of vectors that it asks for.
func (s *Server) read(r *http.Request) (texts []string, size int, err error) {
	var body struct {
		Model      string   `json:"model"`
		Input      []string `json:"input"`
		InputText  string   `json:"inputText"`
		Dimensions int      `json:"dimensions"`
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		return nil, 0, err
	}
	size = s.engine.model.Size
	if s.Native > 0 {
		size = s.Native
	}
	if body.Dimensions > 0 {
		size = body.Dimensions
	}
	authorization := r.Header.Get("Authorization")
	switch {
	case r.Method == http.MethodPost && r.URL.Path == "/v1/embeddings":
		want := ""
		if s.Key != "" {
			want = "Bearer " + s.Key
		}
		if authorization != want || body.Model == "" || body.InputText != "" {
			return nil, 0, fmt.Errorf("the embedding model %q is asked with the authorization %q", body.Model, authorization)
		}
		return body.Input, size, nil
	case r.Method == http.MethodPost && strings.HasPrefix(r.URL.Path, "/model/") && strings.HasSuffix(r.URL.Path, "/invoke"):
		if !strings.HasPrefix(authorization, "AWS4-HMAC-SHA256 ") || body.Input != nil {
			return nil, 0, fmt.Errorf("the embedding model is asked with the authorization %q", authorization)
		}
		return []string{body.InputText}, size, nil
	}
	return nil, 0, fmt.Errorf("the embedding model is asked by %s %s", r.Method, r.URL.Path)
}

// reply returns a whole reply in the protocol of the request, wrong as the behaviour says.
func (s *Server) reply(r *http.Request, vectors []embed.Vector, does Behaviour) ([]byte, error) {
	encoded := make([]json.RawMessage, len(vectors))
	for i, v := range vectors {
		text, err := json.Marshal(v)
		if err != nil {
			return nil, err
		}
		encoded[i] = text
	}
	last := &encoded[len(encoded)-1]
	of := func(number string, count int) json.RawMessage {
		return json.RawMessage("[" + strings.TrimSuffix(strings.Repeat(number+",", count), ",") + "]")
	}
	size := len(vectors[0])
	switch does {
	case Omits:
		encoded = encoded[:len(encoded)-1]
	case Shortens:
		*last = of("0.5", size-1)
	case Nulls:
		*last = of("null", size)
	case Zeros:
		*last = of("0", size)
	case Overflows:
		*last = of("1e39", size)
	}
	if strings.HasPrefix(r.URL.Path, "/model/") {
		reply := map[string]any{"inputTextTokenCount": 3}
		if len(encoded) > 0 {
			reply["embedding"] = encoded[0]
		}
		return json.Marshal(reply)
	}
	data := []any{}
	for i, v := range slices.Backward(encoded) { // a client must go by the index
		data = append(data, map[string]any{"object": "embedding", "index": i, "embedding": v})
	}
	return json.Marshal(map[string]any{"object": "list", "data": data, "model": "m", "usage": map[string]any{"prompt_tokens": 3, "total_tokens": 3}})
}
