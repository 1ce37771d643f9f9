package llm_test

import (
	"context"
	"slices"
	"strings"
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

// Clients add what they are sent to what they have. A text that does not go on from it is withdrawn before their eyes.
func TestWhatIsSentIsTheBeginningOfTheAnswer(t *testing.T) {
	t.Parallel()
	passages := []llm.Passage{{Document: "1", Text: "Roll back within 24 hours:\n\n```sh\ndeployctl undo\n\ndeployctl wait\n```\n\nThen tell the release manager. Wait."}}
	const start, end = "Roll back within 24 hours [1].\n\n", "\n\nThen tell the release manager [1]. Wait [1]."
	for name, block := range map[string]string{
		"code":                          "```sh\ndeployctl undo\n\ndeployctl wait\n```",
		"code without a language":       "```\ndeployctl undo\n```",
		"code between tildes":           "~~~\ndeployctl undo\n~~~",
		"code that is announced":        "Call this:\n\n```sh\ndeployctl undo\n```",
		"code of an item":               "- Call this [1]:\n\n  ```sh\n  deployctl undo\n  ```\n\n- Wait [1].",
		"an item of code":               "- Wait [1].\n- ```sh\n  deployctl undo\n  ```\n- Wait [1].",
		"code that is quoted":           "> ```sh\n> deployctl undo\n> ```",
		"code that is not in a passage": "```sh\ndeployctl destroy\n```",
		"indented code":                 "    deployctl undo",
		"a numbered list":               "1. Roll back [1].\n2. Wait [1].",
		"a list":                        "- Roll back [1].\n- Wait [1].",
		"a table":                       "| a | b |\n|---|---|\n| Roll back | within 24 hours [1] |\n| Wait | [1] |",
		"a quotation":                   "> Then tell the release manager. [1]",
		"a heading":                     "## Undo",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			draft := start + block + end
			var told []string
			w := llm.Writer{Model: model(func(_ context.Context, r llm.Request) (llm.Draft, error) {
				for i := range draft {
					r.Partial(llm.Draft{Parts: []llm.Part{{Text: draft[:i]}}})
				}
				return llm.Draft{Parts: []llm.Part{{Text: draft}}}, nil
			})}
			a, err := w.Stream(t.Context(), llm.Asked{Question: "How do I roll back?"}, passages, func(v llm.Verified) { told = append(told, v.Markdown) })
			if err != nil || len(told) < 2 {
				t.Fatalf("told %q, then %q, %v", told, a.Markdown, err)
			}
			for _, m := range told {
				if !strings.HasPrefix(a.Markdown, m) {
					t.Errorf("told\n%s\nthen\n%s", m, a.Markdown)
				}
			}
		})
	}
}
