package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"
)

const (
	window    = 3 * time.Second // of each timed measurement
	questions = 300             // of the 1,000 that a team may ask per day
)

// serve measures docent serve under load and as its team grows.
func serve(ctx context.Context, b *bench) (err error) {
	s, err := startServer(ctx, b, "load")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Stop()) }()
	for _, measure := range []func(context.Context, *bench) error{s.documents, s.answers, s.requests} {
		if err := measure(ctx, b); err != nil {
			return err
		}
	}
	return growth(ctx, b)
}

// page returns a small document: a kilobyte of text that differs from others only in its number.
func page(n int) string {
	return fmt.Sprintf("# Page %d\n\nThe owner of page %d is team%d.\n\n", n, n, n) +
		strings.Repeat("Each release is approved by the release manager after the tests have passed. ", 12)
}

// documents measures putting new small documents.
func (s *server) documents(ctx context.Context, b *bench) error {
	got, err := load(ctx, 8, 0, window, func(ctx context.Context, n int) error {
		_, err := s.put(ctx, fmt.Sprint(n), page(n))
		return err
	})
	if err != nil {
		return err
	}
	b.add("PUT document, new, clients: 8", got.perSecond()+", "+got.String(), "", none)
	return nil
}

// answers measures the time from asking a question to its answer.
func (s *server) answers(ctx context.Context, b *bench) error {
	if err := s.indexed(ctx); err != nil {
		return err
	}
	got, err := s.ask(ctx, 4, questions)
	if err != nil {
		return err
	}
	b.add("question to complete answer, clients: 4", got.String(), "", none)
	return nil
}

// ask asks a question and waits for its answer.
func (s *server) ask(ctx context.Context, clients, count int) (sample, error) {
	return load(ctx, clients, count, 0, func(ctx context.Context, n int) error {
		path := "/answers/" + uuid.NewString()
		if _, err := s.do(ctx, http.MethodPut, path, map[string]string{"question": fmt.Sprintf("Who is the owner of page %d?", n)}, 204); err != nil {
			return err
		}
		reply, err := s.do(ctx, http.MethodGet, path, nil, 200)
		if err != nil {
			return err
		}
		var a struct{ State string }
		if err := json.Unmarshal(reply, &a); err != nil {
			return fmt.Errorf("read answer %d: %w", n, err)
		}
		if a.State != "complete" {
			return fmt.Errorf("question %d is not answered: %.300s", n, reply)
		}
		return nil
	})
}

// indexed waits until everything that was put can be found. Work is started in order, so it waits for a last
// document.
func (s *server) indexed(ctx context.Context) error {
	id, err := s.put(ctx, "last/"+uuid.NewString(), page(0))
	if err != nil {
		return err
	}
	for {
		reply, err := s.do(ctx, http.MethodGet, "/documents/"+id, nil, 200)
		if err != nil {
			return fmt.Errorf("wait for the index: %w", err)
		}
		var d struct{ Indexing struct{ State string } }
		if err := json.Unmarshal(reply, &d); err != nil {
			return fmt.Errorf("read the document: %w", err)
		}
		switch d.Indexing.State {
		case "indexed":
			return nil
		case "failed":
			return errors.New("a document was not indexed")
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// requests measures requests per second for several numbers of clients.
func (s *server) requests(ctx context.Context, b *bench) error {
	id, err := s.put(ctx, "read", page(0))
	if err != nil {
		return err
	}
	for _, clients := range []int{1, 16, 64} {
		got, err := load(ctx, clients, 0, window, func(ctx context.Context, _ int) error {
			_, err := s.do(ctx, http.MethodGet, "/documents/"+id, nil, 200)
			return err
		})
		if err != nil {
			return err
		}
		b.add(fmt.Sprintf("GET document, clients: %d", clients), got.perSecond()+", "+got.String(), "", none)
	}
	for _, clients := range []int{1, 16, 64} {
		got, err := load(ctx, clients, 0, window, func(ctx context.Context, n int) error {
			_, err := s.put(ctx, fmt.Sprintf("%d/%d", clients, n), page(n))
			return err
		})
		if err != nil {
			return err
		}
		b.add(fmt.Sprintf("PUT document, new, clients: %d", clients), got.perSecond()+", "+got.String(), "", none)
	}
	return nil
}
