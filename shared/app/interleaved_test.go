package app

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"docent/shared/access"
	"docent/shared/search"
)

// The numbers of documents that change and are searched for at the same time.
const (
	changers    = 3 // each with documents of its own
	changes     = 60
	perChanger  = 4
	atMostFound = 200
)

// changing is a document in the state in which its changer left it.
type changing struct {
	uri, source, word string // source is "" once it is deleted
}

// TestNothingStaleIsFoundWhileDocumentsChange puts, replaces, moves, deletes and puts again while
// workers index and merge, and searches right after each change: the state before it is never
// found again. At the end every document is found in its current state and source.
func TestNothingStaleIsFoundWhileDocumentsChange(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	sources := []string{h.collection("wiki"), h.collection("guide")}
	ctx, stop := context.WithCancel(t.Context())
	workers, wctx := errgroup.WithContext(ctx)
	for range 2 {
		workers.Go(func() error { return h.workUntil(wctx) })
	}
	for range 2 {
		workers.Go(func() error {
			for wctx.Err() == nil {
				if _, err := h.services.index.Merge(wctx, h.team.ID); err != nil && wctx.Err() == nil {
					return fmt.Errorf("merge: %w", err)
				}
			}
			return nil
		})
	}
	left := make([][]changing, changers)
	var changer errgroup.Group
	for n := range changers {
		changer.Go(func() (err error) {
			left[n], err = h.change(t.Context(), n, sources)
			return err
		})
	}
	err := changer.Wait()
	stop()
	if err = errors.Join(err, workers.Wait()); err != nil {
		t.Fatal(err)
	}
	h.repair()
	for _, d := range slices.Concat(left...) {
		hits, err := h.hitsOf(t.Context(), d, nil)
		if err != nil {
			t.Fatal(err)
		}
		want := 1
		if d.source == "" {
			want = 0
		}
		if len(hits) != want || want == 1 && (hits[0].Source != d.source || !strings.Contains(hits[0].Passage, d.word)) {
			t.Errorf("%+v is found as %+v", d, hits)
		}
	}
	h.consistent(t)
}

func (h *home) workUntil(ctx context.Context) error {
	for ctx.Err() == nil {
		if _, err := drainOnce(ctx, h.documents, h.services.indexing.Batch, 10); err != nil && ctx.Err() == nil {
			return err
		}
	}
	return nil
}

// change makes one changer's changes and searches after each. It returns its documents.
func (h *home) change(ctx context.Context, changer int, sources []string) ([]changing, error) {
	random := rand.New(rand.NewPCG(7, uint64(changer)))
	docs := make([]changing, perChanger)
	for i := range docs {
		docs[i].uri = fmt.Sprintf("https://docs.example/%d/%d", changer, i)
	}
	for n := range changes {
		d := &docs[random.IntN(len(docs))]
		was := *d
		h.clock.Advance(time.Millisecond) // a document put again after its deletion has its old version by chance if the time is the same
		switch kind := random.IntN(4); {
		case kind == 0 && d.source != "":
			d.source = ""
			if r := h.do("DELETE", "/documents/"+h.id(d.uri), nil); r.status != 204 {
				return nil, fmt.Errorf("delete: %d %s", r.status, r.body)
			}
		default:
			if kind > 1 || d.word == "" {
				d.word = wordOf(random)
			}
			d.source = sources[random.IntN(len(sources))]
			if r := h.put(d.source, d.uri, "A zebra that is called "+d.word+"."); r.status != 200 {
				return nil, fmt.Errorf("put: %d %s", r.status, r.body)
			}
		}
		if err := h.nothingOf(ctx, was, *d); err != nil {
			return nil, fmt.Errorf("change %d: %w", n, err)
		}
	}
	return docs, nil
}

// wordOf returns a word that is not similar to any other.
func wordOf(random *rand.Rand) string {
	letters := make([]byte, 12)
	for i := range letters {
		letters[i] = byte('a' + random.IntN(26))
	}
	return string(letters)
}

// nothingOf returns an error if a document is found in an old state, by a word that it no longer
// contains, or by a reader of only its old source.
func (h *home) nothingOf(ctx context.Context, was, is changing) error {
	if was.source != "" && was.source != is.source {
		hits, err := h.hitsOf(ctx, was, []string{was.source})
		if err != nil {
			return err
		}
		if len(hits) > 0 {
			return fmt.Errorf("%+v, then %+v: found in the old source as %q", was, is, hits[0].Passage)
		}
	}
	if was.word != "" && (is.source == "" || was.word != is.word) {
		hits, err := h.find(ctx, was, search.Query{Reader: access.Everything(), Text: was.word})
		if err != nil {
			return err
		}
		if len(hits) > 0 {
			return fmt.Errorf("%+v, then %+v: found by its old word", was, is)
		}
	}
	hits, err := h.hitsOf(ctx, is, nil)
	if err != nil {
		return err
	}
	for _, hit := range hits {
		if is.source == "" || hit.Source != is.source || !strings.Contains(hit.Passage, is.word) {
			return fmt.Errorf("%+v, then %+v: found in %s as %q", was, is, hit.Source, hit.Passage)
		}
	}
	return nil
}

// hitsOf returns the hits of a document by a common word and by its own word, in these sources or
// in all.
func (h *home) hitsOf(ctx context.Context, d changing, sources []string) ([]search.Hit, error) {
	return h.find(ctx, d, search.Query{Reader: access.Everything(), Text: "zebra called " + d.word, Sources: sources})
}

// find returns the hits of a document among those of a query.
func (h *home) find(ctx context.Context, d changing, q search.Query) ([]search.Hit, error) {
	q.Limit = atMostFound
	r, err := h.services.answering.Search(ctx, h.team.ID, q)
	if err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	id := uuid.MustParse(h.id(d.uri))
	return slices.DeleteFunc(r.Hits, func(hit search.Hit) bool { return hit.Document != id }), nil
}
