package webhook

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"docent/shared/apierr"
	"docent/shared/pending"
	"docent/shared/table"
)

// Status is the status of a delivery.
type Status string

// The statuses.
const (
	Waiting   Status = "waiting" // for its first or next attempt
	Delivered Status = "delivered"
	Failed    Status = "failed" // there is no further attempt, except a replay
)

// deliveryLife is how long a delivery can be read and replayed.
const deliveryLife = 30 * 24 * time.Hour

// expires returns when the items of d go: after deliveryLife, but not while the attempts of a replay may last.
func (d Delivery) expires() time.Time {
	end := d.At.Add(deliveryLife)
	if replay := d.replayed.Add(expireAfter + longestRetry); !d.replayed.IsZero() && replay.After(end) {
		end = replay
	}
	return end
}

// Delivery is one event for one endpoint.
type Delivery struct {
	ID      string // the webhook-id, the same on every attempt
	Type    string
	At      time.Time // when the event happened
	Status  Status
	Payload []byte // what is posted

	Attempts      int
	LastAttemptAt *time.Time
	LastStatus    int    // of the last reply; 0: none came
	LastError     string // one of the Reply errors; empty: a reply came
	NextAttemptAt *time.Time

	replayed time.Time // when it got all its attempts again; zero: never

	subject string // deliveries about one subject are made in their order, as far as they succeed
	notice  string // its id: those of events of one moment sort in the order of the events
	version int64
}

// storedDelivery is the body of a delivery's item.
type storedDelivery struct {
	Type     string          `json:"type"`
	At       int64           `json:"at"` // Unix milliseconds
	Status   Status          `json:"status"`
	Payload  json.RawMessage `json:"payload"`
	Subject  string          `json:"subject,omitempty"`
	Notice   string          `json:"notice,omitempty"`
	Replayed int64           `json:"replayed,omitempty"` // Unix milliseconds
	Attempts int             `json:"attempts,omitempty"`
	Last     int64           `json:"last,omitempty"` // Unix milliseconds of the last attempt
	Code     int             `json:"code,omitempty"`
	Error    string          `json:"error,omitempty"`
	Next     int64           `json:"next,omitempty"` // Unix milliseconds
}

func deliveryList(teamID, id string) string { return teamID + "/deliveries/" + id }

// deliveryID returns the id of the delivery of n to any endpoint of a team. Ids sort newest event
// first.
func deliveryID(teamID string, n pending.Notice) string {
	sum := sha256.Sum256([]byte(teamID + "\x00" + n.ID + "\x00" + n.Type))
	return "msg_" + table.Inverted(fromMillis(n.At)) + hex.EncodeToString(sum[:12])
}

func (d Delivery) item(teamID, endpoint string) (table.Item, error) {
	s := storedDelivery{Type: d.Type, At: d.At.UnixMilli(), Status: d.Status, Payload: d.Payload, Subject: d.subject, Notice: d.notice,
		Attempts: d.Attempts, Code: d.LastStatus, Error: d.LastError}
	if d.LastAttemptAt != nil {
		s.Last = d.LastAttemptAt.UnixMilli()
	}
	if d.NextAttemptAt != nil {
		s.Next = d.NextAttemptAt.UnixMilli()
	}
	if !d.replayed.IsZero() {
		s.Replayed = d.replayed.UnixMilli()
	}
	body, err := json.Marshal(s)
	if err != nil {
		return table.Item{}, fmt.Errorf("encode delivery: %w", err)
	}
	return table.Item{Key: table.Key{Table: table.Events, Partition: deliveryList(teamID, endpoint), Sort: d.ID},
		Version: d.version, Body: body, Expires: d.expires()}, nil
}

func deliveryFrom(item table.Item) (Delivery, error) {
	var s storedDelivery
	if err := json.Unmarshal(item.Body, &s); err != nil {
		return Delivery{}, fmt.Errorf("decode delivery: %w", err)
	}
	d := Delivery{ID: item.Sort, Type: s.Type, At: fromMillis(s.At), Status: s.Status, Payload: s.Payload, subject: s.Subject, notice: s.Notice,
		Attempts: s.Attempts, LastStatus: s.Code, LastError: s.Error, version: item.Version}
	if s.Last != 0 {
		at := fromMillis(s.Last)
		d.LastAttemptAt = &at
	}
	if s.Next != 0 {
		at := fromMillis(s.Next)
		d.NextAttemptAt = &at
	}
	if s.Replayed != 0 {
		d.replayed = fromMillis(s.Replayed)
	}
	return d, nil
}

// hasExpired reports whether d has waited too long and is given up. The time of a standstill does not count.
func (d Delivery) hasExpired(now time.Time, still standstill) bool {
	since := d.At
	if d.replayed.After(since) {
		since = d.replayed
	}
	return still.since(since, now) > expireAfter
}

// again returns d with all its attempts, the first one after pause.
func (d Delivery) again(now time.Time, pause time.Duration) Delivery {
	next := now.Add(pause)
	d.Status, d.Attempts, d.NextAttemptAt, d.replayed = Waiting, 0, &next, now
	return d
}

// waitingKey returns the key of the item by which a turn finds d, which waits.
func (d Delivery) waitingKey(teamID, endpoint string) table.Key {
	return table.Key{Table: table.Events, Partition: waitingList(teamID, endpoint), Sort: fmt.Sprintf("%013d#%s", d.NextAttemptAt.UnixMilli(), d.ID)}
}

func waitingList(teamID, id string) string { return teamID + "/waiting/" + id }

// wait returns the operation that makes d wait.
func (d Delivery) wait(teamID, endpoint string) table.Put {
	return table.Put{Item: table.Item{Key: d.waitingKey(teamID, endpoint), Version: 1, Expires: d.expires()}}
}

// flag is the work of making the deliveries of an endpoint. Its pending item is stored while any
// delivery waits. Every new delivery stores it again under another version.
func flag(teamID, id string) pending.Work {
	return pending.Work{Kind: pending.DeliverWebhooks, TeamID: teamID, ID: id}
}

// flagPut returns the operation that stores the pending item of flag under a new version.
func flagPut(teamID, id string) table.Put {
	put := flag(teamID, id).Promise()
	put.Item.Version = 1 + rand.Int64N(1<<62) //nolint:gosec // not a secret: it distinguishes writes
	return put
}

// payload is the body of a post. It names what the event is about and links to it, so that a
// reader of the endpoint sees nothing that the API would not give them.
type payload struct {
	Type      string `json:"type"`
	Timestamp string `json:"timestamp"`
	Data      data   `json:"data"`
}

type data struct {
	TeamID string           `json:"teamId"`
	IDs    []pending.Target `json:"ids"`
	State  string           `json:"state"`
	Link   string           `json:"link,omitempty"`
}

// newDelivery returns the delivery of a notice, due since it happened: so those that wait are made in
// the order of the events, whichever was announced first.
func (s *Service) newDelivery(teamID string, n pending.Notice, now time.Time) (Delivery, error) {
	at := fromMillis(n.At)
	p := payload{Type: n.Type, Timestamp: at.Format("2006-01-02T15:04:05.000Z"),
		Data: data{TeamID: teamID, IDs: n.About, State: n.State, Link: s.link(n)}}
	if p.Data.IDs == nil {
		p.Data.IDs = []pending.Target{}
	}
	body, err := json.Marshal(p)
	if err != nil {
		return Delivery{}, fmt.Errorf("encode event: %w", err)
	}
	due := now // clocks differ
	if at.Before(now) {
		due = at
	}
	return Delivery{ID: deliveryID(teamID, n), Type: n.Type, At: at, Status: Waiting, Payload: body,
		NextAttemptAt: &due, subject: subjectOf(n), notice: n.ID, version: 1}, nil
}

// subjectOf returns the id of what n is about; of a security event that is what it affected.
func subjectOf(n pending.Notice) string {
	for _, t := range n.About {
		if t.Type != securityEvent {
			return t.ID
		}
	}
	return ""
}

const securityEvent = "securityEvent"

// link returns the address in the API of what n is about, empty if it has none.
func (s *Service) link(n pending.Notice) string {
	if len(n.About) == 0 {
		return ""
	}
	switch id := n.About[0].ID; n.Type {
	case pending.DocumentIndexed, pending.DocumentFailed:
		return s.BaseURL + "/documents/" + id
	case pending.AnswerCompleted, pending.AnswerFailed:
		return s.BaseURL + "/answers/" + id
	case pending.SourceFailed:
		return s.BaseURL + "/data-sources"
	case TestEvent:
		return s.BaseURL + "/webhook-endpoints/" + id
	default:
		return s.BaseURL + "/security-events"
	}
}

// Deliveries returns the window w of the deliveries of an endpoint, newest event first.
func (s *Service) Deliveries(ctx context.Context, teamID, id string, w table.Window) (table.Slice[Delivery], error) {
	if _, err := s.get(ctx, teamID, id); err != nil {
		return table.Slice[Delivery]{}, err
	}
	slice, err := table.ReadWindow(ctx, s.Table, table.Events, deliveryList(teamID, id), w, func(item table.Item) (Delivery, bool, error) {
		d, err := deliveryFrom(item)
		return d, true, err
	})
	if err != nil {
		return slice, fmt.Errorf("list deliveries: %w", err)
	}
	return slice, nil
}

// Test makes a delivery of a TestEvent to an endpoint, whatever its types.
func (s *Service) Test(ctx context.Context, teamID, id string) (Delivery, error) {
	e, err := s.enabled(ctx, teamID, id)
	if err != nil {
		return Delivery{}, err
	}
	now := s.now()
	d, err := s.newDelivery(teamID, pending.Notice{ID: "test/" + s.NewID(), Type: TestEvent, At: now.UnixMilli(), State: "test",
		About: []pending.Target{{Type: "webhookEndpoint", ID: e.ID}}}, now)
	if err != nil {
		return d, err
	}
	item, err := d.item(teamID, id)
	if err != nil {
		return d, err
	}
	return d, s.start(ctx, teamID, id, table.Put{Item: item, If: table.Absent()}, d.wait(teamID, id))
}

// enabled returns an endpoint that is not disabled.
func (s *Service) enabled(ctx context.Context, teamID, id string) (Endpoint, error) {
	e, err := s.get(ctx, teamID, id)
	if err == nil && e.Disabled {
		err = apierr.New(apierr.Conflict, apierr.CodeWebhookEndpointDisabled, "This webhook endpoint is disabled. Enable it first.")
	}
	return e, err
}

// start stores deliveries of an endpoint and starts a turn of it.
func (s *Service) start(ctx context.Context, teamID, id string, ops ...table.Op) error {
	if err := s.Table.Write(ctx, append(ops, flagPut(teamID, id))...); err != nil {
		return fmt.Errorf("store a delivery: %w", err)
	}
	s.Outbox.Send(ctx, flag(teamID, id))
	return nil
}

// Replay makes a delivery again at once, under the same id and with all its attempts, whether it
// was made, failed or waits. It returns a Missing error for an unknown one.
func (s *Service) Replay(ctx context.Context, teamID, id, delivery string) (Delivery, error) {
	if _, err := s.enabled(ctx, teamID, id); err != nil {
		return Delivery{}, err
	}
	for {
		d, err := s.find(ctx, teamID, id, delivery)
		if err != nil {
			return d, err
		}
		var ops []table.Op
		if d.Status == Waiting {
			ops = append(ops, table.Delete{Key: d.waitingKey(teamID, id)})
		}
		now := s.now()
		if d.Status == Waiting && d.NextAttemptAt.Equal(now) {
			return d, nil
		}
		before := d.version
		d = d.again(now, 0)
		d.version++
		item, err := d.item(teamID, id)
		if err != nil {
			return d, err
		}
		ops = append(ops, table.Put{Item: item, If: table.VersionIs(before)}, d.wait(teamID, id))
		if err = s.start(ctx, teamID, id, ops...); table.AsConditionFailed(err) == nil {
			return d, err
		}
	}
}

// find returns a delivery, or a Missing error.
func (s *Service) find(ctx context.Context, teamID, id, delivery string) (Delivery, error) {
	missing := apierr.Missing("delivery")
	key := table.Key{Table: table.Events, Partition: deliveryList(teamID, id), Sort: delivery}
	if key.Check() != nil {
		return Delivery{}, missing
	}
	item, err := s.Table.Get(ctx, key)
	if errors.Is(err, table.ErrNotFound) {
		return Delivery{}, missing
	}
	if err != nil {
		return Delivery{}, fmt.Errorf("read delivery: %w", err)
	}
	return deliveryFrom(item)
}
