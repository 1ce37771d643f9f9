package llm

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Bounds of proposals.
const (
	MaxWordings  = 3
	MaxParts     = 4
	ProposalTime = 5 * time.Second

	maxProposal = 200 // code points
)

// Proposed are the searches that a model proposes, in addition to the question.
type Proposed struct {
	Texts        []string // single lines without addresses; not the question again
	InputTokens  int
	OutputTokens int
}

// Propose asks a model for wordings or parts of a question, for at most ProposalTime.
// The model sees the question and nothing else. Its proposals are only texts to search
// for: they can name no source and no filter.
func (w *Writer) Propose(ctx context.Context, task Task, question string) (Proposed, error) {
	end, err := w.begin(ctx)
	if err != nil {
		return Proposed{}, err
	}
	defer end()
	ctx, cancel, err := within(ctx, ProposalTime)
	if err != nil {
		return Proposed{}, err
	}
	defer cancel()
	draft, err := w.Model.Compose(ctx, Request{Task: task, Asked: Asked{Question: question}})
	p := Proposed{InputTokens: draft.InputTokens, OutputTokens: draft.OutputTokens}
	if err != nil {
		return p, err
	}
	most := MaxWordings
	if task == ProposeParts {
		most = MaxParts
	}
	p.Texts = proposals(draft, question, most)
	return p, nil
}

// linked matches what clients make links of.
var linked = regexp.MustCompile(`(?i)://|www\.|@|mailto:`)

// bullet matches what models put before the lines of a list.
var bullet = regexp.MustCompile(`^(?:[-*•]|\d{1,2}[.)])\s+`)

// proposals returns the lines of a draft that can be searched for.
func proposals(d Draft, question string, most int) []string {
	var text strings.Builder
	for _, p := range d.Parts {
		text.WriteString(p.Text)
	}
	lines := strings.Split(clean(text.String()), "\n")
	if d.Cut {
		lines = lines[:len(lines)-1] // the last one is not whole
	}
	seen := []string{strings.ToLower(spaced(question))}
	var out []string
	for _, line := range lines {
		line = strings.Trim(bullet.ReplaceAllString(strings.TrimSpace(line), ""), "\"'`* ")
		line = spaced(line)
		low := strings.ToLower(line)
		if line == "" || utf8.RuneCountInString(line) > maxProposal || linked.MatchString(line) || slices.Contains(seen, low) {
			continue
		}
		seen = append(seen, low)
		if out = append(out, line); len(out) == most {
			break
		}
	}
	return out
}
