package search_test

import (
	"context"
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
}

func (l *listening) Embed(ctx context.Context, texts []string, p embed.Purpose) ([]embed.Vector, error) {
	if p == embed.Question {
		l.mu.Lock()
		l.questions = append(l.questions, texts...)
		l.mu.Unlock()
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
