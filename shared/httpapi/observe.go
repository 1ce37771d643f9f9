package httpapi

import (
	"cmp"
	"context"
	"errors"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"docent/shared/apierr"
	"docent/shared/audit"
	"docent/shared/quota"
	"docent/shared/team"
	"docent/shared/usage"
)

// originOf returns the origin of the request r for events.
func originOf(r *http.Request, who team.Principal) audit.Origin {
	req := requestFrom(r.Context())
	ip := r.RemoteAddr
	if host, _, err := net.SplitHostPort(ip); err == nil {
		ip = host
	}
	o := audit.Origin{
		Client:  audit.Client{IP: ip, UserAgent: r.UserAgent()},
		Request: audit.Request{ID: req.id, Method: r.Method, Path: "/v1" + r.URL.Path, Route: strings.TrimPrefix(cmp.Or(req.route, req.pattern), r.Method+" ")},
		Actor:   audit.Actor{ID: who.TeamID, Credential: audit.Credential{ID: who.KeyID, Name: who.KeyName}},
	}
	switch a := &o.Actor; who.Kind {
	case team.KindPersonal:
		a.Type, a.ID, a.DisplayName, a.Credential.Type = audit.ActorUser, who.UserID, who.UserName, audit.PersonalKey
	case team.KindSession:
		a.Type, a.ID, a.DisplayName, a.Credential.Type = audit.ActorUser, who.UserID, who.UserName, audit.SessionCookie
	case team.KindAgent:
		a.Type, a.ID, a.DisplayName, a.Credential.Type = audit.ActorUser, who.UserID, who.UserName, audit.AgentToken
	case team.KindSCIM:
		a.Type, a.Credential.Type = audit.ActorSCIM, audit.SCIMKey
	default:
		a.Type, a.Credential.Type = audit.ActorTeam, audit.TeamKey
	}
	return o
}

// senderOf returns the origin of a request without a key: of a delivery to a webhook, which has
// a signature and no user, or of a sign-in, whose user is not known yet.
func senderOf(r *http.Request, pattern string) audit.Origin {
	o := originOf(r, team.Principal{})
	o.Actor = audit.Actor{}
	if isSigned(pattern) {
		o.Actor.Credential.Type = audit.WebhookSignature
	}
	return o
}

// observe counts an answered request and records its refusal. It runs after the reply is
// written, and never changes it.
func (s Services) observe(r *http.Request, status int, who team.Principal, count *counting) {
	if who.TeamID == "" {
		return
	}
	req := requestFrom(r.Context())
	status = cmp.Or(req.tool, status)
	if status != http.StatusForbidden && req.exceeded == nil && !isFailedProvisioning(req, who, status) {
		count.end(status)
		return
	}
	var both sync.WaitGroup
	both.Go(func() { count.end(status) })
	s.recordRefusal(r, who, status, nil)
	both.Wait()
}

// isFailedProvisioning reports whether a request of an identity provider, or an operation of it,
// was wrong. Its admin finds no trace of that at most providers.
func isFailedProvisioning(req *request, who team.Principal, status int) bool {
	return who.Kind == team.KindSCIM && (isWrong(status) || req.operation != nil)
}

// isWrong reports whether a status of the SCIM area says that the request cannot succeed as it is.
func isWrong(status int) bool {
	return status == http.StatusBadRequest || status == http.StatusConflict
}

// recordRefusal records a refusal as an event. A failure to do so is logged.
func (s Services) recordRefusal(r *http.Request, who team.Principal, status int, err error) {
	if s.Events == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), recordFor)
	defer cancel()
	if err := s.writeRefusalEvent(r.WithContext(ctx), who, status, err); err != nil {
		s.Log.WarnContext(ctx, "refusal not recorded", "key", who.KeyID, "err", err)
	}
}

// recordFor is the maximum time to record a refusal.
const recordFor = 2 * time.Second

// writeRefusalEvent records that a known key was refused, at most once a minute for one
// reason and operation, or once a day for a quota. err is the error of
// authentication, or nil.
func (s Services) writeRefusalEvent(r *http.Request, who team.Principal, status int, err error) error {
	req := requestFrom(r.Context())
	event := audit.Event{Origin: originOf(r, who), Outcome: audit.Outcome{Result: audit.Failure, Reason: req.code, StatusCode: status}}
	var rejected *team.RejectedError
	var exceeded *quota.ExceededError
	switch {
	case errors.As(err, &rejected):
		k := rejected.Key
		who = team.Principal{TeamID: k.TeamID, KeyID: k.ID, KeyName: k.Name, Kind: k.Kind}
		if k.UserID != nil {
			who.UserID = *k.UserID
		}
		event.Origin = originOf(r, who)
		event.Type, event.Outcome.Reason = audit.KeyRejected, rejected.Reason
		event.Targets = []audit.Target{{Type: audit.TargetAPIKey, ID: k.ID, DisplayName: k.Name}}
		if k.Kind == team.KindSession {
			event.Targets[0].Type = audit.TargetSession
		}
	case errors.As(err, &exceeded), req.exceeded != nil:
		return s.writeQuotaEvent(r, who, event)
	case status == http.StatusForbidden && who.TeamID != "":
		event.Type = audit.AccessDenied
	case isFailedProvisioning(req, who, status):
		event.Type = audit.SCIMRequestFailed
		if e := req.operation; e != nil {
			event.Outcome.Reason, event.Outcome.StatusCode = e.Type, e.Status
		}
	default:
		return nil
	}
	subject := strings.Join([]string{who.KeyID, event.Outcome.Reason, req.route}, "#")
	return s.Events.RecordRefusal(r.Context(), who.TeamID, subject, event)
}

// writeQuotaEvent records the first refusal of a quota on its Pacific day.
func (s Services) writeQuotaEvent(r *http.Request, who team.Principal, event audit.Event) error {
	exceeded := requestFrom(r.Context()).exceeded
	if exceeded == nil || who.TeamID == "" {
		return nil
	}
	event.Type = audit.QuotaExceeded
	event.Targets = []audit.Target{{Type: audit.TargetQuota, ID: exceeded.Name}}
	name := string(audit.QuotaExceeded) + "#" + exceeded.Name + "#" + exceeded.Window.Date
	if exceeded.Name == quota.PATDay {
		name += "#" + who.KeyID
	}
	const remembered = 3 * 24 * time.Hour
	_, err := s.Events.Once(r.Context(), who.TeamID, name, remembered, event)
	return err
}

// counting counts one request.
type counting struct {
	Services
	r     *http.Request
	who   team.Principal
	notes *usage.Notes

	mu    sync.Mutex // calls of an agent run in parallel with its request
	ended bool
	tally *usage.Tally // of a request that was counted while it was in progress
}

// beginCounting lets the request be counted as soon as its outcome is known, while it is
// still handled.
func (s Services) beginCounting(r *http.Request, who team.Principal, notes *usage.Notes) *counting {
	c := &counting{Services: s, r: r, who: who, notes: notes}
	if s.Usage != nil {
		notes.OnOutcomeKnown(func() {
			c.mu.Lock()
			defer c.mu.Unlock()
			if call := c.call(); !c.ended {
				call.Numbers[usage.OK]++
				c.tally = s.Usage.Begin(r.Context(), who.TeamID, call)
			}
		})
	}
	return c
}

// call returns the usage of the request without its outcome.
func (c *counting) call() usage.Call {
	req, noted := requestFrom(c.r.Context()), c.notes.Read()
	if req.route == "GET /answers/{questionId}" {
		noted.Numbers[usage.Polled]++
	}
	route := cmp.Or(req.route, c.r.Method+" "+c.r.URL.Path) // of a path or method that does not exist
	return usage.Call{At: req.arrived, Feature: cmp.Or(noted.Feature, featureOf(route)), KeyID: c.who.KeyID, UserID: c.who.UserID,
		Client: c.client(), Numbers: noted.Numbers, Source: noted.Source}
}

func (c *counting) client() string {
	if c.who.Kind == team.KindSession {
		return usage.ClientDashboard
	}
	return usage.ClientOf(c.r.UserAgent(), strings.TrimPrefix(requestFrom(c.r.Context()).route, c.r.Method+" "))
}

// expect makes reports wait until the request is counted, since its reply is sent earlier.
func (c *counting) expect() (done func()) {
	if c == nil || c.Usage == nil {
		return func() {}
	}
	return c.Usage.Expect(c.who.TeamID)
}

// end counts the request by its outcome, unless it is already counted.
func (c *counting) end(status int) {
	if c == nil || c.Usage == nil {
		return
	}
	c.mu.Lock()
	c.ended = true
	c.mu.Unlock()
	req, call := requestFrom(c.r.Context()), c.call()
	switch {
	case status >= 500:
		call.Numbers[usage.Error]++
	case status >= 400:
		call.Numbers[usage.Refused]++
	default:
		call.Numbers[usage.OK]++
	}
	if call.Feature == usage.Answers && req.code == apierr.CodeQuotaExceeded && c.r.Method != http.MethodGet {
		call.Numbers[usage.Rejected]++
	}
	call.Latency = max(c.Now().Sub(req.arrived), time.Millisecond)
	var uncertain int
	var err error
	if c.tally != nil {
		uncertain, err = c.tally.End(call.Numbers, call.Latency)
	} else {
		uncertain, err = c.Usage.Count(c.r.Context(), c.who.TeamID, call)
	}
	if err != nil {
		c.Log.WarnContext(c.r.Context(), "usage not counted", "usage_adds_uncertain", uncertain, "err", err)
	}
}

// foreseeable reports whether only the number of requests of this route is counted, so
// that a request can be counted at its start.
func foreseeable(route string) bool {
	switch featureOf(route) {
	case usage.Documents, usage.Answers:
		return strings.HasPrefix(route, "GET ")
	case usage.Collections, usage.SCIM, usage.SecurityEvents, usage.Usage:
		return true
	case usage.Admin:
		return route != "POST "+mcpPath
	}
	return false
}

// featureOf returns the feature that a route, or a method and a path, belongs to: administration if no other does.
func featureOf(route string) string {
	_, path, _ := strings.Cut(route, " /")
	area, rest, _ := strings.Cut(path, "/")
	switch area {
	case "collections", "documents", "answers", "usage", "scim":
		return area
	case "security-events":
		return usage.SecurityEvents
	case "uploads":
		return usage.Documents
	case "chat", "responses":
		return usage.Answers
	case "context":
		if feature := "context." + strings.ReplaceAll(rest, "/", "."); slices.Contains(usage.Features, feature) {
			return feature
		}
	}
	return usage.Admin
}
