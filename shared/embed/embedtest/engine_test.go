package embedtest_test

import (
	"errors"
	"slices"
	"testing"

	"docent/shared/embed"
	"docent/shared/embed/embedtest"
)

func TestContract(t *testing.T) {
	t.Parallel()
	embedtest.Run(t, embedtest.New(embed.Model{Name: "words", Size: 64}))
}

func TestFail(t *testing.T) {
	t.Parallel()
	e, away := embedtest.New(embed.Model{Name: "words", Size: 64}), errors.New("away")
	texts := []string{"a", "b"}
	e.Fail(away)
	if _, err := e.Embed(t.Context(), texts, embed.Passage); !errors.Is(err, away) {
		t.Errorf("error %v, want %v", err, away)
	}
	e.Fail(nil)
	if _, err := e.Embed(t.Context(), texts, embed.Passage); err != nil {
		t.Error(err)
	}
	if calls, texts := e.Count(); calls != 1 || texts != 2 {
		t.Errorf("%d calls with %d texts, want 1 with 2", calls, texts)
	}
}

func TestModelsDiffer(t *testing.T) {
	t.Parallel()
	vector := func(name string) embed.Vector {
		got, err := embedtest.New(embed.Model{Name: name, Size: 384}).Embed(t.Context(), []string{"one text"}, embed.Question)
		if err != nil {
			t.Fatal(err)
		}
		return got[0]
	}
	if !slices.Equal(vector("a"), vector("a")) {
		t.Error("two engines of one model differ")
	}
	if c := embed.Cosine(vector("a"), vector("b")); c > 0.5 || c < -0.5 {
		t.Errorf("cosine %v of vectors of two models", c)
	}
}
