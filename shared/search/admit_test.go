package search_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"docent/shared/access"
	"docent/shared/embed"
	"docent/shared/embed/embedtest"
	"docent/shared/filter"
	"docent/shared/search"
)

// Rules, readers and filters of the tests below.
var (
	ada  = access.Person("u1", "ada", []access.Group{{ID: "g1", DisplayName: "Engineering"}})
	eve  = access.Person("u2", "eve", nil)
	gus  = access.Person("u3", "gus", []access.Group{{ID: "g1", DisplayName: "Engineering"}, {ID: "g2", DisplayName: "Sales", ExternalID: "ext"}})
	none *access.Rule

	nobody  = &access.Rule{}
	forAda  = &access.Rule{Users: []access.Entry{{Name: "ada", ID: "u1"}}}
	forEng  = &access.Rule{Groups: []access.Entry{{Name: "Engineering", ID: "g1"}}}
	forSome = &access.Rule{Users: []access.Entry{{Name: "eve"}}, Groups: []access.Entry{{Name: "ext"}}}
	rules   = []*access.Rule{none, none, nobody, forAda, forEng, forSome}
)

func filterOf(t testing.TB, text string) *filter.Filter {
	t.Helper()
	f, err := filter.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// world draws documents and questions.
type world struct{ *rand.Rand }

// vocabulary has words that are near each other, that are written as one or two, and of two languages.
var vocabulary = strings.Fields(`zebra zebras roll back rollback time out timeout health check healthcheck proxy proxies server front nginx
	invoice bill payment stripes configuration configurations settings Karte Karten die der und ist nicht Reise Reisekosten Empfang verloren
	the of is and not deploy deployment deployed`)

func (w world) words(n int) string {
	var b strings.Builder
	for range n {
		b.WriteString(vocabulary[min(w.IntN(len(vocabulary)), w.IntN(len(vocabulary)))])
		b.WriteByte(" .\n"[min(w.IntN(12), 2)%3])
		b.WriteByte(' ')
	}
	return b.String()
}

func (w world) document(n int) search.Document {
	body := w.words(1 + w.IntN(60))
	if w.IntN(2) == 0 {
		body += w.rare()
	}
	d := doc([]string{"wiki", "guide"}[w.IntN(2)], fmt.Sprint("page ", n), body, 1)
	if w.IntN(4) == 0 {
		d.Space = search.Code
	}
	d.Access = rules[w.IntN(len(rules))]
	if w.IntN(3) > 0 {
		d.Metadata = filter.Metadata{"product": filter.Text([]string{"api", "app"}[w.IntN(2)]), "version": filter.Number(float64(w.IntN(4))),
			"page": filter.Number(float64(n))}
	}
	return d
}

// rare returns a word that few documents have.
func (w world) rare() string {
	return fmt.Sprintf("quax%cillo%c", 'a'+rune(w.IntN(6)), 'a'+rune(w.IntN(6)))
}

// question returns a question with a slip now and then.
func (w world) question() string {
	words := strings.Fields(w.words(1 + w.IntN(5)))
	if w.IntN(2) == 0 {
		words = append(words, w.rare())
	}
	for i, word := range words {
		if at := w.IntN(len(word)); w.IntN(3) == 0 && len(word) > 4 && at > 1 {
			words[i] = word[:at] + word[at+1:]
		}
	}
	return strings.Join(words, " ")
}

var (
	readers = []access.Reader{access.Everything(), ada, eve, gus}
	filters = []string{"null", `{"product": "api"}`, `{"version": {"gte": 2}}`, `{"not": {"product": "api"}}`,
		`{"or": [{"version": 1}, {"product": {"exists": false}}]}`, `{"product": "missing"}`}
)

// seen returns everything that a caller could see of the answer to a query, or reckon from it.
func seen(t testing.TB, x *search.Index, q search.Query) []string {
	t.Helper()
	q.Explain, q.Limit = true, 40
	r, err := x.Search(t.Context(), team, q)
	if err != nil {
		t.Fatal(err)
	}
	out := append(plain(r), fmt.Sprint("found: ", r.Found()))
	for _, h := range r.Best {
		out = append(out, fmt.Sprint("confidence ", h.Confidence))
	}
	for _, h := range r.Hits {
		e, _ := json.Marshal(h.Explanation) // has numbers and texts only
		out = append(out, string(e))
	}
	return append(out, search.Quote(q.Text, r).Markdown)
}

// TestAReaderLearnsNothingOfWhatOthersMayRead compares, for random documents, rules, defaults, readers and filters, an index of all
// documents with an index that holds only those that the reader may read and the filter includes.
func TestAReaderLearnsNothingOfWhatOthersMayRead(t *testing.T) {
	t.Parallel()
	for seed := range uint64(6) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			w := world{rand.New(rand.NewPCG(seed, 3))}
			defaults := map[string]*access.Rule{"wiki": rules[w.IntN(len(rules))], "guide": rules[w.IntN(len(rules))]}
			var batches [][]search.Document
			for n := 0; n < 90; {
				var batch []search.Document
				for range 1 + w.IntN(25-int(seed)) {
					batch = append(batch, w.document(n))
					n++
				}
				batches = append(batches, batch)
			}
			all := ofDocuments(t, seed, defaults, batches, func(search.Document) bool { return true })
			differ, empty := 0, 0
			for range 6 {
				reader, text := readers[w.IntN(len(readers))], filters[w.IntN(len(filters))]
				f := filterOf(t, text)
				only := ofDocuments(t, seed, defaults, batches, func(d search.Document) bool {
					return reader.MayRead(d.Access, defaults[d.Source]) && f.Match(filter.Attributes{Metadata: d.Metadata})
				})
				for range 10 {
					q := search.Query{Text: w.question(), Reader: reader, Filter: f, Instruction: w.question()}
					if w.IntN(4) == 0 {
						q.Sources = []string{"wiki"}
					}
					got := seen(t, all, q)
					q.Reader, q.Filter = access.Everything(), nil
					want := seen(t, only, q)
					if !slices.Equal(got, want) {
						t.Fatalf("%q, %v, filter %s:\n%s\nan index of only that:\n%s", q.Text, reader.Tokens(), text, strings.Join(got, "\n"), strings.Join(want, "\n"))
					}
					if !slices.Equal(seen(t, all, q), want) {
						differ++
					}
					if len(want) < 4 {
						empty++
					}
				}
			}
			if differ < 20 || empty > 50 {
				t.Errorf("%d of 60 answers differ from those about everything, %d found nothing: this tests too little", differ, empty)
			}
		})
	}
}

// ofDocuments returns an index of some documents of batches, by words and meaning. The seed says whether it is
// merged, rebuilt, and read by range.
func ofDocuments(t testing.TB, seed uint64, defaults map[string]*access.Rule, batches [][]search.Document, wanted func(search.Document) bool) *search.Index {
	t.Helper()
	x, lib, _ := newIndex(t)
	x.Embedder = embedtest.New(embed.Model{Name: "words", Size: 384})
	x.Model = x.Embedder.Model()
	lib.rules = defaults
	for _, batch := range batches {
		batch = slices.DeleteFunc(slices.Clone(batch), func(d search.Document) bool { return !wanted(d) })
		if len(batch) > 0 {
			publishBoth(t, x, lib, batch...)
		}
	}
	if seed%3 > 0 {
		merge(t, x)
	}
	if seed%3 == 2 {
		if err := x.SetAnalysis(t.Context(), team, search.AnalysisVersion-1); err != nil {
			t.Fatal(err)
		}
		x = again(x, 0)
		rebuild(t, rebuilder(x))
	}
	if seed%2 == 1 {
		x = again(x, 0)
		x.ReadByRange(1)
	}
	return x
}

// TestManyPassagesAreRankedAsIfAlone is the same for lists of many blocks, where whole blocks are admitted or not.
func TestManyPassagesAreRankedAsIfAlone(t *testing.T) {
	t.Parallel()
	docs := skewed(5, 6000)
	for i := range docs {
		docs[i].ID[0], docs[i].ID[1], docs[i].ID[2] = byte(i>>8), byte(i), 1 // distinct
		switch {
		case i/700%2 == 0 && i%50 > 0:
			docs[i].Access = forEng
		case i%3 == 0:
			docs[i].Access = nobody
		case i%11 == 0:
			docs[i].Access = forAda
		}
	}
	file := func(wanted func(search.Document) bool) []byte {
		t.Helper()
		data, err := search.BuildSegment(search.Messages, slices.DeleteFunc(slices.Clone(docs), func(d search.Document) bool { return !wanted(d) }))
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	data := file(func(search.Document) bool { return true })
	whole, err := search.OpenFiles(data)
	if err != nil {
		t.Fatal(err)
	}
	ranged, err := search.OpenRanged(t.Context(), oneFile{data: data}, "s", int64(len(data)), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	for name, reader := range map[string]access.Reader{"ada": ada, "eve": eve, "gus": gus} {
		alone, err := search.OpenFiles(file(func(d search.Document) bool { return reader.MayRead(d.Access, nil) }))
		if err != nil {
			t.Fatal(err)
		}
		random := rand.New(rand.NewPCG(9, 9))
		zipf := rand.NewZipf(random, 1.2, 2, 3000)
		for range 30 {
			question, n := skewedQuestion(random, zipf), []int{1, 10, 100, 9000}[random.IntN(4)]
			want, _, _, err := alone.Best(t.Context(), question, n)
			if err != nil {
				t.Fatal(err)
			}
			for how, all := range map[string]search.Ranking{"whole": whole, "by range": ranged} {
				some, err := all.For(t.Context(), search.Query{Reader: reader})
				if err != nil {
					t.Fatal(err)
				}
				got, _, _, err := some.Best(t.Context(), question, n)
				if err != nil {
					t.Fatal(err)
				}
				if g, w := scores(got), scores(want); !slices.Equal(g, w) {
					t.Fatalf("%s, %s, %q, best %d: %v\nwant %v", name, how, question, n, g, w)
				}
			}
		}
	}
}

// TestManyVectorsAreComparedAsIfAlone is the same for more vectors than those whose sketches are near.
func TestManyVectorsAreComparedAsIfAlone(t *testing.T) {
	t.Parallel()
	w := world{rand.New(rand.NewPCG(4, 4))}
	var docs []search.Document
	for n := range 2400 {
		d := doc("wiki", fmt.Sprint("page ", n), w.words(4), 1)
		switch {
		case n/300%3 == 1:
			d.Access = nobody
		case n%2 == 0:
			d.Access = forEng
		}
		docs = append(docs, d)
	}
	for seed, reader := range []access.Reader{ada, eve} { // whole, and by range
		all := ofDocuments(t, uint64(3*seed), nil, [][]search.Document{docs}, func(search.Document) bool { return true })
		only := ofDocuments(t, uint64(3*seed), nil, [][]search.Document{docs}, func(d search.Document) bool { return reader.MayRead(d.Access, nil) })
		for range 12 {
			q := search.Query{Text: w.question(), Reader: reader}
			got := seen(t, all, q)
			q.Reader = access.Everything()
			if want := seen(t, only, q); !slices.Equal(got, want) {
				t.Fatalf("%q:\n%s\nan index of only that:\n%s", q.Text, strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		}
	}
}

func scores(places []search.Place) (all []float32) {
	for _, p := range places {
		all = append(all, p.Score)
	}
	return all
}

func TestTheZeroReaderFindsNothing(t *testing.T) {
	t.Parallel()
	x, lib, _ := newIndex(t)
	publish(t, x, lib, doc("wiki", "a", "zebra", 1))
	r, err := x.Search(t.Context(), team, search.Query{Text: "zebra"})
	if err != nil || len(r.Hits) > 0 || len(r.Best) > 0 || r.Passages != 0 || !r.HasTerms {
		t.Errorf("found %+v, %v", r, err)
	}
}

func TestTheRecordDecidesAtOnce(t *testing.T) {
	t.Parallel()
	x, lib, _ := newIndex(t)
	page := func(rule *access.Rule, version int64) search.Document {
		d := doc("wiki", "page", "zebra", version)
		d.Access = rule
		return d
	}
	product := func(name string) search.Document {
		d := page(none, 9)
		d.Metadata = filter.Metadata{"product": filter.Text(name)}
		return d
	}
	other := doc("wiki", "other", "lion", 1)
	other.Access = forEng // so that the segment has sets
	publish(t, x, lib, page(none, 1), other)
	api := filterOf(t, `{"product": "api"}`)
	for _, c := range []struct {
		name   string
		change func()
		filter *filter.Filter
		want   bool
		// What the index admits: the other page, and every version of this one that it contains.
		passages int
	}{
		{"no rule", func() {}, nil, true, 2},
		{"the record closes what the index admits", func() { lib.put(page(nobody, 1)) }, nil, false, 2},
		{"the default closes", func() { lib.put(page(none, 1)); lib.rules = map[string]*access.Rule{"wiki": nobody} }, nil, false, 1},
		{"the default opens", func() { lib.rules = map[string]*access.Rule{"wiki": forAda} }, nil, true, 2},
		{"a new version has its own rule", func() { lib.rules = map[string]*access.Rule{"wiki": nobody}; publish(t, x, lib, page(forEng, 2)) }, nil, true, 2},
		{"the record closes it", func() { lib.put(page(nobody, 2)) }, nil, false, 2},
		{"the filter matches", func() { lib.rules = nil; publish(t, x, lib, product("api")) }, api, true, 1},
		{"the record has other metadata", func() { lib.put(product("app")) }, api, false, 1},
	} {
		c.change()
		if titles, r := ask(t, x, search.Query{Text: "zebra", Reader: ada, Filter: c.filter}); (len(titles) == 1) != c.want || r.Passages != c.passages {
			t.Errorf("%s: found %q in %d passages", c.name, titles, r.Passages)
		}
	}
}

func TestAFilterOnFactsReadsOnUntilItHasEnough(t *testing.T) {
	t.Parallel()
	x, lib, _ := newIndex(t)
	lib.facts = map[uuid.UUID]filter.Facts{}
	var docs []search.Document
	for i := range 160 {
		d := doc("wiki", fmt.Sprint("issue ", i), "zebra", 1)
		lib.facts[d.ID] = filter.Facts{State: []string{"open", "closed"}[min(i%8, 1)]}
		docs = append(docs, d)
	}
	publish(t, x, lib, docs...)
	for limit, want := range map[int]int{5: 5, 15: 15, 200: 20} {
		titles, _ := ask(t, x, search.Query{Text: "zebra", Limit: limit, Filter: filterOf(t, `{"state": "open"}`)})
		if len(titles) != want {
			t.Errorf("limit %d: found %d of 20", limit, len(titles))
		}
		for _, title := range titles {
			if lib.facts[doc("", title, "", 0).ID].State != "open" {
				t.Errorf("found %s", title)
			}
		}
	}
}

// The one document that a filter selects by its facts is found among 5,000 that fit the words as well or better.
func TestAFilterOnFactsFindsOneOfThousands(t *testing.T) {
	t.Parallel()
	x, lib, _ := newIndex(t)
	lib.facts = map[uuid.UUID]filter.Facts{}
	var docs []search.Document
	for i := range 5000 {
		d, facts := doc("wiki", fmt.Sprint("issue ", i), "The zebra is loose.", 1), filter.Facts{Author: "ada", CreatedAt: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
		if i == 3210 { // long: ranked last
			facts = filter.Facts{Author: "grace", CreatedAt: time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)}
			d.Body += strings.Repeat(" Nothing else is known of this matter.", 5)
		}
		lib.facts[d.ID] = facts
		docs = append(docs, d)
	}
	publish(t, x, lib, docs...)
	for _, f := range []string{`{"author": "grace"}`, `{"createdAt": {"gt": "2026-06-01"}}`, `{"not": {"author": "ada"}}`} {
		if titles, _ := ask(t, x, search.Query{Text: "zebra", Filter: filterOf(t, f)}); !slices.Equal(titles, []string{"issue 3210"}) {
			t.Errorf("%s: found %q", f, titles)
		}
	}
	choose := func(text search.Text) search.Choice {
		if text.Attributes.Facts.Author == "grace" {
			return search.Include
		}
		return search.Exclude
	}
	for widen, want := range map[bool]int{true: 1, false: 0} {
		if titles, _ := ask(t, x, search.Query{Text: "zebra", Choose: choose, Widen: widen}); len(titles) != want {
			t.Errorf("widens: %t, found %q", widen, titles)
		}
	}
	// Without a match it ends after as many records as it may read.
	lib.mu.Lock()
	before := lib.calls
	lib.mu.Unlock()
	if titles, _ := ask(t, x, search.Query{Text: "zebra", Filter: filterOf(t, `{"author": "nobody"}`)}); len(titles) != 0 {
		t.Errorf("found %q", titles)
	}
	lib.mu.Lock()
	defer lib.mu.Unlock()
	if pages := lib.calls - before; pages > 120 {
		t.Errorf("read %d pages", pages)
	}
}

func TestDamagedSetsLeaveTheSegmentOut(t *testing.T) {
	t.Parallel()
	x, lib, _ := newIndex(t)
	var docs []search.Document
	for i := range 900 {
		d := doc("wiki", fmt.Sprint("closed ", i), "zebra", 1)
		d.Access = &access.Rule{Users: []access.Entry{{Name: fmt.Sprint("somebody", i)}, {Name: "ada", ID: "u1"}}}
		docs = append(docs, d)
	}
	publish(t, x, lib, docs...)
	publish(t, x, lib, doc("wiki", "small", "zebra", 1))
	size := int64(0)
	for f, err := range x.Blobs.List(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}
		size = max(size, f.Size)
	}
	blobs := &spoiling{Store: x.Blobs}
	blobs.at.Store(size - 3000) // in the sets
	cold := again(x, 0)
	cold.Blobs = blobs
	cold.ReadByRange(10_000)
	faults := 0
	cold.OnFault = func(context.Context, error) { faults++ }
	if titles, _ := ask(t, cold, search.Query{Text: "zebra", Reader: ada}); faults != 1 || !slices.Equal(titles, []string{"small"}) {
		t.Errorf("%d faults, found %q", faults, titles)
	}
	if titles, _ := ask(t, cold, search.Query{Text: "zebra", Limit: 200}); faults != 1 || len(titles) < 50 {
		t.Errorf("who reads everything does not need the sets: %d faults, found %d", faults, len(titles))
	}
}

func TestOnlySegmentsWithSetsHaveTheNewerFormat(t *testing.T) {
	t.Parallel()
	x, lib, _ := newMeaningIndex(t)
	publishBoth(t, x, lib, doc("wiki", "open", "zebra", 1))
	closed := doc("wiki", "closed", "zebra", 1)
	closed.Access = forAda
	publishBoth(t, x, lib, closed)
	got, err := x.Formats(t.Context(), team)
	if err != nil || !slices.Equal(got, []int{2, 4, 3, 5}) {
		t.Errorf("formats %v, %v", got, err)
	}
}
