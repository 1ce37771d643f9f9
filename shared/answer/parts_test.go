package answer_test

import (
	"slices"
	"testing"

	"docent/shared/answer"
	"docent/shared/search"
)

func TestPartsOf(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"How do I create a key?":                                             {"How do I create a key?"},
		"How do I create a key and how do I revoke it?":                      {"How do I create a key", "how do I revoke it?"},
		"How do I create a key, and what does it cost?":                      {"How do I create a key", "what does it cost?"},
		"How do I create a key? And how do I revoke it?":                     {"How do I create a key?", "And how do I revoke it?"},
		"Who may approve, when does it run and where is it logged?":          {"Who may approve, when does it run", "where is it logged?"},
		"In Helm, how do I install and how do I roll back?":                  {"In Helm, how do I install", "how do I roll back?"},
		"Explain what a pod is and how it is scheduled":                      {"Explain what a pod is", "how it is scheduled"},
		"What is Go? What is the second? What is the third? And the fourth?": {"What is Go?", "What is the second?", "What is the third? And the fourth?"},
		"Wie lege ich einen Schlüssel an und wie lösche ich ihn?":            {"Wie lege ich einen Schlüssel an", "wie lösche ich ihn?"},
		"Comment créer une clé et comment la révoquer ?":                     {"Comment créer une clé", "comment la révoquer ?"},
		"¿Cómo creo una clave y cómo la revoco?":                             {"¿Cómo creo una clave", "cómo la revoco?"},
		"Come creo una chiave e dove la trovo?":                              {"Come creo una chiave", "dove la trovo?"},
		"鍵はどう作りますか？どこで取り消せますか？":                                              {"鍵はどう作りますか？", "どこで取り消せますか？"},

		// One question.
		"What is the difference between how Go works and how Rust works?": {"What is the difference between how Go works and how Rust works?"},
		"What should I know and do when it fails?":                        {"What should I know and do when it fails?"},
		"How do I start and stop it?":                                     {"How do I start and stop it?"},
		"How do I roll back? Why?":                                        {"How do I roll back? Why?"},
		"the key and what it opens":                                       {"the key and what it opens"},
		"What does `a?b` mean?":                                           {"What does `a?b` mean?"},
		"Can you help? The log says: no space left.":                      {"Can you help? The log says: no space left."},
		"": {""},
	} {
		if got := answer.PartsOf(text); !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

// A model gets the best passages of each part of a question, each passage once, and none of a part that nothing answers.
func TestPassagesOfPartsAreJoined(t *testing.T) {
	t.Parallel()
	found := func(confidence float64, passages ...string) search.Part {
		r := search.Result{HasTerms: true, Passages: 9}
		for _, p := range passages {
			r.Best = append(r.Best, search.Hit{Passage: p, Confidence: confidence})
		}
		return search.Part{Result: r}
	}
	all := answer.Joined([]search.Part{found(1, "a", "b", "c"), found(0, "weak"), found(1, "b", "d"), found(1)})
	var got []string
	for _, hit := range all.Best {
		got = append(got, hit.Passage)
	}
	if want := []string{"a", "b", "d", "c"}; !slices.Equal(got, want) || all.Passages != 9 || !all.HasTerms {
		t.Errorf("%q of %d passages, want %q", got, all.Passages, want)
	}
	if none := answer.Joined([]search.Part{found(0, "weak")}); len(none.Best) > 0 || none.HasTerms {
		t.Errorf("%+v, though nothing was found", none)
	}
}
