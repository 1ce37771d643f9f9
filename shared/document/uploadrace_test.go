package document_test

import (
	"context"
	"sync"
	"testing"

	"docent/shared/apierr"
	"docent/shared/document"
	"docent/shared/extract"
	"docent/shared/table"
)

// interleaved is a store that does something else before one of its calls.
type interleaved struct {
	table.Store
	before int // number of the call, from 1
	do     func()

	mu    sync.Mutex
	calls int
}

func (s *interleaved) next() {
	s.mu.Lock()
	s.calls++
	due := s.calls == s.before
	s.mu.Unlock()
	if due {
		s.do()
	}
}

func (s *interleaved) BatchGet(ctx context.Context, keys []table.Key, opts ...table.ReadOption) ([]table.Item, error) {
	s.next()
	return s.Store.BatchGet(ctx, keys, opts...)
}

func (s *interleaved) Get(ctx context.Context, key table.Key, opts ...table.ReadOption) (table.Item, error) {
	s.next()
	return s.Store.Get(ctx, key, opts...)
}

func (s *interleaved) Query(ctx context.Context, q table.Query) (table.Page, error) {
	s.next()
	return s.Store.Query(ctx, q)
}

func (s *interleaved) Write(ctx context.Context, ops ...table.Op) error {
	s.next()
	return s.Store.Write(ctx, ops...)
}

// during puts in, and before each call of its in turn does something else. It stops after the last call.
func (h *fixture) during(prepare func(h *fixture) (in document.Input, other func()), check func(h *fixture, n int, id string, version int64, err error)) {
	h.t.Helper()
	for n := 1; ; n++ {
		h := newFixture(h.t)
		in, other := prepare(h)
		store := &interleaved{Store: h.Table, before: n, do: other}
		h.Table = store
		id, version, err := h.Put(h.t.Context(), teamID, in)
		if store.calls < n {
			if n < 4 {
				h.t.Errorf("only %d calls", n-1)
			}
			return
		}
		check(h, n, id, version, err)
	}
}

func TestAPutWithAnUploadIsRepeatedAtOnce(t *testing.T) {
	t.Parallel()
	var first int64
	newFixture(t).during(func(h *fixture) (document.Input, func()) {
		in := h.uploaded("Handbook", h.upload(extract.PDF, "%PDF-", true).ID)
		return in, func() { _, first = h.put(in) }
	}, func(_ *fixture, n int, _ string, version int64, err error) {
		if err != nil || version != first {
			t.Errorf("before call %d: version %d after %d, %v", n, version, first, err)
		}
	})
}

func TestAnUploadIsNotUsedTwiceAtOnce(t *testing.T) {
	t.Parallel()
	newFixture(t).during(func(h *fixture) (document.Input, func()) {
		id := h.upload(extract.PDF, "%PDF-", true).ID
		return h.uploaded("loser", id), func() { h.put(h.uploaded("winner", id)) }
	}, func(h *fixture, n int, _ string, _ int64, err error) {
		if titles, _ := h.listed(document.Filter{}, table.Window{Limit: 2}); !apierr.IsCode(err, apierr.CodeInvalidRequest) || titles != "winner" {
			t.Errorf("before call %d: %v, stored %s", n, err, titles)
		}
	})
}

func TestAnUnchangedPutWithAnUploadIsRepeatedAtOnce(t *testing.T) {
	t.Parallel()
	var first int64
	newFixture(t).during(func(h *fixture) (document.Input, func()) {
		h.put(h.uploaded("Handbook", h.upload(extract.PDF, "%PDF-", true).ID))
		in := h.uploaded("Handbook", h.upload(extract.PDF, "%PDF-", true).ID)
		return in, func() {
			_, first = h.put(in)
			w, _ := h.worker()
			h.deliver(w, h.last(), 1) // removes the file
		}
	}, func(h *fixture, n int, _ string, version int64, err error) {
		if err != nil || version != first || len(h.objects()) != 1 {
			t.Errorf("before call %d: version %d after %d, %v", n, version, first, err)
		}
	})
}
