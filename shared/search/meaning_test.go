package search_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"docent/shared/access"
	"docent/shared/embed"
	"docent/shared/embed/embedtest"
	"docent/shared/search"
)

// topics is an engine that knows a few words by their topic: texts about the same topic are near
// each other, whatever words they use.
type topics struct {
	name string
	err  error
	made int
}

var topicOf = map[string]int{"nginx": 0, "proxy": 0, "front": 0, "server": 0, "invoice": 1, "bill": 1, "payment": 1, "zebra": 2, "stripes": 2}

func (e *topics) Model() embed.Model { return embed.Model{Name: e.name, Size: 64} }

func (e *topics) Embed(_ context.Context, texts []string, _ embed.Purpose) ([]embed.Vector, error) {
	if e.err != nil {
		return nil, e.err
	}
	out := make([]embed.Vector, len(texts))
	for i, text := range texts {
		v := make(embed.Vector, 64)
		for j := range v {
			v[j] = 0.02 * float32(1-2*(j%2))
		}
		for _, word := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return r < 'a' || r > 'z' }) {
			if topic, ok := topicOf[word]; ok {
				for j := range 16 {
					v[16*topic+j] += 1
				}
			}
		}
		embed.Normalize(v)
		out[i] = v
		e.made++
	}
	return out, nil
}

// newMeaningIndex is newIndex with a model.
func newMeaningIndex(t testing.TB) (*search.Index, *library, *topics) {
	x, lib, _ := newIndex(t)
	e := &topics{name: "topics"}
	x.Embedder, x.Model = e, e.Model()
	return x, lib, e
}

// publishBoth publishes documents by words and by meaning.
func publishBoth(t testing.TB, x *search.Index, lib *library, docs ...search.Document) {
	t.Helper()
	publish(t, x, lib, docs...)
	if err := x.PublishMeaning(t.Context(), team, docs, nil); err != nil {
		t.Fatal(err)
	}
}

func TestAPageInOtherWordsIsFound(t *testing.T) {
	t.Parallel()
	x, lib, _ := newMeaningIndex(t)
	page := doc("wiki", "Reverse proxies", "Put nginx before it and pass requests on.", 1)
	other := doc("wiki", "Accounting", "An invoice is sent each month.", 1)
	publish(t, x, lib, page, other)
	if titles, _ := ask(t, x, search.Query{Text: "server in front"}); len(titles) != 0 {
		t.Fatalf("by words alone: %q", titles)
	}
	if err := x.PublishMeaning(t.Context(), team, []search.Document{page, other}, nil); err != nil {
		t.Fatal(err)
	}
	if titles, _ := ask(t, x, search.Query{Text: "server in front"}); !slices.Equal(titles, []string{"Reverse proxies"}) {
		t.Errorf("by meaning: %q", titles)
	}
}

func TestAnAnswerQuotesThePageThatMeansIt(t *testing.T) {
	t.Parallel()
	x, lib, _ := newMeaningIndex(t)
	publishBoth(t, x, lib,
		doc("wiki", "Accounting", "An invoice is sent each month, and the bill is due after two weeks.", 1),
		doc("wiki", "Cakes", "## Made in winter\n\nA cake is made in winter of flour.", 1))
	const question = "How is a payment made in winter?"
	r, err := x.Search(t.Context(), team, search.Query{Reader: access.Everything(), Text: question, Limit: 8})
	if err != nil || len(r.Hits) != 2 || r.Hits[0].Title != "Accounting" {
		t.Fatalf("found %+v, %v", r.Hits, err)
	}
	if a := search.Quote(question, r); len(a.References) == 0 || a.References[0].Title != "Accounting" {
		t.Errorf("quoted %+v\n%s", a.References, a.Markdown)
	}
}

func TestMeaningNeverShowsWhatWordsMayNot(t *testing.T) {
	t.Parallel()
	x, lib, _ := newMeaningIndex(t)
	secret := doc("guide", "Secret", "nginx", 1)
	replaced := doc("wiki", "Old", "nginx", 1)
	publishBoth(t, x, lib, secret, replaced, doc("wiki", "Stripes", "zebra", 1))
	lib.put(doc("wiki", "Old", "nothing of it", 2))
	for name, q := range map[string]search.Query{
		"another source": {Text: "proxy", Sources: []string{"wiki"}},
		"another space":  {Text: "proxy", Sources: []string{"wiki"}, Spaces: []search.Space{search.Code}},
	} {
		if titles, _ := ask(t, x, q); len(titles) != 0 {
			t.Errorf("%s: found %q", name, titles)
		}
	}
	lib.live("wiki")
	if titles, _ := ask(t, x, search.Query{Text: "proxy"}); len(titles) != 0 {
		t.Errorf("a source that is not live: found %q", titles)
	}
}

func TestSearchGoesOnByWordsWithoutTheModel(t *testing.T) {
	t.Parallel()
	x, lib, e := newMeaningIndex(t)
	var faults []error
	x.OnFault = func(_ context.Context, err error) { faults = append(faults, err) }
	publishBoth(t, x, lib, doc("wiki", "Stripes", "zebra", 1))
	e.err = errors.New("the model is away")
	for range 3 {
		if titles, _ := ask(t, x, search.Query{Text: "zebra"}); !slices.Equal(titles, []string{"Stripes"}) {
			t.Errorf("found %q", titles)
		}
	}
	if len(faults) != 1 || !errors.Is(faults[0], e.err) {
		t.Errorf("reported %v", faults)
	}
	if err := x.PublishMeaning(t.Context(), team, []search.Document{doc("wiki", "More", "zebra", 1)}, nil); !errors.Is(err, search.ErrNotEmbedded) {
		t.Errorf("publish: %v", err)
	}
}

func TestVectorsAreMergedWithoutStaleOnes(t *testing.T) {
	t.Parallel()
	x, lib, e := newMeaningIndex(t)
	for i := range 10 {
		publishBoth(t, x, lib, doc("wiki", fmt.Sprint("t", i), "nginx", 1))
	}
	lib.remove(doc("wiki", "t3", "", 0).ID)
	made := e.made
	if n := merge(t, x); n != 20 {
		t.Errorf("replaced %d segments", n)
	}
	if e.made != made {
		t.Errorf("the merge made %d vectors", e.made-made)
	}
	if titles, _ := ask(t, x, search.Query{Text: "proxy", Limit: 20}); len(titles) != 9 {
		t.Errorf("found %q", titles)
	}
}

func TestAModelForEnglishLeavesOtherLanguagesToTheWords(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		body    string
		english bool // the model knows only English
		want    bool
	}{
		{"You put nginx in the way of it, and it is done.", true, true},
		{"Перед ним ставят nginx, и это всё.", false, true},
		{"Перед ним ставят nginx, и это всё.", true, false},
	} {
		x, lib, e := newMeaningIndex(t)
		x.Model.English = c.english
		page := doc("wiki", "Page", c.body, 1)
		publishBoth(t, x, lib, page, doc("wiki", "Stripes", "The zebra has them, and it is known for that.", 1))
		titles, _ := ask(t, x, search.Query{Text: "proxy"})
		if found := slices.Contains(titles, "Page"); found != c.want {
			t.Errorf("%q, English only %t: found %q of %d texts", c.body, c.english, titles, e.made)
		}
	}
}

func TestAHitIsExplained(t *testing.T) {
	t.Parallel()
	x, lib, _ := newMeaningIndex(t)
	publishBoth(t, x, lib, doc("wiki", "Both", "The proxy is nginx.", 1), doc("wiki", "Near", "Put nginx there.", 1))
	publish(t, x, lib, doc("wiki", "Words", "A proxy vote.", 1))
	_, r := ask(t, x, search.Query{Text: "proxy", Explain: true})
	got := map[string]search.Explanation{}
	for _, h := range r.Hits {
		e := *h.Explanation
		got[h.Title] = e
		if e.Score != h.Normalised || e.CosineWeight <= 0 || e.CosineWeight >= 1 {
			t.Errorf("%s: %+v", h.Title, e)
		}
		if e.Cosine != nil && math.Abs((1-e.CosineWeight)*e.Words+e.CosineWeight**e.Cosine-e.Score) > 1e-9 {
			t.Errorf("%s: the parts do not make the score: %+v", h.Title, e)
		}
	}
	if both := got["Both"]; both.Cosine == nil || both.Words <= 0 || len(both.Terms) != 1 || both.Terms[0].Times != 1 {
		t.Errorf("found by both: %+v", both)
	}
	if near := got["Near"]; near.Cosine == nil || near.Words != 0 || len(near.Terms) != 0 {
		t.Errorf("found by meaning: %+v", near)
	}
	if words := got["Words"]; words.Cosine != nil || words.Words <= 0 {
		t.Errorf("found by words: %+v", words)
	}
	if _, r := ask(t, x, search.Query{Text: "proxy"}); r.Hits[0].Explanation != nil {
		t.Error("explained although not asked to")
	}
}

func TestVectorsReadByRangeAnswerAsWholeOnes(t *testing.T) {
	t.Parallel()
	whole, lib, _ := newIndex(t)
	whole.Embedder = embedtest.New(embed.Model{Name: "words", Size: 384})
	whole.Model = whole.Embedder.Model()
	publishBoth(t, whole, lib, newZipfText().docs(120, 12)...)
	ranged := again(whole, 20_000)
	ranged.ReadByRange(10_000)
	for _, d := range newZipfText().docs(20, 12) {
		q := search.Query{Text: "about " + strings.Join(strings.Fields(d.Body)[:3], " "), Limit: 20, Explain: true}
		_, want := ask(t, whole, q)
		_, got := ask(t, ranged, q)
		if len(got.Hits) == 0 || len(got.Hits) != len(want.Hits) {
			t.Fatalf("%q: %d hits by range, %d whole", q.Text, len(got.Hits), len(want.Hits))
		}
		for i := range got.Hits {
			if got.Hits[i].Document != want.Hits[i].Document || *got.Hits[i].Explanation.Cosine != *want.Hits[i].Explanation.Cosine {
				t.Errorf("%q: hit %d is %s, want %s", q.Text, i, got.Hits[i].Title, want.Hits[i].Title)
			}
		}
	}
}

// refusing is a model that refuses texts with a word.
type refusing struct{ *topics }

func (e refusing) Embed(ctx context.Context, texts []string, p embed.Purpose) ([]embed.Vector, error) {
	for _, text := range texts {
		if strings.Contains(text, "unspeakable") {
			return nil, fmt.Errorf("%w: a word", embed.ErrInvalid)
		}
	}
	return e.topics.Embed(ctx, texts, p)
}

// TestATextThatTheModelRefusesDoesNotHoldUpOthers: it is found by its words, as if it had no vector.
func TestATextThatTheModelRefusesDoesNotHoldUpOthers(t *testing.T) {
	t.Parallel()
	x, lib, e := newMeaningIndex(t)
	x.Embedder = refusing{e}
	publishBoth(t, x, lib, doc("wiki", "Refused", "An unspeakable invoice.", 1), doc("wiki", "Proxies", "nginx", 1))
	if titles, _ := ask(t, x, search.Query{Text: "server in front"}); !slices.Equal(titles, []string{"Proxies"}) {
		t.Errorf("by meaning: %q", titles)
	}
	titles, r := ask(t, x, search.Query{Text: "invoice", Explain: true})
	if !slices.Equal(titles, []string{"Refused"}) || r.Hits[0].Explanation.Cosine != nil {
		t.Errorf("by words: %q", titles)
	}
	if report, err := x.Check(t.Context(), team); err != nil || len(report.Damaged) > 0 || len(report.Embedded) != 2 {
		t.Errorf("%+v: %v", report, err)
	}
}
