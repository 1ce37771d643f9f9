// Package openai embeds texts with any server that speaks OpenAI's API of embeddings, such as Ollama and vLLM.
package openai

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"docent/shared/embed"
	"docent/shared/jsonpost"
)

// Bounds of requests.
const (
	maxText     = 8000 // bytes of a text that are sent: about 2,000 tokens of prose
	minText     = 500  // of a text that was refused as too long, which is sent in ever shorter pieces
	maxTime     = 30 * time.Second
	bytesNumber = 32       // of one number of a vector in a reply
	bytesReply  = 64 << 10 // of everything else in it
)

// Engine is an embed.Engine on one server and one model.
type Engine struct {
	model  embed.Model
	name   string // of the model on the server
	server jsonpost.Client
	before map[embed.Purpose]string // put before each text

	shorten atomic.Bool // the model's own vectors have another size, so a size is asked for
}

var _ embed.Engine = (*Engine)(nil)

// Options changes an Engine. The zero value has the default transport and no key.
type Options struct {
	Key       string            // sent as a bearer token; empty: none
	Transport http.RoundTripper // nil: http.DefaultTransport
}

// New returns an engine of a model on the server at baseURL, whose embeddings are at baseURL/embeddings. A vector has
// size numbers; if the model makes more on its own, the server is asked for fewer. It makes no request.
func New(baseURL, model string, size int, o Options) (*Engine, error) {
	address, err := jsonpost.Address(baseURL, "embeddings")
	switch {
	case err != nil:
		return nil, err
	case model == "":
		return nil, errors.New("no embedding model is named")
	case size < 1:
		return nil, errors.New("the size of the embedding model is not given")
	}
	return &Engine{model: embed.Model{Name: "openai:" + model, Size: size}, name: model, before: prefixes(model), server: jsonpost.Client{
		Address: address, Key: o.Key, Transport: o.Transport, MaxReply: int64(embed.MaxTexts*size*bytesNumber + bytesReply), MaxWait: maxTime}}, nil
}

// prefixes returns what a model was trained to see before texts, which servers do not add.
func prefixes(model string) map[embed.Purpose]string {
	for _, family := range []struct{ part, passage, question string }{
		{"nomic-embed-text", "search_document: ", "search_query: "},
		{"e5-", "passage: ", "query: "},
		{"mxbai-embed-large", "", "Represent this sentence for searching relevant passages: "},
	} {
		if strings.Contains(strings.ToLower(model), family.part) {
			return map[embed.Purpose]string{embed.Passage: family.passage, embed.Question: family.question}
		}
	}
	return nil
}

// Model implements embed.Engine.
func (e *Engine) Model() embed.Model { return e.model }

// Embed implements embed.Engine. It makes one request, repeated as jsonpost says, within 30 seconds. If the server
// refuses the texts, each is sent alone, and what is refused again only with its beginning: some servers
// refuse texts that their model cannot read to the end.
func (e *Engine) Embed(ctx context.Context, texts []string, purpose embed.Purpose) ([]embed.Vector, error) {
	if err := embed.Check(texts); err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeout(ctx, maxTime)
	defer cancel()
	vectors, err := e.embed(limited, texts, purpose)
	switch {
	case err == nil:
		return vectors, nil
	case ctx.Err() != nil:
		err = ctx.Err()
	}
	return nil, fmt.Errorf("ask the embedding model: %w", err)
}

func (e *Engine) embed(ctx context.Context, texts []string, purpose embed.Purpose) ([]embed.Vector, error) {
	vectors, err := e.ask(ctx, texts, purpose)
	if !errors.Is(err, embed.ErrInvalid) {
		return vectors, err
	}
	for _, text := range texts {
		v, err := e.embedBeginning(ctx, text, purpose)
		if err != nil {
			return nil, err
		}
		vectors = append(vectors, v)
	}
	return vectors, nil
}

// embedBeginning returns the vector of as much of a text as the server takes, down to minText bytes.
func (e *Engine) embedBeginning(ctx context.Context, text string, purpose embed.Purpose) (embed.Vector, error) {
	size := min(len(text), maxText)
	for {
		vectors, err := e.ask(ctx, []string{embed.Cut(text, size)}, purpose)
		if err == nil {
			return vectors[0], nil
		}
		if !errors.Is(err, embed.ErrInvalid) {
			return nil, err
		}
		if size <= minText {
			break
		}
		size = max(size/2, minText)
	}
	if _, err := e.ask(ctx, []string{"a"}, purpose); errors.Is(err, embed.ErrInvalid) {
		return nil, fmt.Errorf("%w: the server refuses every text", embed.ErrModel)
	}
	return nil, fmt.Errorf("%w: the server refuses one, even its first %d bytes", embed.ErrInvalid, size)
}

// request is the body of a request.
type request struct {
	Model      string   `json:"model"`
	Input      []string `json:"input"`
	Dimensions int      `json:"dimensions,omitempty"`
}

// ask makes one request, and another one if the server's vectors have another size and it was not asked for this one.
func (e *Engine) ask(ctx context.Context, texts []string, purpose embed.Purpose) ([]embed.Vector, error) {
	input := make([]string, len(texts))
	for i, text := range texts {
		input[i] = e.before[purpose] + embed.Cut(text, maxText)
	}
	for {
		shorten := e.shorten.Load()
		body := request{Model: e.name, Input: input}
		if shorten {
			body.Dimensions = e.model.Size
		}
		text, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		reply, err := e.server.Do(ctx, text)
		if err != nil {
			return nil, described(err)
		}
		vectors, err := e.read(reply, len(texts))
		if size := (*sizeError)(nil); errors.As(err, &size) && !shorten && size.got > e.model.Size {
			e.shorten.Store(true)
			continue
		}
		return vectors, err
	}
}

// described returns err as one of embed's where there is one. It says nothing of the reply.
func described(err error) error {
	var refused *jsonpost.StatusError
	if !errors.As(err, &refused) {
		return err
	}
	switch refused.Status {
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
		return fmt.Errorf("%w: %w", embed.ErrInvalid, err)
	case http.StatusUnauthorized, http.StatusPaymentRequired, http.StatusForbidden, http.StatusNotFound, http.StatusMethodNotAllowed:
		return fmt.Errorf("%w: %w", embed.ErrModel, err)
	}
	return err
}

// sizeError is a vector of another size than the configured one.
type sizeError struct{ got, want int }

func (e *sizeError) Error() string {
	return fmt.Sprintf("%v: its vectors have %d numbers, and %d are configured", embed.ErrModel, e.got, e.want)
}

func (e *sizeError) Unwrap() error { return embed.ErrModel }

// read returns the vectors of a reply to count texts.
func (e *Engine) read(reply []byte, count int) ([]embed.Vector, error) {
	var read struct {
		Data []struct {
			Index     *int         `json:"index"` // some servers leave it out
			Embedding embed.Vector `json:"embedding"`
		} `json:"data"`
	}
	if json.Unmarshal(reply, &read) != nil {
		return nil, errors.New("the reply is not one of embeddings")
	}
	if len(read.Data) != count {
		return nil, fmt.Errorf("the reply has %d vectors for %d texts", len(read.Data), count)
	}
	vectors := make([]embed.Vector, count)
	for i, d := range read.Data {
		at := i
		if d.Index != nil {
			at = *d.Index
		}
		switch {
		case at < 0 || at >= count || vectors[at] != nil:
			return nil, errors.New("the reply does not have one vector for each text")
		case len(d.Embedding) != e.model.Size:
			return nil, &sizeError{len(d.Embedding), e.model.Size}
		case !embed.Normalize(d.Embedding):
			return nil, errors.New("the reply has a vector without a direction")
		}
		vectors[at] = d.Embedding
	}
	return vectors, nil
}
