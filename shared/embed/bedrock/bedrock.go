// Package bedrock embeds texts with Amazon Titan Text Embeddings V2 on Amazon Bedrock.
package bedrock

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime"

	"docent/shared/embed"
)

// Titan is the model that this package knows, by its id on Bedrock.
const Titan = "amazon.titan-embed-text-v2:0"

// Sizes are the numbers that a vector of Titan can have, and DefaultSize is that of an Engine that is given none.
var Sizes = []int{256, 512, 1024}

// DefaultSize is the size whose vectors are nearly as good as the largest, for half of the storage.
const DefaultSize = 512

// Bounds of requests.
const (
	maxText     = 8000 // bytes of a text that are sent; the model takes 8,192 tokens, of at least a byte each
	maxTime     = 30 * time.Second
	maxParallel = 8       // requests of one Embed at a time: one has one text
	maxReply    = 1 << 20 // bytes
)

// Engine is an embed.Engine on one model.
type Engine struct {
	runtime *bedrockruntime.Client
	id      string
	model   embed.Model
}

var _ embed.Engine = (*Engine)(nil)

// New returns an engine of Titan by an id or ARN, or by Titan if it is empty. A size of 0 is DefaultSize; others than
// Sizes are an error. The runtime must stop retrying after some attempts. New makes no request.
func New(runtime *bedrockruntime.Client, id string, size int) (*Engine, error) {
	if id == "" {
		id = Titan
	}
	if size == 0 {
		size = DefaultSize
	}
	if !slices.Contains(Sizes, size) {
		return nil, fmt.Errorf("the embedding model of Bedrock has vectors of %v numbers, not %d", Sizes, size)
	}
	return &Engine{runtime: runtime, id: id, model: embed.Model{Name: "bedrock:" + id, Size: size}}, nil
}

// Model implements embed.Engine.
func (e *Engine) Model() embed.Model { return e.model }

// Embed implements embed.Engine. Each text is a request, repeated as the runtime does, all within 30 seconds.
func (e *Engine) Embed(ctx context.Context, texts []string, _ embed.Purpose) ([]embed.Vector, error) {
	if err := embed.Check(texts); err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeoutCause(ctx, maxTime, errors.New("the model is slow"))
	defer cancel()
	vectors, errs := make([]embed.Vector, len(texts)), make([]error, len(texts))
	next := make(chan int)
	var workers sync.WaitGroup
	for range min(maxParallel, len(texts)) {
		workers.Go(func() {
			for i := range next {
				if vectors[i], errs[i] = e.embed(limited, texts[i]); errs[i] != nil {
					cancel() // the other texts are not needed any more
				}
			}
		})
	}
	for i := range texts {
		next <- i
	}
	close(next)
	workers.Wait()
	if err := first(errs); err != nil {
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return nil, fmt.Errorf("ask the embedding model: %w", err)
	}
	return vectors, nil
}

// first returns the error that ended the others: one that is not of a context, if there is one.
func first(errs []error) error {
	var ended error
	for _, err := range errs {
		switch {
		case errors.Is(err, context.Canceled):
			ended = err
		case err != nil:
			return err
		}
	}
	return ended
}

func (e *Engine) embed(ctx context.Context, text string) (embed.Vector, error) {
	body, err := json.Marshal(map[string]any{"inputText": embed.Cut(text, maxText), "dimensions": e.model.Size, "normalize": true})
	if err != nil {
		return nil, err
	}
	out, err := e.runtime.InvokeModel(ctx, &bedrockruntime.InvokeModelInput{ModelId: &e.id, Body: body,
		ContentType: aws.String("application/json"), Accept: aws.String("application/json")},
		func(o *bedrockruntime.Options) { o.HTTPClient = bounded{o.HTTPClient} })
	if err != nil {
		return nil, described(ctx, err)
	}
	var read struct {
		Embedding embed.Vector `json:"embedding"`
	}
	switch {
	case json.Unmarshal(out.Body, &read) != nil:
		return nil, errors.New("the reply is not an embedding")
	case len(read.Embedding) != e.model.Size:
		return nil, fmt.Errorf("%w: its vectors have %d numbers, and %d were asked for", embed.ErrModel, len(read.Embedding), e.model.Size)
	case !embed.Normalize(read.Embedding):
		return nil, errors.New("the reply has a vector without a direction")
	}
	return read.Embedding, nil
}

// bounded is a client whose replies end with an error after maxReply bytes: the runtime reads them whole.
type bounded struct{ bedrockruntime.HTTPClient }

// Do implements bedrockruntime.HTTPClient.
func (b bounded) Do(r *http.Request) (*http.Response, error) {
	reply, err := b.HTTPClient.Do(r)
	if err == nil {
		reply.Body = http.MaxBytesReader(nil, reply.Body, maxReply)
	}
	return reply, err
}

// described returns err as one of embed's where there is one, without anything that a server said.
func described(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var status *awshttp.ResponseError
	if !errors.As(err, &status) {
		return errors.New("the server cannot be reached")
	}
	code := status.HTTPStatusCode()
	switch code {
	case http.StatusBadRequest:
		// The text is within the bounds of the model, so it is the model that is wrong.
		if !strings.Contains(strings.ToLower(err.Error()), "too many input tokens") {
			return fmt.Errorf("%w: status %d", embed.ErrModel, code)
		}
		return fmt.Errorf("%w: status %d", embed.ErrInvalid, code)
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound:
		return fmt.Errorf("%w: status %d", embed.ErrModel, code)
	}
	return fmt.Errorf("status %d", code)
}
