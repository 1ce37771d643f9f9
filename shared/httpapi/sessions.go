package httpapi

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"docent/shared/apierr"
	"docent/shared/team"
)

// openPatterns are the operations without a key: they sign in. The address of an upload is not an operation, and has a
// secret of its own.
var openPatterns = []string{"POST /sessions"}

// isOpen reports whether the operation at pattern requires no key.
func isOpen(pattern string) bool {
	return slices.Contains(openPatterns, pattern) || pattern == uploadPattern || isSignOn(pattern) || slices.Contains(oauthPatterns, pattern)
}

// sessions has the operations with which a person signs in and out.
type sessions struct{ Services }

// currentSession stands for the id of the session that makes the request.
const currentSession = "current"

func (h *sessions) routes(api huma.API) {
	tags := []string{"Sessions"}
	register(api, huma.Operation{OperationID: "signIn", Method: http.MethodPost, Path: "/sessions",
		Summary: "Sign in with a one-time code or a personal key; the reply sets the session's cookie",
		Tags:    tags, DefaultStatus: http.StatusCreated, Security: []map[string][]string{{}}}, h.signIn)
	register(api, huma.Operation{OperationID: "listSessions", Method: http.MethodGet, Path: "/sessions",
		Summary: "List the user's sessions, newest first", Tags: tags}, h.listSessions)
	register(api, huma.Operation{OperationID: "endSession", Method: http.MethodDelete, Path: "/sessions/{sessionId}",
		Summary: "End a session of the user", Tags: tags, DefaultStatus: http.StatusNoContent, Errors: []int{404}}, h.endSession)
	register(api, huma.Operation{OperationID: "endSessions", Method: http.MethodDelete, Path: "/sessions",
		Summary: "End all sessions of the user: sign out everywhere", Tags: tags, DefaultStatus: http.StatusNoContent}, h.endSessions)
}

// SessionBody describes a session.
type SessionBody struct {
	ID         string      `json:"id"`
	Name       string      `json:"name" doc:"The browser."`
	SignIn     team.SignIn `json:"signIn" enum:"link,key,saml,oidc" doc:"How it was opened."`
	Current    bool        `json:"current" doc:"It makes this request."`
	CreatedAt  string      `json:"createdAt" format:"date-time"`
	ExpiresAt  string      `json:"expiresAt" format:"date-time" doc:"It ends earlier after an hour without a request."`
	LastUsedAt *string     `json:"lastUsedAt" nullable:"true" format:"date-time" doc:"To the minute."`
}

func sessionOf(s team.Session, current string) SessionBody {
	return SessionBody{ID: s.ID, Name: s.Name, SignIn: s.SignIn, Current: s.ID == current, CreatedAt: formatTime(s.CreatedAt),
		ExpiresAt: formatTime(s.ExpiresAt), LastUsedAt: timeOrNull(s.LastUsedAt)}
}

type signInInput struct {
	UserAgent string `header:"User-Agent" hidden:"true"`
	Site      string `header:"Sec-Fetch-Site" hidden:"true"`
	Body      struct {
		Credential string `json:"credential" minLength:"1" maxLength:"200" doc:"A personal key, or the code of a link of docent signin."`
	}
}

type signInOutput struct {
	SetCookie string `header:"Set-Cookie"`
	Body      SessionBody
}

func (h *sessions) signIn(ctx context.Context, in *signInInput) (*signInOutput, error) {
	if in.Site != "" && in.Site != "same-origin" {
		return nil, apierr.New(apierr.Forbidden, apierr.CodeCrossOrigin, "Only the dashboard's own pages can sign in.")
	}
	if _, err := h.setSession(ctx, "-", 0); err != nil {
		return nil, err
	}
	var s team.Session
	var secret string
	var who team.Principal
	var err error
	if credential := strings.TrimSpace(in.Body.Credential); strings.HasPrefix(credential, "docent_") {
		if s, secret, who, err = h.Teams.SignInWithKey(ctx, credential, browserOf(in.UserAgent)); err == nil {
			h.used(ctx, who)
		}
	} else {
		s, secret, who, err = h.Teams.SignInWithLink(ctx, credential, browserOf(in.UserAgent))
	}
	if err != nil {
		req := requestFrom(ctx)
		req.refused, req.refusedWho = err, who
		return nil, err
	}
	cookie, err := h.setSession(ctx, secret, team.SessionLife)
	if err != nil {
		return nil, err
	}
	return &signInOutput{cookie, sessionOf(s, s.ID)}, nil
}

// person returns the principal of the request if it is a user's.
func person(ctx context.Context) (team.Principal, error) {
	p, err := caller(ctx)
	if err == nil {
		err = team.RequireKind(p, team.KindPersonal, team.KindSession)
	}
	return p, err
}

type sessionsOutput struct {
	Body []SessionBody
}

func (h *sessions) listSessions(ctx context.Context, _ *struct{}) (*sessionsOutput, error) {
	p, err := person(ctx)
	if err != nil {
		return nil, err
	}
	open, err := h.Teams.Sessions(ctx, p.TeamID, p.UserID)
	if err != nil {
		return nil, err
	}
	out := &sessionsOutput{Body: []SessionBody{}}
	for _, s := range open {
		out.Body = append(out.Body, sessionOf(s, p.KeyID))
	}
	return out, nil
}

// SessionPath is the path of one session.
type SessionPath struct {
	ID string `path:"sessionId" doc:"Or current."`
}

type endedOutput struct {
	SetCookie string `header:"Set-Cookie"`
}

func (h *sessions) endSession(ctx context.Context, in *SessionPath) (*endedOutput, error) {
	p, err := person(ctx)
	if err != nil {
		return nil, err
	}
	id := in.ID
	if id == currentSession {
		id = p.KeyID
	}
	if err := h.Teams.EndSession(ctx, p.TeamID, p.UserID, id); err != nil {
		return nil, err
	}
	if id != p.KeyID {
		return &endedOutput{}, nil
	}
	return h.signedOut(ctx)
}

func (h *sessions) endSessions(ctx context.Context, _ *struct{}) (*endedOutput, error) {
	p, err := person(ctx)
	if err != nil {
		return nil, err
	}
	if err := h.Teams.EndSessions(ctx, p.TeamID, p.UserID); err != nil || p.Kind != team.KindSession {
		return &endedOutput{}, err
	}
	return h.signedOut(ctx)
}

func (h *sessions) signedOut(ctx context.Context) (*endedOutput, error) {
	cookie, err := h.setSession(ctx, "", 0)
	return &endedOutput{cookie}, err
}

// browserOf returns a short name for a user agent, such as "Firefox on Linux".
func browserOf(agent string) string {
	browser, system := "", ""
	for _, b := range []struct{ mark, name string }{{"Edg/", "Edge"}, {"OPR/", "Opera"}, {"Firefox/", "Firefox"},
		{"Chrome/", "Chrome"}, {"Safari/", "Safari"}, {"curl/", "curl"}} {
		if strings.Contains(agent, b.mark) {
			browser = b.name
			break
		}
	}
	for _, s := range []struct{ mark, name string }{{"iPhone", "iPhone"}, {"iPad", "iPad"}, {"Android", "Android"},
		{"Windows", "Windows"}, {"Mac OS X", "macOS"}, {"CrOS", "ChromeOS"}, {"Linux", "Linux"}} {
		if strings.Contains(agent, s.mark) {
			system = s.name
			break
		}
	}
	switch {
	case browser == "":
		return "Browser"
	case system == "":
		return browser
	default:
		return browser + " on " + system
	}
}
