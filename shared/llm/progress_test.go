package llm_test

import (
	"context"
	"slices"
	"testing"

	"docent/shared/llm"
)

// TestVerifiedSentencesAreSentAsTheyEnd gives a writer drafts that grow, as text with marks and as
// blocks with their sources.
func TestVerifiedSentencesAreSentAsTheyEnd(t *testing.T) {
	t.Parallel()
	passages := []llm.Passage{{Document: "1", Text: "Roll back within 24 hours."}, {Document: "2", Text: "Tell the release manager before a rollback."}}
	first, second := "Roll back within 24 hours.", " Tell the release manager."
	text := func(s string) llm.Draft { return llm.Draft{Parts: []llm.Part{{Text: s}}} }
	cited := llm.Draft{Parts: []llm.Part{{Text: first, Cites: []int{1}}, {Text: " Wait 48 hours.", Cites: []int{2}}, {Text: second, Cites: []int{2}}}}
	for name, drafts := range map[string][]llm.Draft{
		"text":   {text("Roll back"), text(first + " [1] Wait 48 hours. [2]"), text(first + " [1] Wait 48 hours. [2]" + second), text(first + " [1] Wait 48 hours. [2]" + second + " [2]")},
		"blocks": {{Parts: cited.Parts[:1]}, {Parts: cited.Parts[:2]}, cited},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var told []string
			w := llm.Writer{Model: model(func(_ context.Context, r llm.Request) (llm.Draft, error) {
				for _, d := range drafts {
					r.Partial(d)
				}
				return drafts[len(drafts)-1], nil
			})}
			a, err := w.Stream(t.Context(), llm.Asked{Question: "How do I roll back?"}, passages, func(v llm.Verified) { told = append(told, v.Markdown) })
			const one = "*Written by a language model from the documents that it cites.*\n\nRoll back within 24 hours (1)."
			if err != nil || !slices.Equal(told, []string{one}) || a.Markdown != one+" Tell the release manager (2).\n" {
				t.Errorf("told %q, then %q, %v", told, a.Markdown, err)
			}
		})
	}
}
