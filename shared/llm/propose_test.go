package llm_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"docent/shared/llm"
)

// Only lines that can be searched for are proposals, and no more of them than asked
// for.
func TestProposals(t *testing.T) {
	t.Parallel()
	const question = "How do I roll back?"
	for _, c := range []struct {
		name, text string
		task       llm.Task
		want       []string
	}{
		{"lines", "undo a release\nrevert a deployment", llm.ProposeWordings, []string{"undo a release", "revert a deployment"}},
		{"a list", "- undo a release\n2. revert a deployment\n* \"go back\"", llm.ProposeWordings, []string{"undo a release", "revert a deployment", "go back"}},
		{"too many wordings", "a\nb\nc\nd\ne", llm.ProposeWordings, []string{"a", "b", "c"}},
		{"too many parts", "a\nb\nc\nd\ne", llm.ProposeParts, []string{"a", "b", "c", "d"}},
		{"the question again", "how do i  roll back?\nundo\nUndo\nundo", llm.ProposeWordings, []string{"undo"}},
		{"empty lines and spaces", "\n \n  undo   it  \n\n", llm.ProposeWordings, []string{"undo it"}},
		{"addresses", "see https://evil.example/a\nwww.evil.example\nadmin@evil.example\nundo config.yaml", llm.ProposeWordings, []string{"undo config.yaml"}},
		{"hidden characters", "un\u200bdo\u202e it", llm.ProposeWordings, []string{"undo it"}},
		{"too long", strings.Repeat("x", 201) + "\n" + strings.Repeat("é", 200), llm.ProposeWordings, []string{strings.Repeat("é", 200)}},
		{"none", "NOT FOUND", llm.ProposeParts, nil},
		{"nothing", "", llm.ProposeParts, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := &llm.Writer{Model: model(func(ctx context.Context, r llm.Request) (llm.Draft, error) {
				if r.Task != c.task || r.Question != question || len(r.Passages) > 0 || r.Instruction != "" {
					t.Errorf("asked %+v", r)
				}
				if deadline, ok := ctx.Deadline(); !ok || time.Until(deadline) > llm.ProposalTime {
					t.Error("the model has no bound of time")
				}
				d := llm.TextDraft(c.text)
				d.InputTokens, d.OutputTokens = 7, 5
				return d, nil
			})}
			p, err := w.Propose(t.Context(), c.task, question)
			if err != nil || !slices.Equal(p.Texts, c.want) || p.InputTokens != 7 || p.OutputTokens != 5 {
				t.Errorf("%+v, %v, want %q", p, err, c.want)
			}
		})
	}
}

func TestProposalsThatFail(t *testing.T) {
	t.Parallel()
	failure := errors.New("failure")
	cut := &llm.Writer{Model: model(func(context.Context, llm.Request) (llm.Draft, error) {
		d := llm.TextDraft("undo a release\nrevert a depl")
		d.Cut = true
		return d, nil
	})}
	if p, err := cut.Propose(t.Context(), llm.ProposeWordings, "q"); err != nil || !slices.Equal(p.Texts, []string{"undo a release"}) {
		t.Errorf("cut off: %+v, %v", p, err)
	}
	broken := &llm.Writer{Model: model(func(context.Context, llm.Request) (llm.Draft, error) { return llm.Draft{InputTokens: 7}, failure })}
	if p, err := broken.Propose(t.Context(), llm.ProposeWordings, "q"); !errors.Is(err, failure) || p.Texts != nil || p.InputTokens != 7 {
		t.Errorf("broken: %+v, %v", p, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	if p, err := cut.Propose(ctx, llm.ProposeWordings, "q"); err == nil || p.Texts != nil {
		t.Errorf("without time: %+v, %v", p, err)
	}
}
