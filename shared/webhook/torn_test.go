package webhook_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"docent/shared/table"
	"docent/shared/webhook"
)

// tornStore reads ranges as DynamoDB does, item by item: between the first item of the endpoints and the last one, between is
// called once, and may change them.
type tornStore struct {
	table.Store
	between func()
}

func (s *tornStore) Query(ctx context.Context, q table.Query) (table.Page, error) {
	page, err := s.Store.Query(ctx, q)
	if s.between == nil || err != nil || !strings.HasSuffix(q.Partition, "/webhooks") {
		return page, err
	}
	between := s.between
	s.between = nil
	between()
	for i, item := range page.Items {
		if item.Sort == "all" {
			page.Items[i], err = s.Get(ctx, item.Key)
		}
	}
	return page, err
}

// TestChangesAtTheSameTimeAreAllKept changes endpoints while another request reads them in order to change them too.
func TestChangesAtTheSameTimeAreAllKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var first webhook.Endpoint
	for i := range webhook.MaxPerTeam - 1 {
		if e := w.endpoint(fmt.Sprintf("https://%d.test/", i), "answer.asked"); i == 0 {
			first = e
		}
	}
	describe := func(text string) func(*webhook.Fields) error {
		return func(f *webhook.Fields) error { f.Description = text; return nil }
	}
	store := &tornStore{Store: w.Table}
	other := *w.Service
	w.Table = store
	var rotated webhook.Endpoint
	store.between = func() {
		var err error
		if rotated, _, err = other.Rotate(t.Context(), team, first.ID, 0); err != nil {
			t.Error(err)
		}
		if _, err = other.Update(t.Context(), team, first.ID, func(f *webhook.Fields) error { f.EventTypes = []string{"team.updated"}; return nil }); err != nil {
			t.Error(err)
		}
	}
	if _, err := w.Update(t.Context(), team, first.ID, describe("one")); err != nil {
		t.Fatal(err)
	}
	got, err := w.Get(t.Context(), team, first.ID)
	if err != nil || got.EventTypes[0] != "team.updated" || got.Description != "one" || rotated.ID != first.ID {
		t.Errorf("endpoint %+v %v", got, err)
	}
	store.between = func() {
		if _, _, err := other.Create(t.Context(), team, webhook.Fields{URL: "https://last.test/", EventTypes: []string{"answer.asked"}}); err != nil {
			t.Error(err)
		}
	}
	if _, _, err := w.Create(t.Context(), team, webhook.Fields{URL: "https://more.test/", EventTypes: []string{"answer.asked"}}); err == nil {
		t.Error("an eleventh endpoint was created")
	}
	if all, err := w.List(t.Context(), team); err != nil || len(all) != webhook.MaxPerTeam {
		t.Errorf("%d endpoints, %v", len(all), err)
	}
}
