package search_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"

	"docent/shared/embed"
	"docent/shared/search"
)

// listening is a model that notes the questions that it embeds.
type listening struct {
	*topics
	mu        sync.Mutex
	questions []string
	deaf      bool // it fails at all questions but the first
}

func (l *listening) Embed(ctx context.Context, texts []string, p embed.Purpose) ([]embed.Vector, error) {
	if p == embed.Question {
		l.mu.Lock()
		l.questions = append(l.questions, texts...)
		fails := l.deaf && len(l.questions) > 1
		l.mu.Unlock()
		if fails {
			return nil, errors.New("the model is busy")
		}
	}
	return l.topics.Embed(ctx, texts, p)
}

// TestMisspeltWordsAreCorrectedForTheModel: the model gets a question as it is written, and again if words of it were corrected.
func TestMisspeltWordsAreCorrectedForTheModel(t *testing.T) {
	t.Parallel()
	cases := []struct {
		question string
		want     []string // that follow the question
	}{
		{"Deploying a cluster", nil},
		{"How are clustters deployed?", []string{"How are clusters deployed?"}},
		{"restrating the coutnry (Goverment)", []string{"restarting the country (government)"}},
		{"clustter of 2024, clustter_two", []string{"cluster of 2024, cluster_two"}},
		{"xylophon", nil},
	}
	for _, c := range cases {
		t.Run(c.question, func(t *testing.T) {
			t.Parallel()
			x, lib, model := newMeaningIndex(t)
			publishBoth(t, x, lib, doc("wiki", "a", "The deployment of the cluster is restarted by a government of the country, deployed in clusters", 1))
			heard := &listening{topics: model}
			x.Embedder = heard
			ask(t, x, search.Query{Text: c.question})
			if want := append([]string{c.question}, c.want...); !slices.Equal(heard.questions, want) {
				t.Errorf("embedded %q, want %q", heard.questions, want)
			}
		})
	}
}

// TestAModelThatFailsAtTheCorrectedQuestion: then the question counts as it was written, and nothing fails.
func TestAModelThatFailsAtTheCorrectedQuestion(t *testing.T) {
	t.Parallel()
	x, lib, model := newMeaningIndex(t)
	publishBoth(t, x, lib,
		doc("wiki", "Reverse proxies", "Put nginx before it and pass requests on.", 1),
		doc("wiki", "Clusters", "The deployment of the cluster.", 1),
		doc("wiki", "Zebras", "The zebra has stripes.", 1))
	question := search.Query{Text: "server in front of a clustter"}
	x.Embedder = &listening{topics: model}
	want, _ := ask(t, x, question)
	heard := &listening{topics: model, deaf: true}
	x.Embedder = heard
	faults := 0
	x.OnFault = func(context.Context, error) { faults++ }
	titles, r := ask(t, x, question)
	if !slices.Equal(heard.questions, []string{question.Text, "server in front of a cluster"}) {
		t.Fatalf("embedded %q", heard.questions)
	}
	slices.Sort(titles)
	slices.Sort(want)
	if !slices.Equal(titles, want) || !slices.Equal(titles, []string{"Clusters", "Reverse proxies"}) || !r.Found() {
		t.Errorf("found %q, %t; with a model that works %q", titles, r.Found(), want)
	}
	if faults != 1 {
		t.Errorf("%d faults were reported", faults)
	}
}

// worded is a model that has a list of words.
type worded struct {
	*topics
	words []string
}

func (w worded) Knows(word string) bool { return slices.Contains(w.words, word) }

// TestAWordThatTheModelKnowsIsNotMisspelt: party is not part written wrong, although no document has it.
func TestAWordThatTheModelKnowsIsNotMisspelt(t *testing.T) {
	t.Parallel()
	x, lib, model := newMeaningIndex(t)
	publish(t, x, lib, doc("wiki", "Quoting", "Nothing is summarized: each part is shown whole, with its emphasis.", 1))
	for _, c := range []struct {
		question string
		words    []string
		want     []string
	}{
		{"Summer party?", nil, []string{"Quoting"}},
		{"Summer party?", []string{"summer", "party"}, nil},
		{"Summer party?", []string{"party"}, []string{"Quoting"}},
		{"emphassis", []string{"summer", "party"}, []string{"Quoting"}},
	} {
		x.Embedder = worded{model, c.words}
		if titles, _ := ask(t, x, search.Query{Text: c.question}); !slices.Equal(titles, c.want) {
			t.Errorf("%q, of which the model knows %q: %q, want %q", c.question, c.words, titles, c.want)
		}
	}
}
