package audit

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"docent/shared/table"
)

// bucketSize is the number of slots in a partition.
const bucketSize = 10000

func headKey(teamID string) table.Key {
	return table.Key{Table: table.Events, Partition: teamID + "/head", Sort: "head"}
}

// Fields of the head: the last number claimed, and the last one past retention. For each gap, the
// field with its first number has its last one.
const (
	seqField     = "seq"
	trimmedField = "trimmed"
	gapPrefix    = "gap:"
)

// head is the state of a team's number counter.
type head struct {
	seq, trimmed int64
	gaps         gaps
}

func headFrom(item table.Item) head {
	h := head{seq: item.Numbers[seqField], trimmed: item.Numbers[trimmedField]}
	for name, last := range item.Numbers {
		if text, ok := strings.CutPrefix(name, gapPrefix); ok {
			if first, err := strconv.ParseInt(text, 10, 64); err == nil {
				h.gaps = append(h.gaps, gap{first, last})
			}
		}
	}
	slices.SortFunc(h.gaps, func(a, b gap) int { return cmp.Compare(a.first, b.first) })
	return h
}

// atField is when the event of a slot was recorded or a writer put its tombstone, in Unix
// milliseconds; 0 in a tombstone of a reader.
const atField = "at"

func bucketOf(n int64) int64 { return n / bucketSize }

func bucketPartition(teamID string, bucket int64) string {
	return teamID + "/" + strconv.FormatInt(bucket, 10)
}

func slotKey(teamID string, n int64) table.Key {
	return table.Key{Table: table.Events, Partition: bucketPartition(teamID, bucketOf(n)), Sort: table.Padded(n)}
}

// slot is the item of a number: an event or a tombstone.
type slot struct {
	number int64
	at     time.Time
	body   []byte // empty: a tombstone
}

func slotFrom(item table.Item) (slot, error) {
	n, err := strconv.ParseInt(item.Sort, 10, 64)
	if err != nil {
		return slot{}, fmt.Errorf("slot %q: %w", item.Sort, err)
	}
	return slot{n, time.UnixMilli(item.Numbers[atField]).UTC(), item.Body}, nil
}

func (s slot) isTombstone() bool { return len(s.body) == 0 }

// tombstone returns the operation that closes an empty number permanently.
func tombstone(teamID string, n int64, now time.Time) table.Put {
	return table.Put{
		Item: table.Item{Key: slotKey(teamID, n), Numbers: map[string]int64{atField: now.UnixMilli()}, Expires: now.Add(slotLife)},
		If:   table.Absent(),
	}
}

// stored is the body of an event's slot. The names are short, because writing up to 1 KB costs
// half as much as up to 2 KB. What the type determines is not stored.
type stored struct {
	Type        Type           `json:"t"`
	Occurred    int64          `json:"o"` // Unix milliseconds
	Result      string         `json:"r,omitempty"`
	Reason      string         `json:"w,omitempty"`
	Status      int            `json:"s,omitempty"`
	Actor       []string       `json:"a,omitempty"` // type, id, name, email, credential's type, id, name
	Client      []string       `json:"c,omitempty"` // address, user agent
	Request     []string       `json:"q,omitempty"` // id, method, path, route
	Targets     [][]string     `json:"g,omitempty"` // type, id, name
	TargetCount int            `json:"n,omitempty"`
	Changes     []storedChange `json:"d,omitempty"`

	Counts map[string]int64 `json:"k,omitempty"`
}

type storedChange struct {
	Field string `json:"f"`
	From  any    `json:"a,omitempty"`
	To    any    `json:"b,omitempty"`
}

// item returns the slot of e, whose number and time are set.
func (e Event) item() (table.Item, error) {
	e = e.bounded()
	s := stored{Type: e.Type, Occurred: e.OccurredAt.UnixMilli(), Reason: e.Outcome.Reason, Status: e.Outcome.StatusCode,
		TargetCount: e.TargetCount, Counts: e.Counts}
	if e.Outcome.Result != Success {
		s.Result = e.Outcome.Result
	}
	a, c, r := e.Origin.Actor, e.Origin.Client, e.Origin.Request
	s.Actor = trimTexts(a.Type, a.ID, a.DisplayName, a.Email, a.Credential.Type, a.Credential.ID, a.Credential.Name)
	s.Client = trimTexts(c.IP, c.UserAgent)
	if r.Route == r.Path {
		r.Route = ""
	}
	s.Request = trimTexts(r.ID, r.Method, r.Path, r.Route)
	for _, t := range e.Targets {
		s.Targets = append(s.Targets, trimTexts(t.Type, t.ID, t.DisplayName))
	}
	for _, c := range e.Changes {
		s.Changes = append(s.Changes, storedChange(c))
	}
	body, err := json.Marshal(s)
	if err != nil {
		return table.Item{}, fmt.Errorf("encode event %s: %w", e.Type, err)
	}
	return table.Item{Key: slotKey(e.TeamID, e.Sequence), Body: body,
		Numbers: map[string]int64{atField: e.RecordedAt.UnixMilli()}, Expires: e.RecordedAt.Add(slotLife)}, nil
}

// event decodes a slot that is not a tombstone.
func (s slot) event(teamID string) (Event, error) {
	var b stored
	if err := json.Unmarshal(s.body, &b); err != nil {
		return Event{}, fmt.Errorf("decode event %d: %w", s.number, err)
	}
	e := Event{Type: b.Type, OccurredAt: time.UnixMilli(b.Occurred).UTC(), TargetCount: b.TargetCount, Counts: b.Counts,
		Outcome: Outcome{b.Result, b.Reason, b.Status},
		TeamID:  teamID, Sequence: s.number, RecordedAt: s.at}
	if b.Result == "" {
		e.Outcome.Result = Success
	}
	a, c, r := padTexts(b.Actor, 7), padTexts(b.Client, 2), padTexts(b.Request, 4)
	e.Origin = Origin{
		Actor{a[0], a[1], a[2], a[3], Credential{a[4], a[5], a[6]}},
		Client{c[0], c[1]},
		Request{r[0], r[1], r[2], r[3]},
	}
	if e.Origin.Request.Route == "" {
		e.Origin.Request.Route = e.Origin.Request.Path
	}
	for _, t := range b.Targets {
		t = padTexts(t, 3)
		e.Targets = append(e.Targets, Target{t[0], t[1], t[2]})
	}
	for _, c := range b.Changes {
		e.Changes = append(e.Changes, Change(c))
	}
	return e, nil
}

// trimTexts returns texts without empty ones at the end.
func trimTexts(texts ...string) []string {
	for len(texts) > 0 && texts[len(texts)-1] == "" {
		texts = texts[:len(texts)-1]
	}
	return texts
}

// padTexts returns texts, padded to n.
func padTexts(texts []string, n int) []string {
	out := make([]string, n)
	copy(out, texts)
	return out
}
