package answer_test

import (
	"context"
	"testing"

	"docent/shared/answer"
	"docent/shared/apierr"
	"docent/shared/table"
)

// interrupted is a store that does something else, once, before a write or a read of several items.
type interrupted struct {
	table.Store
	write, read func()
}

func (s *interrupted) Write(ctx context.Context, ops ...table.Op) error {
	if do := s.write; do != nil {
		s.write = nil
		do()
	}
	return s.Store.Write(ctx, ops...)
}

func (s *interrupted) BatchGet(ctx context.Context, keys []table.Key, opts ...table.ReadOption) ([]table.Item, error) {
	if do := s.read; do != nil {
		s.read = nil
		do()
	}
	return s.Store.BatchGet(ctx, keys, opts...)
}

// TestAnErasedAnswerStaysErased: it is deleted while somebody rates it, or after a list has read its place.
func TestAnErasedAnswerStaysErased(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	store := &interrupted{Store: h.Table}
	h.Table = store
	w, _ := h.worker()
	answered := func() (id string, erase func()) {
		id = h.ask(ada, known)
		h.deliver(w, 1)
		return id, func() {
			if err := h.Delete(t.Context(), acme, ada, id); err != nil {
				t.Error(err)
			}
		}
	}
	id, erase := answered()
	store.write = erase
	if err := h.Rate(t.Context(), acme, ada, id, answer.Feedback{Rating: answer.Up}); !apierr.IsCode(err, apierr.CodeNotFound) {
		t.Errorf("rated: %v", err)
	}
	if a, err := h.Get(t.Context(), acme, teamKey, id); !apierr.IsCode(err, apierr.CodeNotFound) {
		t.Errorf("after it was rated: %+v, %v", a, err)
	}
	for name, asker := range map[string]answer.Asker{"ada": ada, "a team key": teamKey} {
		_, store.read = answered()
		list, err := h.List(t.Context(), acme, asker, table.Window{Limit: 10})
		if err != nil || len(list.Entries) != 0 {
			t.Errorf("listed by %s: %+v, %v", name, list.Entries, err)
		}
	}
}
