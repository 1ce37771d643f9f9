package httpapi

import (
	"context"
	"errors"
	"fmt"
	"html"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"docent/shared/apierr"
	"docent/shared/rate"
	"docent/shared/signon"
	"docent/shared/team"
)

// signOnPrefix is the path of single sign-on. What is there is for browsers: replies are
// redirects, also of failures, which the dashboard explains.
const signOnPrefix = "/sso"

// The operations of single sign-on.
const (
	signOnFirst    = "GET /sso"
	signOnBegin    = "GET /sso/{teamId}"
	signOnMetadata = "GET /sso/{teamId}/metadata"
	signOnACS      = "POST /sso/{teamId}/acs"
	signOnCallback = "GET /sso/{teamId}/callback"
	signOnFinish   = "GET /sso/{teamId}/finish"
)

// signOnForm limits the form with a SAML response: the response, percent-encoded in the worst
// case, and a little more.
const signOnForm = 3*(256<<10) + 4096

// browserLife is how long a browser keeps the secret that binds a sign-in to it.
const browserLife = signon.RequestLife

// beginsPerSecond is how many sign-ins per second may begin at one address, on average over rate.Window. Each stores something,
// and needs no key. The people of a whole company may have one address.
const beginsPerSecond = 50

// signOns has the operations with which a browser signs in at an identity provider.
type signOns struct {
	Services
	begins rate.Limiter // by address
}

func (h *signOns) routes(api huma.API, m *mux) {
	h.begins.PerSecond, h.begins.Now = 2*beginsPerSecond, h.Now // a key has half of it
	for pattern, handle := range map[string]func(http.ResponseWriter, *http.Request) error{
		signOnFirst: h.first, signOnBegin: h.begin, signOnMetadata: h.metadata, signOnACS: h.acs, signOnCallback: h.callback, signOnFinish: h.finish,
	} {
		m.ServeMux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			if err := handle(w, r); err != nil {
				h.refuse(w, r, err)
			}
		})
	}
	describeSignOn(api)
}

// first leads to the sign-in of the only team. If there are several, the dashboard asks for one.
func (h *signOns) first(w http.ResponseWriter, r *http.Request) error {
	id, ok, err := h.SignOn.TeamOf(r.Context())
	if err != nil {
		return err
	}
	if !ok {
		h.lead(w, "/dashboard/#/sign-in-team")
		return nil
	}
	h.lead(w, signOnPrefix+"/"+id)
	return nil
}

// begin begins a sign-in, or with the parameter test a test by the admin whose session the
// browser has.
func (h *signOns) begin(w http.ResponseWriter, r *http.Request) error {
	if _, err := h.begins.Take(requestFrom(r.Context()).account.owner, signOnPrefix); err != nil {
		return err
	}
	testBy := ""
	if r.URL.Query().Has("test") {
		requestFrom(r.Context()).testing = true
		p, err := h.tester(r)
		if err != nil {
			return err
		}
		testBy = p.UserID
	}
	browser, err := h.bindBrowser(w.Header(), r)
	if err != nil {
		return err
	}
	to, err := h.SignOn.Begin(r.Context(), r.PathValue("teamId"), browser, testBy)
	if err != nil {
		return err
	}
	send(w, to)
	return nil
}

// tester returns the admin of the team whose session r has. Only the dashboard's own pages can
// send it, as any request with a session.
func (h *signOns) tester(r *http.Request) (team.Principal, error) {
	text, ok, err := h.session(r)
	if err == nil && !ok {
		err = apierr.New(apierr.Unauthenticated, apierr.CodeUnauthorized, unauthorizedDetail)
	}
	if err != nil {
		return team.Principal{}, err
	}
	a, err := h.Teams.AuthenticateSession(r.Context(), text)
	if err == nil {
		err = team.RequireAdmin(a.Principal)
	}
	if err == nil && a.Principal.TeamID != r.PathValue("teamId") {
		err = apierr.Missing("team")
	}
	return a.Principal, err
}

// acs takes the response of a SAML provider.
func (h *signOns) acs(w http.ResponseWriter, r *http.Request) error {
	media, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	if !strings.EqualFold(strings.TrimSpace(media), "application/x-www-form-urlencoded") {
		return &signon.Failure{Reason: signon.Malformed}
	}
	in := newIntake(w, r, requestFrom(r.Context()).account)
	defer in.end()
	body, err := in.whole(r.Context(), signOnForm)
	if apierr.IsCode(err, apierr.CodeTooLarge) {
		in.discard()
		return &signon.Failure{Reason: signon.Malformed, Cause: err}
	}
	if err != nil {
		return err
	}
	values, err := url.ParseQuery(string(body))
	if err != nil {
		return &signon.Failure{Reason: signon.Malformed, Cause: err}
	}
	return h.answered(w, r, signon.SAML, values)
}

// callback takes the answer of an OpenID Connect provider.
func (h *signOns) callback(w http.ResponseWriter, r *http.Request) error {
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return &signon.Failure{Reason: signon.Malformed, Cause: err}
	}
	return h.answered(w, r, signon.OIDC, values)
}

// answerParameters are those that are read of what a provider sends back, by SAML and by OpenID Connect.
var answerParameters = []string{"SAMLResponse", "RelayState", "code", "state", "error", "iss"}

// answered verifies what a provider sent back, and leads to finish, to which the browser sends
// its cookie in any case.
func (h *signOns) answered(w http.ResponseWriter, r *http.Request, m signon.Method, values url.Values) error {
	if name := firstRepeated(values, answerParameters); name != "" {
		return &signon.Failure{Reason: signon.Malformed, Cause: fmt.Errorf("%s %s", name, oneValue)}
	}
	teamID := r.PathValue("teamId")
	ticket, request, err := h.SignOn.Finish(r.Context(), teamID, m, values)
	if err != nil {
		requestFrom(r.Context()).testing = request.TestBy != ""
		return err
	}
	h.lead(w, signOnPrefix+"/"+teamID+"/finish?ticket="+ticket)
	return nil
}

func (h *signOns) finish(w http.ResponseWriter, r *http.Request) error {
	if isRepeated(r.URL.Query(), "ticket") {
		return &signon.Failure{Reason: signon.TicketUnknown, Cause: errors.New("ticket " + oneValue)}
	}
	opened, ticket, err := h.SignOn.Redeem(r.Context(), r.PathValue("teamId"), r.URL.Query().Get("ticket"), h.browser(r), browserOf(r.UserAgent()))
	if err != nil {
		requestFrom(r.Context()).testing = ticket.TestBy != ""
		return err
	}
	if opened.Tested {
		h.lead(w, "/dashboard/#/settings/single-sign-on/tested")
		return nil
	}
	cookie, err := h.setSession(r.Context(), opened.Secret, team.SessionLife)
	if err != nil {
		return err
	}
	w.Header().Add("Set-Cookie", cookie)
	h.lead(w, "/dashboard/#/signed-in")
	return nil
}

// metadata describes this program to a SAML provider of the team.
func (h *signOns) metadata(w http.ResponseWriter, r *http.Request) error {
	t, err := h.Teams.Team(r.Context(), r.PathValue("teamId"))
	if err != nil {
		writeError(w, r, err)
		return nil
	}
	w.Header().Set("Content-Type", samlType)
	_, _ = io.WriteString(w, serviceMetadata(h.SignOn.Addresses(t.ID))) // the client may be gone
	return nil
}

// serviceMetadata returns SAML metadata of this program (SAML V2.0 Metadata, section 2.4.4).
func serviceMetadata(a signon.Addresses) string {
	return `<EntityDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata" entityID="` + html.EscapeString(a.EntityID) + `">` +
		`<SPSSODescriptor AuthnRequestsSigned="false" WantAssertionsSigned="true" protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol">` +
		`<NameIDFormat>urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress</NameIDFormat>` +
		`<AssertionConsumerService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST" Location="` + html.EscapeString(a.ACS) + `" index="0" isDefault="true"/>` +
		"</SPSSODescriptor></EntityDescriptor>\n"
}

// browserCookie returns the cookie of the secret that binds a sign-in to a browser, without its
// value.
func (s Services) browserCookie(ctx context.Context) (*http.Cookie, bool) {
	c, ok := s.sessionCookie(ctx)
	c.Name += "-sso"
	c.MaxAge = int(browserLife.Seconds())
	return c, ok
}

// browser returns the browser's secret, empty without one.
func (h *signOns) browser(r *http.Request) string {
	c, ok := h.browserCookie(r.Context())
	if !ok {
		return ""
	}
	sent, err := r.Cookie(c.Name)
	if err != nil {
		return ""
	}
	return sent.Value
}

// bindBrowser returns the browser's secret, and sets its cookie. A browser that has one keeps it,
// so that sign-ins in two of its windows do not disturb each other.
func (h *signOns) bindBrowser(header http.Header, r *http.Request) (string, error) {
	c, ok := h.browserCookie(r.Context())
	if !ok {
		_, err := h.setSession(r.Context(), "-", 0) // says why
		return "", err
	}
	if c.Value = h.browser(r); len(c.Value) != len(signon.NewSecret()) {
		c.Value = signon.NewSecret()
	}
	header.Add("Set-Cookie", c.String())
	return c.Value, nil
}

// lead sends the browser to a path of this program, by GET.
func (h *signOns) lead(w http.ResponseWriter, path string) {
	w.Header().Set("Referrer-Policy", "no-referrer")
	w.Header().Set("Location", h.BaseURL+path)
	w.WriteHeader(http.StatusSeeOther)
}

// refuse leads to the dashboard's explanation of an error. Its details are in the log and, if the
// browser's user or provider is at fault, in a security event.
func (h *signOns) refuse(w http.ResponseWriter, r *http.Request, err error) {
	req := requestFrom(r.Context())
	var failure *signon.Failure
	var code string
	if errors.As(err, &failure) {
		code = string(failure.Reason)
		req.code = code
		h.Log.InfoContext(r.Context(), "sign-in refused", "requestId", req.id, "team", r.PathValue("teamId"), "err", err)
	} else {
		code = toProblem(r.Context(), err).Code
	}
	page := "/dashboard/#/sign-in-failed/"
	if req.testing {
		page = "/dashboard/#/settings/single-sign-on/"
	}
	h.lead(w, page+url.PathEscape(code)+"/"+url.PathEscape(req.id))
}

// send sends the browser to the provider.
func send(w http.ResponseWriter, to signon.Redirect) {
	w.Header().Set("Referrer-Policy", "no-referrer")
	if to.Form == nil {
		w.Header().Set("Location", to.URL)
		w.WriteHeader(http.StatusSeeOther)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; base-uri 'none'; frame-ancestors 'none'")
	_, _ = io.WriteString(w, postPage(to)) //nolint:gosec // every value is escaped there; the client may be gone
}

// postPage returns a page that posts a form to a provider that takes requests only so. It has no
// script, so that its policy can forbid them all. Package html/template would keep the linker from
// leaving unused methods out of every function.
func postPage(to signon.Redirect) string {
	page := `<!DOCTYPE html><html lang="en"><meta name="viewport" content="width=device-width"><title>Sign in to Docent</title>` +
		`<form method="post" action="` + html.EscapeString(to.URL) + `">`
	for _, name := range slices.Sorted(maps.Keys(to.Form)) {
		page += `<input type="hidden" name="` + html.EscapeString(name) + `" value="` + html.EscapeString(to.Form.Get(name)) + `">`
	}
	return page + `<p>Your identity provider signs you in.</p><button autofocus>Continue</button></form></html>`
}
