package audit_test

import (
	"slices"
	"testing"

	"docent/shared/audit"
	"docent/shared/pending"
)

// Webhook endpoints hear of the end of an answer, and of an event's category, if somebody wants to.
func TestNoticesOfAnAnswer(t *testing.T) {
	t.Parallel()
	const everything = pending.AboutAnswers | pending.AboutActivity | pending.AboutData
	completed, failed, event := pending.AnswerCompleted+" complete", pending.AnswerFailed+" failed", string(audit.AnswerAsked)+" "
	for name, test := range map[string]struct {
		topics pending.Topics
		result string
		want   []string // type and state
	}{
		"nobody listens":      {0, audit.Success, nil},
		"another topic":       {pending.AboutSources, audit.Success, nil},
		"an answer":           {everything, "", []string{event + audit.Success, completed}},
		"the answer alone":    {pending.AboutAnswers, audit.Success, []string{completed}},
		"the event alone":     {everything &^ pending.AboutAnswers, audit.Success, []string{event + audit.Success}},
		"a failure":           {everything, audit.Failure, []string{event + audit.Failure, failed}},
		"its end is unknown":  {everything, audit.Unknown, []string{event + audit.Unknown}},
		"that, answers alone": {pending.AboutAnswers, audit.Unknown, nil},
	} {
		e := audit.Event{Type: audit.AnswerAsked, Outcome: audit.Outcome{Result: test.result}, Targets: []audit.Target{{Type: "answer", ID: "q"}}}
		var got []string
		for _, n := range audit.Notices(test.topics, []audit.Event{e}) {
			got = append(got, n.Type+" "+n.State)
			if !slices.Contains(n.About, pending.Target{Type: "answer", ID: "q"}) {
				t.Errorf("%s: %s is about %v", name, n.Type, n.About)
			}
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}
