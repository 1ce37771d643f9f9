package lambdarun

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"

	"github.com/aws/aws-lambda-go/events"
)

// prelude ends the JSON of the status and the headers of a stream.
var prelude = make([]byte, 8)

// passing is the body of a function's stream, which it passes on to a client.
type passing struct {
	w     http.ResponseWriter
	id    string
	start []byte // until the prelude has ended
	begun bool
}

// Write passes on p as soon as status and headers are known.
func (s *passing) Write(p []byte) (int, error) {
	body := p
	if !s.begun {
		s.start = append(s.start, p...)
		head, rest, ok := bytes.Cut(s.start, prelude)
		if !ok {
			return len(p), nil
		}
		var response events.APIGatewayProxyResponse
		if err := json.Unmarshal(head, &response); err != nil {
			return 0, err
		}
		for name, value := range response.Headers {
			s.w.Header().Set(rename(name), value)
		}
		for name, values := range response.MultiValueHeaders {
			s.w.Header()[http.CanonicalHeaderKey(rename(name))] = values
		}
		s.w.Header().Set("X-Amzn-Requestid", s.id)
		s.w.WriteHeader(response.StatusCode)
		s.begun, body = true, rest
	}
	if _, err := s.w.Write(body); err != nil {
		return len(p), nil // the client is gone, and the function continues
	}
	_ = http.NewResponseController(s.w).Flush()
	return len(p), nil
}

// pass invokes the function and passes on its stream. A stream that breaks off closes the connection.
func (g *Gateway) pass(w http.ResponseWriter, r *http.Request, id string, invoke Streamer, event events.APIGatewayProxyRequest) {
	text, err := json.Marshal(event)
	if err != nil {
		refuse(w, id, 500, "internal", "An internal error occurred. Give the request id to support.")
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), integrationTimeout)
	defer cancel()
	s := &passing{w: w, id: id}
	err = invoke(ctx, text, s)
	switch {
	case !s.begun:
		w.Header().Set("Retry-After", "1")
		refuse(w, id, 503, "unavailable", "The service is temporarily unavailable. Try again.")
	case err != nil:
		panic(http.ErrAbortHandler)
	}
}
