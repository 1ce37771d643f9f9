package audit

import (
	"docent/shared/pending"
	"docent/shared/table"
)

// topicsField of the head is the pending.Topics that the team's webhook endpoints want. Each claim
// of a number returns it, so that a Write knows them without a read.
const topicsField = "topics"

// TopicsKey returns the key of the item that Topics reads.
func TopicsKey(teamID string) table.Key { return headKey(teamID) }

// Topics returns the topics that a team wants, from the item under its TopicsKey.
func Topics(head table.Item) pending.Topics { return pending.Topics(head.Numbers[topicsField]) }

// SetTopics returns the operation that sets the topics that a team wants.
func SetTopics(teamID string, topics pending.Topics) table.Add {
	return table.Add{Key: headKey(teamID), Numbers: map[string]int64{topicsField: int64(topics)}}
}

var topicOf = map[string]pending.Topics{
	Authentication: pending.AboutAuthentication, Identity: pending.AboutIdentity, Configuration: pending.AboutConfiguration,
	Data: pending.AboutData, Activity: pending.AboutActivity,
}

// TopicOf returns the topic of a type of security events, 0 for an unknown type.
func TopicOf(t Type) pending.Topics { return topicOf[entries[t].Category] }

// notices returns what webhook endpoints may want to know about events, of which the type, the
// number and the times are set.
func notices(topics pending.Topics, events []Event) (all []pending.Notice) {
	for _, e := range events {
		n := pending.Notice{ID: e.ID(), Type: string(e.Type), At: e.RecordedAt.UnixMilli(), State: e.Outcome.Result}
		if n.State == "" {
			n.State = Success
		}
		n.About = append(n.About, pending.Target{Type: "securityEvent", ID: n.ID})
		for _, t := range e.Targets {
			if t.ID != "" && len(n.About) < pending.MaxTargets {
				n.About = append(n.About, pending.Target{Type: t.Type, ID: t.ID})
			}
		}
		if topics&TopicOf(e.Type) != 0 {
			all = append(all, n)
		}
		if e.Type == AnswerAsked && n.State != Unknown && topics&pending.AboutAnswers != 0 {
			n.ID += "/answer"
			n.Type, n.State, n.About = pending.AnswerCompleted, "complete", n.About[1:]
			if e.Outcome.Result == Failure {
				n.Type, n.State = pending.AnswerFailed, "failed"
			}
			all = append(all, n)
		}
	}
	return all
}
