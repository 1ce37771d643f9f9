package httpapi

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"docent/shared/apierr"
	"docent/shared/audit"
	"docent/shared/quota"
	"docent/shared/table"
	"docent/shared/team"
	"docent/shared/usage"
)

// originOf is who makes the request r and how, as events tell it.
func originOf(r *http.Request, who team.Principal) audit.Origin {
	req := requestFrom(r.Context())
	ip := r.RemoteAddr
	if host, _, err := net.SplitHostPort(ip); err == nil {
		ip = host
	}
	o := audit.Origin{
		Client:  audit.Client{IP: ip, UserAgent: r.UserAgent()},
		Request: audit.Request{ID: req.id, Method: r.Method, Path: "/v1" + r.URL.Path, Route: strings.TrimPrefix(req.pattern, r.Method+" ")},
		Actor:   audit.Actor{ID: who.TeamID, Credential: audit.Credential{ID: who.KeyID, Name: who.KeyName}},
	}
	switch a := &o.Actor; who.Kind {
	case team.KindPersonal:
		a.Type, a.ID, a.DisplayName, a.Credential.Type = audit.ActorUser, who.UserID, who.UserName, audit.PersonalKey
	case team.KindSCIM:
		a.Type, a.Credential.Type = audit.ActorSCIM, audit.SCIMKey
	default:
		a.Type, a.Credential.Type = audit.ActorTeam, audit.TeamKey
	}
	return o
}

// observe counts an answered request and records its refusal. It runs when the
// reply is written, and never changes it.
func (s Services) observe(r *http.Request, status int, who team.Principal, notes *usage.Notes) {
	if who.TeamID == "" {
		return
	}
	var all sync.WaitGroup
	if s.Usage != nil {
		all.Go(func() { s.count(r.Context(), r, who, status, notes) })
	}
	if status == http.StatusForbidden || requestFrom(r.Context()).spent != nil {
		s.refused(r, who, status, nil)
	}
	all.Wait()
}

// refused records a refusal as an event; what fails of it is for the log.
func (s Services) refused(r *http.Request, who team.Principal, status int, err error) {
	if s.Events == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), recordFor)
	defer cancel()
	if err := s.refusal(r.WithContext(ctx), who, status, err); err != nil {
		s.Log.WarnContext(ctx, "refusal not recorded", "key", who.KeyID, "err", err)
	}
}

// recordFor bounds what recording a refusal may add to it.
const recordFor = 2 * time.Second

// refusal records that a known key was refused, at most once a minute for one
// reason and operation, or once a day for a quota. err is that of authentication,
// nil where that passed.
func (s Services) refusal(r *http.Request, who team.Principal, status int, err error) error {
	req := requestFrom(r.Context())
	event := audit.Event{Origin: originOf(r, who), Outcome: audit.Outcome{Result: audit.Failure, Reason: req.code, StatusCode: status}}
	var rejected *team.RejectedError
	var spent *quota.ExceededError
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
	case errors.As(err, &spent), req.spent != nil:
		return s.quotaSpent(r, who, event)
	case status == http.StatusForbidden && who.TeamID != "":
		event.Type = audit.AccessDenied
	default:
		return nil
	}
	subject := strings.Join([]string{who.KeyID, event.Outcome.Reason, req.route}, "#")
	return s.Events.Refused(r.Context(), who.TeamID, subject, event)
}

// quotaSpent records the first refusal of a quota on its Pacific day.
func (s Services) quotaSpent(r *http.Request, who team.Principal, event audit.Event) error {
	spent := requestFrom(r.Context()).spent
	if spent == nil || who.TeamID == "" {
		return nil
	}
	event.Type = audit.QuotaExceeded
	event.Targets = []audit.Target{{Type: audit.TargetQuota, ID: spent.Name}}
	name := string(audit.QuotaExceeded) + "#" + spent.Name + "#" + spent.Window.Date
	if spent.Name == quota.PATDay {
		name += "#" + who.KeyID
	}
	const remembered = 3 * 24 * time.Hour
	_, err := s.Events.Once(r.Context(), who.TeamID, name, remembered, event)
	return err
}

// countFor bounds what counting may add to a request.
const countFor = 250 * time.Millisecond

// count counts one request of a known key.
func (s Services) count(ctx context.Context, r *http.Request, who team.Principal, status int, notes *usage.Notes) {
	req := requestFrom(ctx)
	numbers, source := notes.Read()
	switch {
	case status >= 500:
		numbers[usage.Error]++
	case status >= 400:
		numbers[usage.Refused]++
	default:
		numbers[usage.OK]++
	}
	feature := featureOf(req.route)
	switch {
	case feature == usage.Answers && req.code == apierr.CodeQuotaExceeded && r.Method == http.MethodPut:
		numbers[usage.Rejected]++
	case req.route == "GET /answers/{questionId}":
		numbers[usage.Polled]++
	}
	call := usage.Call{At: req.arrived, Feature: feature, KeyID: who.KeyID, UserID: who.UserID, Client: clientOf(r), Numbers: numbers,
		Took: max(s.Now().Sub(req.arrived), time.Millisecond), Source: source}
	// The count is no part of the request's own cost and outlives its end.
	ctx, _ = table.WithMeter(context.WithoutCancel(ctx))
	ctx, cancel := context.WithTimeout(ctx, countFor)
	defer cancel()
	if uncertain, err := s.Usage.Count(ctx, who.TeamID, call); err != nil {
		s.Log.WarnContext(ctx, "usage not counted", "usage_adds_uncertain", uncertain, "err", err)
	}
}

// featureOf is the feature that a route belongs to.
func featureOf(route string) string {
	_, path, _ := strings.Cut(route, " /")
	area, rest, _ := strings.Cut(path, "/")
	switch area {
	case "collections", "documents", "answers", "usage", "scim":
		return area
	case "security-events":
		return usage.SecurityEvents
	case "context":
		return "context." + strings.ReplaceAll(rest, "/", ".")
	default:
		return usage.Admin
	}
}

// clientOf tells Docent's own clients apart from others.
func clientOf(r *http.Request) string {
	if strings.HasPrefix(r.UserAgent(), "docent/") {
		return usage.ClientCLI
	}
	return usage.ClientAPI
}
