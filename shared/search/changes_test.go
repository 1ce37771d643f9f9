package search_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"docent/shared/search"
)

// shelf is a naive model of an index: documents, and which of them are published. It changes both at random.
type shelf struct {
	*rand.Rand
	t         *testing.T
	processes [2]*search.Index // on the same stores; the second reads by range, with little memory
	lib       *library
	advance   func(time.Duration)
	version   int64
	docs      map[uuid.UUID]search.Document
	words     map[uuid.UUID]bool // published in the current version
	meaning   map[uuid.UUID]bool // the same by vectors
	old       []search.Document  // replaced or deleted
}

func newShelf(t *testing.T, seed uint64) *shelf {
	x, lib, clock := newIndex(t)
	lib.waiting = map[uuid.UUID]int64{}
	s := &shelf{Rand: rand.New(rand.NewPCG(seed, 1)), t: t, lib: lib, advance: clock.Advance, docs: map[uuid.UUID]search.Document{},
		words: map[uuid.UUID]bool{}, meaning: map[uuid.UUID]bool{}}
	e := &topics{name: "topics"}
	x.Embedder, x.Model = e, e.Model()
	s.processes[0] = x
	s.restart(0)
	s.restart(1)
	return s
}

// restart replaces a process by one with nothing in memory.
func (s *shelf) restart(n int) {
	s.processes[n] = again(s.processes[0], []int64{0, 6000}[n])
	if n == 1 {
		s.processes[n].ReadByRange(1500)
	}
}

func (s *shelf) any() *search.Index { return s.processes[s.IntN(2)] }

// pick returns up to n documents that want includes.
func (s *shelf) pick(n int, want func(uuid.UUID) bool) (some []search.Document) {
	for id, d := range s.docs {
		if want(id) {
			some = append(some, d)
		}
	}
	slices.SortFunc(some, func(a, b search.Document) int { return int(a.Version - b.Version) })
	s.Shuffle(len(some), func(i, j int) { some[i], some[j] = some[j], some[i] })
	return some[:min(n, len(some))]
}

func (s *shelf) gone(id uuid.UUID) {
	d, ok := s.docs[id]
	if !ok {
		return
	}
	s.old = append(s.old, d)
	delete(s.docs, id)
	delete(s.words, id)
	delete(s.meaning, id)
	delete(s.lib.waiting, id)
	s.lib.remove(id)
	s.check(s.any().Stale(s.t.Context(), team, d.Source, d.Space, 1))
}

func (s *shelf) check(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *shelf) put() {
	s.version++
	body := fmt.Sprintf("mark%d is here.", s.version)
	if s.IntN(2) == 0 {
		body += " It is behind nginx."
	}
	if s.IntN(8) == 0 {
		for range 300 {
			body += "\n\nThe grass of the north is long."
		}
	}
	d := doc([]string{"wiki", "guide"}[s.IntN(2)], fmt.Sprint("t", s.IntN(25)), body, s.version)
	d.Access = rules[s.IntN(len(rules))]
	if s.IntN(5) == 0 {
		d.Space = search.Issues
	}
	s.gone(d.ID)
	s.docs[d.ID] = d
	s.lib.waiting[d.ID] = d.Version
	s.lib.put(d)
}

// publish publishes some documents by words or by meaning. Late workers publish old versions too.
func (s *shelf) publish(most int) {
	byWords := s.pick(most, func(id uuid.UUID) bool { return !s.words[id] })
	byMeaning := s.pick(most, func(id uuid.UUID) bool { return s.words[id] && !s.meaning[id] })
	if len(s.old) > 0 && s.IntN(3) == 0 {
		late := s.old[s.IntN(len(s.old))]
		byWords, byMeaning = append(byWords, late), append(byMeaning, late)
	}
	s.check(s.any().Publish(s.t.Context(), team, byWords, nil))
	s.check(s.any().PublishMeaning(s.t.Context(), team, byMeaning, nil))
	mark := func(of map[uuid.UUID]bool, docs []search.Document) {
		for _, d := range docs {
			if s.docs[d.ID].Version == d.Version {
				of[d.ID] = true
			}
		}
	}
	mark(s.words, byWords)
	mark(s.meaning, byMeaning)
	for id := range s.meaning {
		delete(s.lib.waiting, id)
	}
}

func (s *shelf) merge() {
	if s.IntN(3) == 0 {
		s.check(s.any().Stale(s.t.Context(), team, "wiki", search.Documentation, 1000))
	}
	_, err := s.any().Merge(s.t.Context(), team)
	s.check(err)
}

// rebuild asks for a rebuild now and then, and does a part of those that are planned.
func (s *shelf) rebuild() {
	if s.IntN(3) == 0 {
		_, err := s.any().AskRebuild(s.t.Context(), team, []string{"wiki", "guide"}[s.IntN(2)], search.Documentation)
		s.check(err)
	}
	for _, w := range works(s.t, s.any()) {
		b := rebuilder(s.any())
		b.Turn = time.Nanosecond
		_, err := b.Run(s.t.Context(), w)
		s.check(err)
	}
}

func (s *shelf) step() {
	switch s.IntN(14) {
	case 0, 1, 2, 3:
		s.put()
	case 4:
		for _, d := range s.pick(1+s.IntN(3), func(uuid.UUID) bool { return true }) {
			s.gone(d.ID)
		}
	case 5, 6, 7, 8:
		s.publish(1 + s.IntN(4))
	case 9, 10:
		s.merge()
	case 11:
		s.rebuild()
	case 12:
		s.advance(time.Duration(s.IntN(30)) * time.Hour)
		_, err := s.any().Clean(s.t.Context())
		s.check(err)
	case 13:
		s.restart(s.IntN(2))
	}
}

// compare asks for one document by its words, and for all by their meaning.
func (s *shelf) compare() {
	s.t.Helper()
	reader := readers[s.IntN(len(readers))]
	for _, d := range append(s.pick(1, func(uuid.UUID) bool { return true }), s.old[max(0, len(s.old)-1):]...) {
		var want []string
		if s.docs[d.ID].Version == d.Version && s.words[d.ID] && reader.MayRead(d.Access, nil) {
			want = []string{d.Title}
		}
		r, err := s.any().Search(s.t.Context(), team, search.Query{Reader: reader, Text: fmt.Sprintf("mark%d", d.Version), Limit: 50})
		s.check(err)
		if got := named(r, func(h search.Hit) bool { return h.Version == d.Version }); !slices.Equal(got, want) {
			s.t.Fatalf("mark%d: found %q, want %q", d.Version, got, want)
		}
	}
	var want []string
	for id, d := range s.docs {
		if s.meaning[id] && reader.MayRead(d.Access, nil) && strings.Contains(d.Body, "nginx") {
			want = append(want, d.Title)
		}
	}
	slices.Sort(want)
	r, err := s.any().Search(s.t.Context(), team, search.Query{Reader: reader, Text: "proxy", Limit: 50})
	s.check(err)
	got := named(r, func(h search.Hit) bool { return true })
	if slices.Sort(got); !slices.Equal(got, want) {
		s.t.Fatalf("by meaning: found %q, want %q", got, want)
	}
}

// named returns the titles of the hits that want includes.
func named(r search.Result, want func(search.Hit) bool) (titles []string) {
	for _, h := range r.Hits {
		if want(h) {
			titles = append(titles, h.Title)
		}
	}
	return titles
}

// TestChangesAreFoundAsInANaiveModel draws puts, deletions, late and repeated publishing, merges, rebuilds, cleaning and restarts of two
// processes. What is published and readable is found by its words and its meaning after each of them, and nothing else is.
func TestChangesAreFoundAsInANaiveModel(t *testing.T) {
	t.Parallel()
	for seed := range uint64(6) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			s := newShelf(t, seed)
			for range 250 {
				s.step()
				s.compare()
			}
			s.finish()
		})
	}
}

// finish publishes and merges all that is left, and compares what is stored then.
func (s *shelf) finish() {
	for range 2 {
		s.publish(len(s.docs) + 1)
	}
	x := s.processes[0]
	for n := 0; len(works(s.t, x)) > 0; n++ {
		if s.rebuild(); n == 1000 {
			s.t.Fatal("rebuilds do not end")
		}
	}
	for _, source := range []string{"wiki", "guide"} {
		for _, space := range search.Spaces {
			s.check(x.Stale(s.t.Context(), team, source, space, 100_000))
		}
	}
	merge(s.t, x)
	s.compare()
	holds(s.t, x, s.lib)
	r, err := x.Check(s.t.Context(), team)
	if s.check(err); r.Stale > 0 || len(r.Embedded) != len(s.docs) {
		s.t.Errorf("%d stale, %d of %d have vectors", r.Stale, len(r.Embedded), len(s.docs))
	}
	for range 2 {
		s.advance(26 * time.Hour)
		_, err := x.Clean(s.t.Context())
		s.check(err)
	}
	if blobs, records := blobCount(s.t, x), len(levels(s.t, x)); blobs != records {
		s.t.Errorf("%d blobs of %d segments", blobs, records)
	}
}
