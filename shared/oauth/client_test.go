package oauth

import (
	"slices"
	"strings"
	"testing"
)

func TestTheIDOfAClientContainsIt(t *testing.T) {
	t.Parallel()
	c, err := Register(" Assistant ", []string{"https://a.test/cb", "http://[::1]:7/cb", "vscode://x.y/cb"})
	if err != nil || c.Name != "Assistant" {
		t.Fatalf("%+v, %v", c, err)
	}
	again, err := parseClient(c.ID())
	if err != nil || again.ID() != c.ID() || again.Name != c.Name || len(again.RedirectURIs) != 3 {
		t.Errorf("%+v, %v", again, err)
	}
	for _, id := range []string{"", "client_", c.ID() + "A", c.ID() + "=", strings.ToUpper(c.ID()), "client_" + strings.Repeat("A", 5000)} {
		if _, err := parseClient(id); err == nil {
			t.Errorf("%q is taken for a client", id)
		}
	}
}

func TestAddressesThatCodesAreSentTo(t *testing.T) {
	t.Parallel()
	c := Client{RedirectURIs: []string{"http://127.0.0.1/cb", "http://localhost:1/cb?x=1", "https://a.test/cb"}}
	for address, want := range map[string]bool{
		"http://127.0.0.1:80/cb":        true,
		"http://127.0.0.1:65535/cb":     true,
		"http://localhost:2/cb?x=1":     true,
		"http://localhost:2/cb?x=2":     false,
		"http://127.0.0.2/cb":           false,
		"http://127.0.0.1/cb/":          false,
		"http://127.0.0.1/cb#x":         false,
		"http://127.0.0.1@evil.test/cb": false,
		"https://127.0.0.1/cb":          false,
		"https://a.test/cb":             true,
		"https://a.test:8443/cb":        false,
		"https://a.test/cb?x":           false,
		"HTTPS://a.test/cb":             false,
		"https://a.test.evil.test/cb":   false,
	} {
		if got := c.allows(address); got != want {
			t.Errorf("%s: %v, want %v", address, got, want)
		}
	}
}

func TestSchemesOfPrograms(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]bool{
		"cursor://anysphere.cursor-mcp/oauth/callback": true,
		"vscode://x.y/cb":                 true,
		"vscode-insiders://x.y/cb":        true,
		"claude://claude.ai/cb":           true,
		"myapp:/callback":                 true,
		"com.example.app:/oauth2redirect": true,
		"com.example.app:callback":        true,
		"com.example.app://callback":      true,
		"myapp:callback":                  false,
		"myapp:":                          false,
		"myapp:?x=/":                      false,
		"feed:javascript:alert(1)":        false,
		"feed://a.test/cb":                false,
		"jar:https://a.test/a.jar!/b":     false,
		"jar://a.test/":                   false,
		"JavaScript://a.test/%0aalert(1)": false,
		"shell:x":                         false,
		"shell://x":                       false,
		"search-ms:query=x":               false,
		"search-ms://query=x":             false,
		"ms-settings:x":                   false,
		"ms-settings://x":                 false,
		"ms-msdt:/id":                     false,
		"tel:+123":                        false,
		"tel://123":                       false,
		"sms:+123":                        false,
		"sms://123":                       false,
		"x-apple.systempreferences:a":     false,
		"intent://a.test/#Intent":         false,
	} {
		if _, err := Register("", []string{address}); (err == nil) != want {
			t.Errorf("%s: %v", address, err)
		}
	}
}

func TestWhatAPersonSeesOfAnAddress(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"https://claude.test/api/cb": "claude.test",
		"https://a.test:8443/":       "a.test:8443",
		"http://localhost:1/":        "a program on your machine",
		"cursor://x.y/cb":            "the program for cursor: links",
	} {
		if got := hostOf(address); got != want {
			t.Errorf("%s is shown as %q, want %q", address, got, want)
		}
	}
}

func TestAPersonSeesTheHostAsItIs(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]bool{
		"a.test":                       true,
		"xn--80ak6aa92e.test":          true,
		"[::1]":                        true,
		"%D0%B0.test":                  false, // a Cyrillic letter that looks like a
		"a.test%E2%80%AE":              false, // turns the text after it
		"a.test%E2%80%A8.evil.test":    false, // breaks the line
		"a.test%E2%81%84cb.evil.test":  false, // looks like a slash
		"a.test%EF%BC%8Fcb.evil.test":  false,
		"[fe80::1%25%E2%80%AE]":        false,
		"\u0430.test":                  false,
		"a.test%C2%A0.evil.test:12345": false,
	} {
		if _, err := Register("", []string{"https://" + host + "/cb"}); (err == nil) != want {
			t.Errorf("a redirect address with the host %s: %v", host, err)
		}
		if _, err := Register("", []string{"app://" + host + "/cb"}); (err == nil) != want {
			t.Errorf("a redirect address of a program with the host %s: %v", host, err)
		}
		if err := checkDocument("https://" + host + "/client.json"); (err == nil) != want {
			t.Errorf("a description at the host %s: %v", host, err)
		}
	}
}

// FuzzParseClient: an id that is taken registers as itself, and its addresses are safe.
func FuzzParseClient(f *testing.F) {
	c, err := Register("a", []string{"https://a.test/"})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(c.ID())
	f.Add("client_eyJyIjpbImphdmFzY3JpcHQ6MSJdfQ")
	f.Fuzz(func(t *testing.T, id string) {
		c, err := parseClient(id)
		if err != nil {
			return
		}
		if c.ID() != id {
			t.Errorf("%q is the client %q", id, c.ID())
		}
		for _, u := range c.RedirectURIs {
			if checkRedirect(u) != nil || strings.HasPrefix(strings.ToLower(u), "javascript:") {
				t.Errorf("codes are sent to %q", u)
			}
		}
	})
}

func TestLimitsOfAClient(t *testing.T) {
	t.Parallel()
	addresses := func(count, length int) []string {
		return slices.Repeat([]string{"https://a.test/" + strings.Repeat("a", length-len("https://a.test/"))}, count)
	}
	for name, test := range map[string]struct {
		redirects []string
		want      bool
	}{
		"no address":                  {nil, false},
		"as many as allowed":          {addresses(MaxRedirectURIs, 20), true},
		"one more":                    {addresses(MaxRedirectURIs+1, 20), false},
		"one as long as allowed":      {addresses(1, maxRedirectURI), true},
		"one that is longer":          {addresses(1, maxRedirectURI+1), false},
		"many whose id is too long":   {addresses(MaxRedirectURIs, maxRedirectURI), false},
		"https without a host":        {[]string{"https:///callback"}, false},
		"https without a host, alone": {[]string{"https:callback"}, false},
	} {
		c, err := Register("Assistant", test.redirects)
		if (err == nil) != test.want {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil && len(c.ID()) > maxClientID {
			t.Errorf("%s: an id of %d bytes", name, len(c.ID()))
		}
	}
	// What is too long to be registered does not work either if somebody encodes it by hand.
	long := Client{Name: "Assistant", RedirectURIs: addresses(MaxRedirectURIs, maxRedirectURI)}
	if _, err := parseClient(long.ID()); err == nil {
		t.Errorf("an id of %d bytes is taken for a client", len(long.ID()))
	}
}
