package question_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"docent/shared/access"
	"docent/shared/document"
	"docent/shared/search"
	"docent/shared/source"
	"docent/shared/source/question"
	"docent/shared/table"
)

func TestNoMoreEntriesAreKeptThanAQueryWants(t *testing.T) {
	t.Parallel()
	const many = 5000
	var entries []document.Entry
	for i := range many {
		at := time.UnixMilli(int64(i * 7919 % many))
		entries = append(entries, document.Entry{ID: fmt.Sprintf("%04d", i), CreatedAt: at, UpdatedAt: time.UnixMilli(many).Add(-time.Duration(i) * time.Millisecond)})
	}
	for _, order := range []question.Order{question.ByCreated, question.ByUpdated} {
		for _, limit := range []int{1, 7, 200, many} {
			first, room := question.Newest(entries, limit, order)
			want := slices.SortedFunc(slices.Values(entries), func(a, b document.Entry) int {
				if order == question.ByUpdated {
					return b.UpdatedAt.Compare(a.UpdatedAt)
				}
				return b.CreatedAt.Compare(a.CreatedAt)
			})[:limit]
			if !slices.EqualFunc(first, want, func(a, b document.Entry) bool { return a.ID == b.ID }) {
				t.Errorf("by %s, the first %d are others", order, limit)
			}
			if room > 4*limit {
				t.Errorf("by %s, there was room for %d entries, and %d are wanted", order, room, limit)
			}
		}
	}
}

// A team has up to 100 sources, each with any number of items.
func TestAQueryWithoutTextReadsBoundedlyManyItems(t *testing.T) {
	t.Parallel()
	const page = 500
	for name, tt := range map[string]struct {
		sources, items int // items of each source
		access         *access.Rule
		want           int // items that are read, up to a page of each source less
	}{
		"few sources":              {3, 20_000, nil, 3 * 5000},
		"ten sources":              {10, 20_000, nil, 10 * 5000},
		"many sources":             {100, 20_000, nil, question.MaxScannedAll},
		"many small ones":          {100, 700, nil, question.MaxScannedAll},
		"nothing that may be read": {100, 20_000, &access.Rule{}, question.MaxReadAll},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := &lists{sources: tt.sources, items: tt.items, page: page}
			s := question.Service{Sources: &source.Service{Table: store}, Documents: &document.Service{Table: store}, Now: time.Now}
			c := question.Caller{Reader: access.Everything()}
			if tt.access != nil {
				store.access = tt.access.Encode()
				c.Reader = access.Person("somebody", "somebody", nil)
			}
			if _, err := s.Query(t.Context(), "team", c, search.Issues, question.RecordQuery{Text: "closed issues", Filter: question.Filter{Sort: question.ByUpdated}, Limit: 200}); err != nil {
				t.Fatal(err)
			}
			if store.read < tt.want || store.read > tt.want+tt.sources*page {
				t.Errorf("%d items are read, want %d", store.read, tt.want)
			}
		})
	}
}

// lists is a store of sources that all have as many items. They are made as they are read.
type lists struct {
	table.Store
	sources, items, page int
	access               string
	read                 int
}

func (l *lists) Query(_ context.Context, q table.Query) (table.Page, error) {
	var p table.Page
	if q.Table == table.Collections {
		for i := range l.sources {
			p.Items = append(p.Items, table.Item{Key: table.Key{Sort: fmt.Sprintf("%03d", i)}, Strings: map[string]string{"provider": "jira"}})
		}
		return p, nil
	}
	from := len(q.Cursor)
	for range min(l.page, l.items-from) {
		l.read++
		p.Items = append(p.Items, table.Item{Strings: map[string]string{"id": "x", "collection": q.Partition[strings.LastIndexByte(q.Partition, '/')+1:], "space": string(search.Issues), "access": l.access}})
	}
	if from += len(p.Items); from < l.items {
		p.Cursor = strings.Repeat("x", from)
	}
	return p, nil
}

func (*lists) BatchGet(context.Context, []table.Key, ...table.ReadOption) ([]table.Item, error) {
	return nil, nil
}
