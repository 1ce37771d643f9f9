package search_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"docent/shared/access"
	"docent/shared/search"
	"docent/shared/table"
)

func TestWhatIsPublishedIsFound(t *testing.T) {
	t.Parallel()
	x, lib, _ := newIndex(t)
	long := strings.Repeat("Nothing of interest stands here, only filling words.\n\n", 200)
	publish(t, x, lib,
		doc("wiki", "runbook", "# Runbook\n\n## Deploying\n\n### Rolling back\n\nRun `deployctl undo` within a day.\n", 1),
		doc("wiki", "kitchen", "Soup needs salt.", 1),
		doc("guide", "long", long+"## Volcanoes\n\nLava flows downhill.\n"+long, 1))
	titles, r := ask(t, x, search.Query{Text: "How do I roll back a deployment?"})
	if !slices.Equal(titles, []string{"runbook"}) || !r.HasTerms || r.Hits[0].Heading != "Deploying > Rolling back" {
		t.Errorf("found %q: %+v", titles, r.Hits)
	}
	if h := r.Hits[0]; !strings.Contains(h.Passage, "deployctl undo") || !strings.HasPrefix(h.Content(), "Deploying > Rolling back\n\n") ||
		h.URI != "https://docs.example/runbook" || h.Source != "wiki" || h.Space != search.Documentation || h.Normalised <= 0 {
		t.Errorf("hit %+v", h)
	}
	titles, r = ask(t, x, search.Query{Text: "lava"})
	if !slices.Equal(titles, []string{"long"}) || r.Hits[0].Heading != "Volcanoes" || !strings.Contains(r.Hits[0].Passage, "Lava flows") {
		t.Errorf("found %q: %+v", titles, r.Hits)
	}
}

// TestContentHasTheBestPassages: where not all passages that match have room, the best are shown, not the first.
func TestContentHasTheBestPassages(t *testing.T) {
	t.Parallel()
	x, lib, _ := newIndex(t)
	section := func(heading, about string) string {
		return "## " + heading + "\n\n" + about + strings.Repeat(" Nothing else of any interest stands in here.", 35) + "\n\n"
	}
	publish(t, x, lib, doc("wiki", "geology", section("First", "Lava.")+section("Second", "Lava.")+
		section("Third", "Lava of a volcano destroys villages.")+section("Fourth", "Lava.")+section("Fifth", "Lava of a volcano.")+section("Sixth", "Lava."), 1))
	_, r := ask(t, x, search.Query{Text: "Which villages does the lava of a volcano destroy?"})
	if len(r.Hits) != 1 || r.Hits[0].Heading != "Third" {
		t.Fatalf("found %+v", r.Hits)
	}
	if c := r.Hits[0].Content(); !strings.Contains(c, "## Fifth") || strings.Contains(c, "## First") || len(c) > 4000 {
		t.Errorf("%d characters: %s", len(c), c)
	}
}

// TestContentSaysWhereItsPassagesAre: what a section, a table or code begins with is often in another passage.
func TestContentSaysWhereItsPassagesAre(t *testing.T) {
	t.Parallel()
	prose := strings.Repeat("Nothing else of any interest stands in here.\n\n", 60)
	rows := strings.Repeat("| rock | 1 |\n", 120)
	lines := strings.Repeat("keep: nothing of any interest\n", 90)
	for name, c := range map[string]struct{ body, want string }{
		"a section": {"## Lava\n\nLava of a volcano destroys villages.\n\n## Ash\n\n" + prose + "Villages of a volcano clean it.\n\n" + prose,
			"\n\nAsh\n\n"},
		"a table": {"| what | per day |\n|---|---|\n" + rows + "| villages that a volcano destroys | 3 |\n" + rows,
			"| what | per day |\n|---|---|\n| rock | 1 |\n"},
		"code":            {"```yaml\n" + lines + "villages: destroy # by a volcano\n" + lines + "```\n", "```yaml\nkeep: nothing"},
		"the end of code": {"```yaml\nvillages: destroy # by a volcano\n" + lines + lines + "```\n", "interest\n```"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x, lib, _ := newIndex(t)
			publish(t, x, lib, doc("wiki", "geology", c.body, 1))
			_, r := ask(t, x, search.Query{Text: "Which villages does a volcano destroy?"})
			if len(r.Hits) != 1 {
				t.Fatalf("found %+v", r.Hits)
			}
			if got := r.Hits[0].Content(); !strings.Contains(got, c.want) || len(got) > 4000 || strings.Count(got, "```")%2 != 0 {
				t.Errorf("no %q in %d characters:\n%s", c.want, len(got), got)
			}
		})
	}
}

// TestTheStartOfAVeryLongTitleCounts searches by words of a title that is longer than what is indexed with each passage.
func TestTheStartOfAVeryLongTitleCounts(t *testing.T) {
	t.Parallel()
	x, lib, _ := newIndex(t)
	var words []string
	for n := range 160 {
		words = append(words, fmt.Sprintf("koala%03d", n))
	}
	title := strings.Join(words, " ")
	publish(t, x, lib, doc("wiki", title, "Soup needs salt.", 1))
	for word, want := range map[string]int{"koala000": 1, "koala127": 1, "koala128": 0, "salt": 1} {
		if titles, r := ask(t, x, search.Query{Text: word}); len(titles) != want || want > 0 && r.Hits[0].Title != title {
			t.Errorf("%s: found %d", word, len(titles))
		}
	}
}

func TestQuestionWithoutTerms(t *testing.T) {
	t.Parallel()
	x, lib, _ := newIndex(t)
	for range 2 { // without a segment and with one
		if titles, r := ask(t, x, search.Query{Text: "what is it?"}); r.HasTerms || len(titles) > 0 {
			t.Errorf("known %v, found %q", r.HasTerms, titles)
		}
		if titles, r := ask(t, x, search.Query{Text: "zebra"}); !r.HasTerms || len(titles) > 0 {
			t.Errorf("known %v, found %q", r.HasTerms, titles)
		}
		publish(t, x, lib, doc("wiki", "a", "it is what it is", 1))
	}
}

func TestOnlyWhatIsCurrentIsFound(t *testing.T) {
	t.Parallel()
	x, lib, _ := newIndex(t)
	publish(t, x, lib, doc("wiki", "a", "the zebra eats grass", 1), doc("wiki", "b", "the zebra drinks water", 1), doc("guide", "c", "a zebra", 1))
	cases := []struct {
		name   string
		change func()
		want   []string
	}{
		{"all", func() {}, []string{"a", "b", "c"}},
		{"a deleted document is gone", func() { lib.remove(doc("", "a", "", 0).ID) }, []string{"b", "c"}},
		{"its id used again does not bring the old text back", func() { lib.put(doc("wiki", "a", "a lion", 2)) }, []string{"b", "c"}},
		{"a replaced one is found by its new text", func() { publish(t, x, lib, doc("wiki", "b", "many zebra", 2)) }, []string{"b", "c"}},
		{"one that moved is not found where it was", func() { lib.put(doc("guide", "b", "many zebra", 2)) }, []string{"c"}},
		{"nothing of a source that is not live", func() { lib.sources = []string{"wiki"} }, nil},
	}
	for _, c := range cases { // each continues with the state of the previous one
		c.change()
		titles, _ := ask(t, x, search.Query{Text: "zebra"})
		if slices.Sort(titles); !slices.Equal(titles, c.want) {
			t.Errorf("%s: found %q, want %q", c.name, titles, c.want)
		}
	}
}

func TestARestrictedKeyLearnsNothingOfOtherSources(t *testing.T) {
	t.Parallel()
	alone, aloneLib, _ := newIndex(t)
	beside, besideLib, _ := newIndex(t)
	for i := range 40 {
		d := doc("wiki", fmt.Sprint("w", i), strings.Repeat("zebra ", i%5+1)+strings.Repeat("grass ", i%7), 1)
		publish(t, alone, aloneLib, d)
		publish(t, beside, besideLib, d, doc("guide", fmt.Sprint("g", i), "zebra "+strings.Repeat("lion ", i), 1))
	}
	q := search.Query{Text: "zebra on the grass with a lion", Sources: []string{"wiki", "elsewhere"}, Limit: 50}
	_, want := ask(t, alone, q)
	_, got := ask(t, beside, q)
	if len(want.Hits) != 40 || !reflect.DeepEqual(plain(got), plain(want)) {
		t.Errorf("beside other sources:\n%+v\nalone:\n%+v", plain(got), plain(want))
	}
	if titles, r := ask(t, beside, search.Query{Text: "zebra", Sources: []string{}}); len(titles) > 0 || r.Passages != 0 {
		t.Errorf("without sources: %q of %d passages", titles, r.Passages)
	}
}

// plain returns the parts of a result that a caller sees.
func plain(r search.Result) []string {
	out := []string{fmt.Sprint(r.Passages, r.HasTerms)}
	for _, h := range append(r.Hits, r.Best...) {
		out = append(out, fmt.Sprint(h.Document, h.Title, h.Source, h.Passage, h.Content(), h.Score, h.Normalised))
	}
	return out
}

func TestSpacesAndProfiles(t *testing.T) {
	t.Parallel()
	x, lib, _ := newIndex(t)
	code := doc("wiki", "parse.go", "func parseHTTPRequest(r io.Reader) error", 1)
	code.Space = search.Code
	publish(t, x, lib, code, doc("wiki", "page", "How a request is parsed", 1))
	if titles, _ := ask(t, x, search.Query{Text: "http request", Spaces: []search.Space{search.Code}}); !slices.Equal(titles, []string{"parse.go"}) {
		t.Errorf("code: %q", titles)
	}
	if titles, _ := ask(t, x, search.Query{Text: "parse request"}); len(titles) != 2 {
		t.Errorf("all spaces: %q", titles)
	}
}

func TestCarriedWordsCountLess(t *testing.T) {
	t.Parallel()
	x, lib, _ := newIndex(t)
	publish(t, x, lib, doc("wiki", "first", "The zebra has black stripes.", 1), doc("wiki", "second", "The okapi lives in the forest.", 1))
	for name, c := range map[string]struct {
		text, carried string
		weight        float64
		want          string
	}{
		"in full":                       {"forest zebra black stripes", " zebra black stripes", 1, "first"},
		"less":                          {"forest zebra black stripes", " zebra black stripes", 0.2, "second"},
		"less, and misspelt":            {"forst zebra black stripes", " zebra black stripes", 0.2, "second"},
		"in the question, too":          {"zebra black stripes forest zebra", " forest zebra", 0.2, "first"},
		"if nothing else is known":      {"moon zebra black stripes", " zebra black stripes", 0.2, "first"},
		"if nothing else is a term":     {"why? zebra black stripes", " zebra black stripes", 0.2, "first"},
		"nothing is carried, of weight": {"forest zebra black stripes", "", 0.2, "first"},
	} {
		titles, _ := ask(t, x, search.Query{Text: c.text, Carried: search.Carried{Words: c.carried, Weight: c.weight}})
		if len(titles) == 0 || titles[0] != c.want {
			t.Errorf("%s: %q, want %s first", name, titles, c.want)
		}
	}
}

func TestInstructionOnlyReorders(t *testing.T) {
	t.Parallel()
	x, lib, _ := newIndex(t)
	publish(t, x, lib, doc("wiki", "x", "zebra in the north", 1), doc("wiki", "y", "zebra in the south", 1), doc("wiki", "z", "north and south", 1))
	for _, c := range []struct {
		instruction string
		first       string
	}{{"prefer the north", "x"}, {"prefer the south", "y"}} {
		titles, _ := ask(t, x, search.Query{Text: "zebra", Instruction: c.instruction})
		if len(titles) != 2 || titles[0] != c.first {
			t.Errorf("%s: %q", c.instruction, titles)
		}
	}
}

func TestWarmSearchTakesTwoRoundTrips(t *testing.T) {
	t.Parallel()
	x, lib, _ := newIndex(t)
	for i := range 5 {
		publish(t, x, lib, doc("wiki", fmt.Sprint(i), "zebra", 1))
	}
	ask(t, x, search.Query{Text: "zebra"})
	ctx, meter := table.WithMeter(t.Context())
	before := lib.calls
	if _, err := x.Search(ctx, team, search.Query{Reader: access.Everything(), Text: "zebra"}); err != nil {
		t.Fatal(err)
	}
	if c := meter.Read(); c.RoundTrips != 1 || lib.calls-before != 1 {
		t.Errorf("%d round trips for the list, %d for the candidates", c.RoundTrips, lib.calls-before)
	}
}

func TestFailedPublishLeavesNothing(t *testing.T) {
	t.Parallel()
	x, lib, _ := newIndex(t)
	key := table.Key{Table: table.Documents, Partition: "pending/0", Sort: "1"}
	ops := []table.Op{table.Delete{Key: key, If: table.Exists()}}
	d := doc("wiki", "a", "zebra", 1)
	lib.put(d)
	if err := x.Publish(t.Context(), team, []search.Document{d}, ops); table.AsConditionFailed(err) == nil || table.AsConditionFailed(err).Key != key {
		t.Errorf("published what another worker had published: %v", err)
	}
	if titles, _ := ask(t, x, search.Query{Text: "zebra"}); len(titles) > 0 {
		t.Errorf("found %q", titles)
	}
	if n := blobCount(t, x); n > 0 {
		t.Errorf("%d blobs are left", n)
	}
}

func TestQueriesThatChooseReadOnUntilTheyHaveEnough(t *testing.T) {
	t.Parallel()
	x, lib, _ := newIndex(t)
	var docs []search.Document
	for i := range 160 {
		docs = append(docs, doc("wiki", fmt.Sprintf("%s %d", []string{"good", "beside", "bad", "bad"}[i%4], i), "zebra", 1))
	}
	publish(t, x, lib, docs...)
	choose := func(text search.Text) search.Choice {
		kind, _, _ := strings.Cut(text.Title, " ")
		return map[string]search.Choice{"good": search.Include, "beside": search.IncludeUncounted}[kind]
	}
	for _, tt := range []struct {
		name         string
		limit, calls int
		all          bool // expect all documents, not only those of the first page
	}{
		{"the first page has enough", 5, 1, false},
		{"the rest in parallel", 30, 4, true},
		{"all at once", 200, 4, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before := lib.calls
			titles, _ := ask(t, x, search.Query{Text: "zebra", Limit: tt.limit, Choose: choose})
			kinds := map[string]int{}
			for _, title := range titles {
				kind, _, _ := strings.Cut(title, " ")
				kinds[kind]++
			}
			if kinds["bad"] > 0 || kinds["good"] < min(tt.limit, 40) || kinds["beside"] == 0 || (kinds["good"] == 40 && kinds["beside"] == 40) != tt.all || lib.calls-before != tt.calls {
				t.Errorf("%v in %d calls", kinds, lib.calls-before)
			}
		})
	}
}

// TestAQuestionOfLongLigaturesIsCut: one character that stands for four words does not make a question of 40,000.
func TestAQuestionOfLongLigaturesIsCut(t *testing.T) {
	t.Parallel()
	x, lib, _ := newIndex(t)
	publish(t, x, lib, doc("wiki", "lava", "Lava flows downhill.", 1))
	ligatures := strings.Repeat("\ufdfa ", 4_990)
	if titles, _ := ask(t, x, search.Query{Text: "lava " + ligatures}); !slices.Equal(titles, []string{"lava"}) {
		t.Errorf("found %q by the beginning of a question", titles)
	}
	if titles, r := ask(t, x, search.Query{Text: ligatures + " lava", Instruction: ligatures}); len(titles) > 0 || !r.HasTerms {
		t.Errorf("found %q by the end of a question that is longer than any", titles)
	}
}
