package answer

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"docent/shared/audit"
	"docent/shared/pending"
	"docent/shared/table"
)

// deleted is the state of an id whose question and answer were erased. The id stays
// taken.
const deleted State = "deleted"

// Question ids are global, so a question's item is under its id alone.
func answerKey(questionID string) table.Key {
	return table.Key{Table: table.Answers, Partition: questionID, Sort: "answer"}
}

func teamList(teamID string) string { return teamID + "/list" }

func userList(teamID, userID string) string { return teamID + "/list/" + userID }

// stored is the body of an answer's item. Team, user and state are fields of the item,
// so that conditions see them.
type stored struct {
	Fields
	AskedAt int64    `json:"askedAt"`          // Unix milliseconds
	Origin  []string `json:"origin,omitempty"` // of the asking, packed
}

func toItem(a Answer) (table.Item, error) {
	body, err := json.Marshal(stored{a.Fields, a.AskedAt.UnixMilli(), a.origin.Packed()})
	if err != nil {
		return table.Item{}, fmt.Errorf("encode answer: %w", err)
	}
	return table.Item{Key: answerKey(a.QuestionID), Body: body,
		Strings: map[string]string{"team": a.TeamID, "user": a.UserID, "state": string(a.State)}}, nil
}

func fromItem(item table.Item) (Answer, error) {
	if item.Key == (table.Key{}) {
		return Answer{State: deleted}, nil
	}
	a := Answer{QuestionID: item.Partition, State: State(item.Strings["state"]),
		TeamID: item.Strings["team"], UserID: item.Strings["user"]}
	if a.State == deleted {
		return a, nil
	}
	var s stored
	if err := json.Unmarshal(item.Body, &s); err != nil {
		return Answer{}, fmt.Errorf("decode answer %s: %w", item.Partition, err)
	}
	a.Fields, a.AskedAt, a.origin = s.Fields, time.UnixMilli(s.AskedAt).UTC(), audit.UnpackOrigin(s.Origin)
	return a, nil
}

// listEntries returns the list entries of a: one for the team, and one for the user if
// a personal key asked.
func listEntries(a Answer) []table.Item {
	entry := table.Item{Key: table.Key{Table: table.Answers, Partition: teamList(a.TeamID),
		Sort: table.Inverted(a.AskedAt) + "#" + a.QuestionID}}
	if a.Sources != nil {
		entry.Strings = map[string]string{"sources": strings.Join(a.Sources, ",")}
	}
	entries := []table.Item{entry}
	if a.UserID != "" {
		entry.Partition = userList(a.TeamID, a.UserID)
		entries = append(entries, entry)
	}
	return entries
}

// entrySources returns the restriction of the key that asked, or nil.
func entrySources(entry table.Item) []string {
	joined, restricted := entry.Strings["sources"]
	if !restricted {
		return nil
	}
	return strings.FieldsFunc(joined, func(r rune) bool { return r == ',' })
}

// answerWork returns the work of answering a.
func answerWork(a Answer) pending.Work {
	return pending.Work{Kind: pending.AnswerQuestion, TeamID: a.TeamID, ID: a.QuestionID, At: a.AskedAt.UnixMilli()}
}

// ValidID reports whether id can be a question id: a lower-case UUID.
func ValidID(id string) bool {
	parsed, err := uuid.Parse(id)
	return err == nil && parsed.String() == id
}
