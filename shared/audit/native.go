package audit

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// SchemaVersion is the version of Native. In 1.x, fields and types of events are added, never
// renamed or removed.
const SchemaVersion = "1.0"

// Native is an event in the form of the feed.
type Native struct {
	ID            string         `json:"id" doc:"Identifies the event, so use it to drop repeats. Ids sort in the order of the feed."`
	Sequence      int64          `json:"sequence" doc:"The position in the feed. Never repeats; numbers may be skipped."`
	SchemaVersion string         `json:"schemaVersion"`
	EventType     Type           `json:"eventType"`
	Category      string         `json:"category" enum:"authentication,identity,configuration,data,activity"`
	Severity      string         `json:"severity" enum:"informational,low,medium,high,critical"`
	Description   string         `json:"description"`
	OccurredAt    string         `json:"occurredAt" format:"date-time" doc:"When it happened."`
	RecordedAt    string         `json:"recordedAt" format:"date-time" doc:"When its number was claimed."`
	Outcome       NativeOutcome  `json:"outcome"`
	Actor         NativeActor    `json:"actor"`
	Targets       []NativeTarget `json:"targets" doc:"What the event affected, at most 100."`
	TargetCount   int            `json:"targetCount,omitempty" doc:"The number of targets, if there are more than 100."`
	Client        *NativeClient  `json:"client,omitempty"`
	Request       *NativeRequest `json:"request,omitempty"`
	Changes       []NativeChange `json:"changes,omitempty"`
	Team          NativeTeam     `json:"team"`
	OCSF          OCSFClass      `json:"ocsf"`

	Counts map[string]int64 `json:"counts,omitempty" doc:"Counts by name, such as the documents of a deleted collection or the calls of a day."`
}

// NativeOutcome is the result of an event.
type NativeOutcome struct {
	Result     string  `json:"result" enum:"success,failure,unknown"`
	Reason     *string `json:"reason" nullable:"true" doc:"The error code of a refusal."`
	StatusCode *int    `json:"statusCode" nullable:"true" doc:"The status of the reply to a refused request. Null for a success, which is recorded before its reply."`
}

// NativeActor is who caused an event.
type NativeActor struct {
	Type        string            `json:"type" enum:"user,team,scim,system"`
	ID          string            `json:"id,omitempty"`
	DisplayName string            `json:"displayName,omitempty"`
	Email       string            `json:"email,omitempty"`
	Credential  *NativeCredential `json:"credential,omitempty"`
}

// NativeCredential is how the actor authenticated.
type NativeCredential struct {
	Type string `json:"type" enum:"personal_key,team_key,scim_key,webhook_signature,session,agent_token"`
	ID   string `json:"id,omitempty"`
	Name string `json:"name,omitempty"`
}

// NativeTarget is a thing that an event affected.
type NativeTarget struct {
	Type        string `json:"type"`
	ID          string `json:"id"`
	DisplayName string `json:"displayName,omitempty"`
}

// NativeClient is where the request came from.
type NativeClient struct {
	IP        string `json:"ip,omitempty"`
	UserAgent string `json:"userAgent,omitempty"`
}

// NativeRequest is the request that caused the event.
type NativeRequest struct {
	ID     string `json:"id"`
	Method string `json:"method,omitempty"`
	Path   string `json:"path,omitempty" doc:"Without the query."`
}

// NativeChange is the value of one field before and after.
type NativeChange struct {
	Field string `json:"field"`
	From  any    `json:"from"`
	To    any    `json:"to"`
}

// NativeTeam names the team.
type NativeTeam struct {
	ID string `json:"id"`
}

// OCSFClass places an event in OCSF 1.8.0.
type OCSFClass struct {
	ClassUID    int `json:"class_uid"`
	CategoryUID int `json:"category_uid"`
	ActivityID  int `json:"activity_id"`
	TypeUID     int `json:"type_uid"`
}

// Native returns e in the form of the feed.
func (e Event) Native() Native {
	entry := e.entry()
	n := Native{ID: e.ID(), Sequence: e.Sequence, SchemaVersion: SchemaVersion, EventType: e.Type,
		Category: entry.Category, Severity: entry.Severity, Description: e.Description(),
		OccurredAt: formatTime(e.OccurredAt), RecordedAt: formatTime(e.RecordedAt),
		Outcome: NativeOutcome{Result: e.Outcome.Result}, Actor: e.nativeActor(),
		Targets: []NativeTarget{}, TargetCount: e.TargetCount, Counts: e.Counts, Team: NativeTeam{e.TeamID}, OCSF: e.class()}
	if e.Outcome.Reason != "" {
		n.Outcome.Reason = &e.Outcome.Reason
	}
	if e.Outcome.StatusCode != 0 {
		n.Outcome.StatusCode = &e.Outcome.StatusCode
	}
	for _, t := range e.Targets {
		n.Targets = append(n.Targets, NativeTarget(t))
	}
	if c := e.Origin.Client; c != (Client{}) {
		n.Client = &NativeClient{c.IP, c.UserAgent}
	}
	if r := e.Origin.Request; r.ID != "" {
		n.Request = &NativeRequest{r.ID, r.Method, r.Path}
	}
	for _, c := range e.Changes {
		n.Changes = append(n.Changes, NativeChange(c))
	}
	return n
}

func (e Event) nativeActor() NativeActor {
	a := e.Origin.Actor
	n := NativeActor{Type: a.kind(), ID: a.ID, DisplayName: a.DisplayName, Email: a.Email}
	if c := a.Credential; c.Type != "" {
		n.Credential = &NativeCredential{c.Type, c.ID, c.Name}
	}
	return n
}

func (a Actor) kind() string {
	if a.Type == "" {
		return ActorSystem
	}
	return a.Type
}

// name returns the actor's name for people.
func (a Actor) name() string {
	switch {
	case a.DisplayName != "":
		return a.DisplayName
	case a.Credential.Type == SessionCookie:
		return fmt.Sprintf("The session %q", a.Credential.Name)
	case a.Credential.Name != "":
		return fmt.Sprintf("The %s key %q", a.kind(), a.Credential.Name)
	case a.Credential.Type == WebhookSignature:
		return "A sender of webhooks"
	case a.kind() == ActorSystem:
		return "Docent"
	default:
		return "The " + a.kind() + " " + a.ID
	}
}

// Description returns one sentence about e: who did what to what.
func (e Event) Description() string {
	words := []string{e.Origin.Actor.name(), e.entry().phrase}
	switch n := max(e.TargetCount, len(e.Targets)); {
	case e.Type == KeyRejected: // its target is who was refused
		words = append(words, "("+e.Outcome.Reason+")")
	case n == 1, n > 1 && e.Targets[0].Type == TargetGroup:
		words = append(words, e.Targets[0].name())
	case n > 1:
		words = append(words, e.Targets[0].name(), "and "+strconv.Itoa(n-1)+" more")
	case e.Outcome.Reason != "":
		words = append(words, "("+e.Outcome.Reason+")")
	}
	return strings.Join(words, " ")
}

func (t Target) name() string {
	if t.DisplayName != "" {
		return strconv.Quote(t.DisplayName)
	}
	return t.ID
}

func formatTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }
