package client_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"docent/client"
)

// TestARedirectNeverChangesTheRequest calls a server that redirects, as a proxy does that wants https.
func TestARedirectNeverChangesTheRequest(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name   string
		status int
		call   func(c *client.Client) error
		wrong  string // of the error; empty: success
	}{
		{"a DELETE would become a GET", 301, func(c *client.Client) error { return c.RemoveSource(t.Context(), "d") }, "answered 301 and points to http://"},
		{"so would a PATCH", 302, func(c *client.Client) error {
			_, err := c.ChangeSource(t.Context(), "d", client.SourceChange{})
			return err
		}, "answered 302"},
		{"a GET stays one", 301, func(c *client.Client) error { _, err := c.Collection(t.Context(), "d"); return err }, ""},
		{"308 keeps the method", 308, func(c *client.Client) error { return c.RemoveSource(t.Context(), "d") }, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			moved := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("{}")) }))
			defer moved.Close()
			proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, moved.URL+r.URL.Path, tc.status)
			}))
			defer proxy.Close()
			c, waits := connect(t, proxy.URL)
			err := tc.call(c)
			if tc.wrong == "" && err != nil || tc.wrong != "" && (err == nil || !strings.Contains(err.Error(), tc.wrong)) {
				t.Errorf("error %v, want one with %q", err, tc.wrong)
			}
			if len(waits.list) > 0 {
				t.Errorf("it was repeated after %v", waits.list)
			}
		})
	}
}

func TestTheKeyStaysInTLS(t *testing.T) {
	t.Parallel()
	plain := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("a request without TLS, with the key %q", r.Header.Get("Authorization"))
	}))
	defer plain.Close()
	secure := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, plain.URL+r.URL.Path, http.StatusFound)
	}))
	defer secure.Close()
	c, _ := connect(t, secure.URL)
	c.HTTP.Transport = secure.Client().Transport
	if _, err := c.Collection(t.Context(), "x"); err == nil || !strings.Contains(err.Error(), "answered 302") {
		t.Errorf("error %v", err)
	}
}

func TestADistrustedServerIsAskedOnce(t *testing.T) {
	t.Parallel()
	secure := httptest.NewTLSServer(http.NotFoundHandler())
	defer secure.Close()
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	for address, want := range map[string]string{
		secure.URL: "failed to verify certificate",
		"https://" + strings.TrimPrefix(plain.URL, "http://"): "HTTP response to HTTPS client",
	} {
		c, waits := connect(t, address)
		_, err := c.Collection(t.Context(), "x")
		if !client.Unreached(err) || !strings.Contains(err.Error(), want) || len(waits.list) > 0 {
			t.Errorf("error %v after waits %v, want one with %q at once", err, waits.list, want)
		}
	}
}
