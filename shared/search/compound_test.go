package search_test

import (
	"strings"
	"testing"

	"docent/shared/growthtest"
	"docent/shared/search"
)

func TestTwoWordsOfAQuestionFindOne(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, question, body string }{
		{"a verb and its particle", "How do I back up the zebras?", "Take a backup of zebras."},
		{"two nouns", "the zebra health check", "A zebra healthcheck is made."},
		{"with its ending", "is the zebra self healing", "A zebra with selfheal."},
		{"two places at once", "zebra time out", "The zebra timeout is long, the zebra timeout is hard."},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			filler := []string{"other", "Zebras stand here, and zebras stand there, all zebras.", "third", "Zebras again, zebras.", "fourth", "Grass."}
			x, lib, _ := newIndex(t)
			docs := []search.Document{doc("wiki", "right", c.body, 1)}
			for i := 0; i < len(filler); i += 2 {
				docs = append(docs, doc("wiki", filler[i], filler[i+1], 1))
			}
			publish(t, x, lib, docs...)
			_, r := ask(t, x, search.Query{Text: c.question})
			if len(r.Hits) == 0 || r.Hits[0].Title != "right" || !r.Found() {
				t.Errorf("found %v, first of %+v", r.Found(), r.Hits)
			}
		})
	}
}

// A passage with both spellings scores like a passage with one of them.
func TestACompoundCountsOnceWithItsParts(t *testing.T) {
	t.Parallel()
	score := func(body string) float64 {
		x, lib, _ := newIndex(t)
		publish(t, x, lib, doc("wiki", "right", body, 1), doc("wiki", "a", "grass rollback", 1), doc("wiki", "b", "roll grass back", 1))
		_, r := ask(t, x, search.Query{Text: "roll back"})
		for _, h := range r.Hits {
			if h.Title == "right" {
				return h.Score
			}
		}
		t.Fatalf("not found: %q", body)
		return 0
	}
	apart, both := score("lions roll grass here back words words"), score("lions roll grass here back words rollback")
	if both < apart || both > 1.5*apart {
		t.Errorf("apart %f, with the compound %f", apart, both)
	}
}

// One such character is a word of the question, and four words after normalisation. Two neighbours never form one term, so
// that no compound counts among those that end the search for more. The test is not parallel, because it counts bytes.
func TestFewNeighboursOfALongQuestionAreAnalysed(t *testing.T) {
	const words = 5000
	long := strings.Repeat("\ufdfa ", words)
	data, err := search.BuildSegment(search.Documentation, []search.Document{doc("wiki", "a", "zebra", 1)})
	if err != nil {
		t.Fatal(err)
	}
	rank, err := search.Ranker(data)
	if err != nil {
		t.Fatal(err)
	}
	terms := growthtest.Allocated(t, func() { search.Terms(search.Documentation, long) })
	all := growthtest.Allocated(t, func() {
		if err := rank(long); err != nil {
			t.Error(err)
		}
	})
	if all > 16*terms { // the question is analysed in each of ten languages
		t.Errorf("%d bytes for a question whose terms take %d", all, terms)
	}
}

func TestACompoundInNoDocumentChangesNothing(t *testing.T) {
	t.Parallel()
	a := answerTo(t, "zebra grass", "t", "The zebra eats grass.")
	if !strings.Contains(a.Markdown, "**The zebra eats grass.**") {
		t.Error(a.Markdown)
	}
}
