package httpapi

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"time"

	"docent/shared/apierr"
)

// sessionCookie returns the cookie of sessions without a value. Browsers send it only over TLS,
// except to the machine itself. It returns false if the API, or this request, is reached without TLS
// from other machines: nobody may sign in there.
func (s Services) sessionCookie(ctx context.Context) (*http.Cookie, bool) {
	base, err := url.Parse(s.BaseURL)
	if err != nil {
		return nil, false
	}
	c := &http.Cookie{Name: "__Host-docent", Path: "/", HttpOnly: true, Secure: true, SameSite: http.SameSiteLaxMode} //nolint:gosec // Secure is taken back below, on loopback alone
	if base.Scheme == "https" {
		return c, true
	}
	// Cookies do not distinguish ports, and several servers may run on a machine.
	c.Name, c.Secure = "docent-"+base.Port(), false
	asked := url.URL{Host: requestFrom(ctx).host}
	return c, isLoopback(base.Hostname()) && isLoopback(asked.Hostname())
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// session returns the session in the cookie of r, or false if there is none. The Authorization
// header takes precedence. A cookie counts only in requests of the dashboard's own pages, which
// no other site can forge.
func (s Services) session(r *http.Request) (text string, ok bool, err error) {
	c, usable := s.sessionCookie(r.Context())
	if !usable || len(r.Header.Values("Authorization")) > 0 {
		return "", false, nil
	}
	sent, err := r.Cookie(c.Name)
	if err != nil || sent.Value == "" {
		return "", false, nil
	}
	if r.Header.Get("Sec-Fetch-Site") != "same-origin" {
		return "", false, apierr.New(apierr.Unauthenticated, apierr.CodeUnauthorized,
			"A session works only in requests of the dashboard's own pages. Use an API key in the header Authorization: Bearer <key>.")
	}
	return sent.Value, true, nil
}

// setSession returns the Set-Cookie header that starts a session, or ends it if text is empty.
func (s Services) setSession(ctx context.Context, text string, life time.Duration) (string, error) {
	c, ok := s.sessionCookie(ctx)
	if !ok {
		return "", apierr.New(apierr.Forbidden, apierr.CodeCrossOrigin,
			"Signing in requires https. Give the server's public https address as --base-url, or open it on its own machine.")
	}
	c.Value, c.MaxAge = text, int(life.Seconds())
	if text == "" {
		c.MaxAge = -1
	}
	return c.String(), nil
}
