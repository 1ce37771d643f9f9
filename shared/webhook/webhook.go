// Package webhook notifies a team's own servers of what happened: it keeps their addresses, the webhook
// endpoints, and delivers events to them by the Standard Webhooks specification.
//
// The Write that changes something also stores a pending Notice of it, if an endpoint of the team
// wants one (pending.Topics). A worker turns each notice into one delivery for each endpoint that wants its type. The
// deliveries of an endpoint are then made in turns. A lease lets only one process take a turn at a time, so a slow
// endpoint takes only one worker. A pending item of the endpoint
// stays until nothing waits, so a crash at any moment delays deliveries and loses none. An event
// may be delivered more than once, always under the same webhook-id.
package webhook

import (
	"context"
	"fmt"
	"slices"
	"time"

	"docent/shared/apierr"
	"docent/shared/audit"
	"docent/shared/pending"
	"docent/shared/table"
)

// Bounds of webhook endpoints. Lengths count Unicode code points, of a URL bytes.
const (
	MaxPerTeam     = 10
	MaxURL         = 2048
	MaxDescription = 200
)

// Fields are the members of a webhook endpoint that its owner sets.
type Fields struct {
	URL         string   `json:"url" format:"uri" minLength:"1" maxLength:"2048" doc:"Where events are sent: an https address on the public internet."`
	EventTypes  []string `json:"eventTypes" minItems:"1" maxItems:"100" doc:"What is sent: document.indexed, document.failed, answer.completed, answer.failed, source.failed, or a type of security events, for which a key with scopes needs audit too."`
	Description string   `json:"description,omitempty" maxLength:"200" doc:"What the endpoint is for."`
	Disabled    bool     `json:"disabled,omitempty" doc:"Nothing is sent, and what happens meanwhile is not sent later."`
}

// Endpoint is an address to which events of its types are delivered.
type Endpoint struct {
	ID string
	Fields
	DisabledReason DisabledReason
	CreatedAt      time.Time
	UpdatedAt      time.Time
	// PreviousSecretExpiresAt is until when the secret before the last rotation also signs.
	PreviousSecretExpiresAt *time.Time

	sealed []byte // its secrets
}

// DisabledReason says why an endpoint is disabled; empty: its owner did it, or it is not.
type DisabledReason string

// The reasons.
const (
	Failing DisabledReason = "failing" // nothing could be delivered for 3 days
	Gone    DisabledReason = "gone"    // it answered 410
)

// Types that are not security events, with the topic of each.
var own = map[string]pending.Topics{
	pending.DocumentIndexed: pending.AboutIndexed,
	pending.DocumentFailed:  pending.AboutUnindexed,
	pending.AnswerCompleted: pending.AboutAnswers,
	pending.AnswerFailed:    pending.AboutAnswers,
	pending.SourceFailed:    pending.AboutSources,
}

// TestEvent is the type of the event that Service.Test sends, to whatever endpoint.
const TestEvent = "webhook.test"

// EventTypes lists every type that an endpoint may have.
func EventTypes() []string {
	all := []string{pending.DocumentIndexed, pending.DocumentFailed, pending.AnswerCompleted, pending.AnswerFailed, pending.SourceFailed}
	for _, e := range audit.Catalogue {
		all = append(all, string(e.Type))
	}
	return all
}

// SendsSecurityEvents reports whether a change of an endpoint sends security events where it did not: to another
// address, or of a type that the endpoint did not have. For a new endpoint before is zero.
func SendsSecurityEvents(before, after Fields) bool {
	moved := before.URL != after.URL
	return slices.ContainsFunc(audit.Catalogue, func(e audit.Entry) bool {
		kind := string(e.Type)
		return slices.Contains(after.EventTypes, kind) && (moved || !slices.Contains(before.EventTypes, kind))
	})
}

// topics returns what the endpoints want together.
func topics(all []Endpoint) (t pending.Topics) {
	for _, e := range all {
		if e.Disabled {
			continue
		}
		for _, kind := range e.EventTypes {
			t |= own[kind] | audit.TopicOf(audit.Type(kind))
		}
	}
	return t
}

// wants reports whether events of the type are delivered to e.
func (e Endpoint) wants(kind string) bool { return !e.Disabled && slices.Contains(e.EventTypes, kind) }

// sends reports whether a delivery of the type that was made for e, perhaps long ago, may be posted to its address of now. A
// security event may only while e has its type: without, SendsSecurityEvents lets anybody choose the address.
func (e Endpoint) sends(kind string) bool {
	_, isOwn := own[kind]
	return isOwn || kind == TestEvent || slices.Contains(e.EventTypes, kind)
}

// Service holds the rules of webhook endpoints.
type Service struct {
	Table  table.Store
	Events *audit.Log // nil: nothing is recorded
	Outbox *pending.Outbox
	Now    func() time.Time
	NewID  func() string // time-ordered UUIDs
	// Seal encrypts secrets, Open decrypts them. Both bind them to about.
	Seal func(ctx context.Context, secrets []byte, about string) ([]byte, error)
	Open func(ctx context.Context, sealed []byte, about string) ([]byte, error)
	// CheckURL returns an error, which may be read by clients, for a URL that is never posted to.
	CheckURL func(url string) error
	BaseURL  string // of the API, without a slash at its end; links in events start with it
}

// Missing returns the error for an unknown endpoint id.
func Missing() *apierr.Error { return apierr.Missing("webhook endpoint") }

func (s *Service) now() time.Time { return s.Now().UTC().Truncate(time.Millisecond) }

// check returns a field error for members that are not allowed.
func (s *Service) check(f Fields) error {
	if len(f.URL) > MaxURL {
		return apierr.BadField("/url", "must have at most %d bytes", MaxURL)
	}
	if err := s.CheckURL(f.URL); err != nil {
		return apierr.BadField("/url", "%s", err)
	}
	if len(f.EventTypes) == 0 {
		return apierr.BadField("/eventTypes", "must have at least one type")
	}
	known := EventTypes()
	for i, kind := range f.EventTypes {
		if !slices.Contains(known, kind) {
			return apierr.BadField(fmt.Sprintf("/eventTypes/%d", i), "must be a type of event, such as %s", known[0])
		}
		if slices.Contains(f.EventTypes[:i], kind) {
			return apierr.BadField(fmt.Sprintf("/eventTypes/%d", i), "must not be there twice")
		}
	}
	return nil
}
