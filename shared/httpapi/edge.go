package httpapi

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"regexp"
	"runtime/debug"
	"strings"
	"time"

	"docent/shared/apierr"
	"docent/shared/audit"
	"docent/shared/rate"
	"docent/shared/table"
	"docent/shared/team"
	"docent/shared/usage"
)

var echoable = regexp.MustCompile(`^[A-Za-z0-9._-]{1,128}$`)

// edge wraps the operations in the steps of every request: request id, recover, log
// line, authentication, counting, and the replies to unknown paths and methods.
func (s Services) edge(operations *mux) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		req := &request{id: requestIDOf(r), arrived: s.Now(), begun: time.Now(), host: r.Host, chat: isChat(r.URL.Path)}
		ctx, meter := table.WithMeter(context.WithValue(r.Context(), requestKey{}, req))
		ctx, notes := usage.WithNotes(ctx)
		if r.Method == http.MethodDelete {
			ctx = table.Freeing(ctx)
		}
		r = r.WithContext(ctx)
		joinLists(r.Header)
		if r.ContentLength != 0 { // until it is decided whether the body is read
			_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(grace))
		}
		reply := &reply{ResponseWriter: w, request: req, r: r}
		req.reply, req.cost = reply, meter
		s.allowToolsOrigin(w.Header(), r)
		defer reply.end()
		defer func() { s.finish(reply, recover()) }()
		if err := checkHeaders(r.Method, r.Header); err != nil {
			writeError(reply, r, err)
		} else if pattern := operations.pattern(r); s.needsNoKey(operations, r, pattern) {
			s.serveWithoutKey(operations, reply, pattern)
		} else {
			s.serveWithKey(operations, reply, pattern, notes)
		}
	})
}

// finish sends the reply, and counts and logs the request. A panic of the operation becomes a reply.
func (s Services) finish(reply *reply, panicked any) {
	req := reply.request
	if panicked != nil {
		if err, ok := panicked.(error); ok && errors.Is(err, http.ErrAbortHandler) {
			panic(panicked) // net/http's way to close a connection
		}
		req.cause = fmt.Errorf("panic: %v\n%s", panicked, debug.Stack())
		reply.forget()
		writeError(reply, reply.r, apierr.New(apierr.Internal, apierr.CodeInternal, ""))
	}
	reply.events.close()
	defer req.counted.expect()()
	reply.send()
	s.observe(reply.r, reply.status, req.who, req.counted)
	s.log(reply.r, reply, req.who, req.cost.Read())
}

// needsNoKey reports whether r is served without a key: by an operation that needs none, as a preflight, or to say that its method is
// wrong where no key makes it right.
func (s Services) needsNoKey(operations *mux, r *http.Request, pattern string) bool {
	if !isClean(r.URL.Path) {
		return false
	}
	return isSigned(pattern) || isOpen(pattern) || s.isPreflight(r) || pattern == "" && operations.allOpen(r)
}

func (s Services) serveWithoutKey(operations *mux, reply *reply, pattern string) {
	req, r := reply.request, reply.r
	req.pattern = pattern
	req.account = operations.addressAccount(r)
	reply.charge(req.account)
	s.route(operations, reply, r.WithContext(audit.WithOrigin(r.Context(), senderOf(r, pattern))))
	if req.refused != nil {
		s.recordRefusal(r, req.refusedWho, reply.status, req.refused)
	}
}

func (s Services) serveWithKey(operations *mux, reply *reply, pattern string, notes *usage.Notes) {
	req, r := reply.request, reply.r
	authentication, err := s.authenticate(r, pattern)
	if err != nil {
		req.refusedWho = authentication.Principal
		s.refuse(reply, r, err)
		s.recordRefusal(r, authentication.Principal, reply.status, err)
		return
	}
	req.pattern = pattern // which actFor records
	who, err := s.actFor(r, authentication.Principal, reads(pattern))
	req.who, req.recheck = who, func(ctx context.Context) (team.Principal, error) { return s.recheck(ctx, r, who) }
	req.account = operations.teamAccount(who.TeamID)
	reply.charge(req.account)
	req.counted = s.beginCounting(r, who, notes)
	for _, state := range authentication.Quotas {
		req.addQuota(state)
	}
	defer s.recordUse(r.Context(), who, req.cost)()
	if err == nil {
		err = s.permit(r, who, pattern)
	}
	if err != nil {
		req.route = pattern // it was found, and is what was refused
		writeError(reply, r, err)
		return
	}
	s.route(operations, reply, r.WithContext(audit.WithOrigin(team.WithPrincipal(r.Context(), who), originOf(r, who))))
	s.sayWhere(reply.Header(), r)
	s.checkAgain(reply, r)
}

// permit returns an error if who may not use the operation of pattern, whatever the request says.
func (s Services) permit(r *http.Request, who team.Principal, pattern string) error {
	if who.Kind == team.KindAgent && pattern != "" && !agentMay(pattern) {
		return apierr.New(apierr.Forbidden, apierr.CodeWrongKeyKind, "The token of an agent works only at %s.", mcpPath)
	}
	if err := requireProvisioning(who, r.URL.Path, pattern); err != nil {
		return err
	}
	if err := requireScope(who, r.URL.Path, pattern); err != nil {
		return err
	}
	return s.requireFullKey(r.Context(), who, pattern)
}

// recordUse records that the key of who is used, and settles its rate, while the request runs. At the end of the request call the function
// that it returns, which charges what the request has cost, and waits for all.
func (s Services) recordUse(ctx context.Context, who team.Principal, cost *table.Meter) (end func()) {
	touched := s.Teams.StartTouching(ctx, who)
	settled := []func() error{s.Rates.StartSettling(ctx, who.TeamID, who.KeyID)}
	return func() {
		if extra := rate.Extra(cost.Read()); s.Rates != nil && extra != 0 {
			s.Rates.Charge(who.TeamID, who.KeyID, extra)
			settled = append(settled, s.Rates.StartSettling(ctx, who.TeamID, who.KeyID))
		}
		for _, wait := range settled {
			if err := wait(); err != nil {
				s.Log.WarnContext(ctx, "rate not settled", "key", who.KeyID, "err", err)
			}
		}
		s.noteUse(ctx, who, touched())
	}
}

// used records the last use of the key of who.
func (s Services) used(ctx context.Context, who team.Principal) {
	s.noteUse(ctx, who, s.Teams.Touch(ctx, who))
}

// noteUse logs err, if the last use of the key of who was not recorded because of it.
func (s Services) noteUse(ctx context.Context, who team.Principal, err error) {
	if err != nil {
		s.Log.WarnContext(ctx, "last use not recorded", "key", who.KeyID, "err", err)
	}
}

// authenticate takes the key from the Authorization header (RFC 6750 section 2.1), or else the
// session from the cookie.
func (s Services) authenticate(r *http.Request, pattern string) (team.Authentication, error) {
	var options []team.Option
	if reads(pattern) {
		options = append(options, team.Reading)
	}
	if text, ok, err := s.session(r); ok || err != nil {
		if err != nil {
			return team.Authentication{}, err
		}
		return s.Teams.AuthenticateSession(r.Context(), text, options...)
	}
	scheme, key, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return team.Authentication{}, apierr.New(apierr.Unauthenticated, apierr.CodeUnauthorized, unauthorizedDetail)
	}
	key = strings.TrimSpace(key)
	if r.Method == http.MethodOptions {
		return s.Teams.Identify(r.Context(), key)
	}
	return s.Teams.Authenticate(r.Context(), key, options...)
}

// recheck returns who as of now, or an error if the key or session of r no longer makes it the request of who.
func (s Services) recheck(ctx context.Context, r *http.Request, who team.Principal) (team.Principal, error) {
	text, ok, err := s.session(r)
	if err != nil {
		return team.Principal{}, err
	}
	if !ok {
		_, text, _ = strings.Cut(r.Header.Get("Authorization"), " ")
	}
	return s.Teams.Recheck(ctx, strings.TrimSpace(text), who)
}

// withCallerNow returns ctx with the caller as of now, if the request of ctx has waited, such as for its body: a client can
// make that last for minutes. It returns an error if the caller may no longer make the request. It is called before the operation.
func withCallerNow(ctx context.Context) (context.Context, error) {
	req := requestFrom(ctx)
	if req.recheck == nil || time.Since(req.begun) < recheckFirst {
		return ctx, nil
	}
	now, err := req.recheck(ctx)
	if err != nil && !apierr.IsCode(err, apierr.CodeAccessChanged) { // nothing was read before
		return ctx, withdrawn(err)
	}
	return team.WithPrincipal(ctx, now), nil
}

// checkAgain replaces a reply that shows something if its caller may no longer be answered. A stream checks that itself,
// and a reply that was fast is as good as the check before it.
func (s Services) checkAgain(reply *reply, r *http.Request) {
	if !shows(reply.request.pattern) || reply.events != nil || reply.status >= http.StatusBadRequest || s.Now().Sub(reply.request.arrived) < recheckFirst {
		return
	}
	if err := refusedNow(r.Context()); err != nil {
		reply.forget()
		s.refuse(reply, r, err)
	}
}

// refuse replies that the caller of r may not be answered.
func (s Services) refuse(reply *reply, r *http.Request, err error) {
	writeError(reply, r, err)
	s.sayWhere(reply.Header(), r)
}

// sayWhere adds to the headers of a refusal of r, if another key is needed, where a program gets one.
func (s Services) sayWhere(h http.Header, r *http.Request) {
	if h.Get("WWW-Authenticate") != "" {
		h.Set("WWW-Authenticate", s.challenge(r.URL.Path, len(r.Header.Values("Authorization")) > 0))
	}
}

// log writes the one line of a request: no bodies, no keys, no question text.
func (s Services) log(r *http.Request, reply *reply, who team.Principal, cost table.Cost) {
	took := s.Now().Sub(reply.request.arrived)
	if who.TeamID == "" {
		who = reply.request.refusedWho
	}
	attributes := []slog.Attr{
		slog.String("requestId", reply.request.id), slog.String("method", r.Method), slog.String("route", reply.request.route),
		slog.Int("status", reply.status), slog.Float64("ms", float64(took.Microseconds())/1000),
		slog.String("team", who.TeamID), slog.String("key", who.KeyID), slog.Int("roundTrips", cost.RoundTrips),
	}
	if reply.request.cause != nil {
		attributes = append(attributes, slog.String("err", reply.request.cause.Error()))
	}
	if s.Metrics != nil {
		attributes = append(attributes, s.Metrics(Served{reply.request.arrived, reply.request.route, reply.status, reply.request.code, took})...)
	}
	s.Log.LogAttrs(r.Context(), levelOf(r.Context(), reply.request.cause), "request", attributes...)
}

// levelOf returns the level of a request's log line. Error is for an operator: not for a
// client that disconnected, and not for a write conflict, after which the client retries.
func levelOf(ctx context.Context, cause error) slog.Level {
	switch {
	case cause == nil, errors.Is(ctx.Err(), context.Canceled):
		return slog.LevelInfo
	case errors.Is(cause, table.ErrConflict):
		return slog.LevelWarn
	default:
		return slog.LevelError
	}
}
