package confluence_test

import (
	"net/http"
	"testing"

	"docent/shared/connect/atlassian/atlassiantest"
	"docent/shared/connect/confluence"
	"docent/shared/connect/connecttest"
	"docent/shared/source"
)

func TestProbe(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		settings map[string]any
		token    string
		change   func(s *site)
		status   int // of every reply; 0: as usual
		pointer  string
		says     string
	}{
		"all is well":               {},
		"a wrong token":             {token: "other", pointer: "/settings/accessToken", says: "does not accept"},
		"a space that is not there": {settings: map[string]any{"spaces": []string{"ENG", "NONE"}}, pointer: "/settings/spaces/1", says: "The space NONE does not exist"},
		"secret permissions":        {change: func(s *site) { s.Secret = true }, pointer: "/settings/access", says: "administrator of the space"},
		"which the source replaces": {settings: map[string]any{"access": "source"}, change: func(s *site) { s.Secret = true }},
		"a private address":         {settings: map[string]any{"baseUrl": "https://127.0.0.2:9/"}, pointer: "/settings/baseUrl", says: "not public"},
		"an outage":                 {status: http.StatusBadGateway, says: "status 502"},
		"a rate limit":              {status: http.StatusTooManyRequests, says: source.RateLimited},
		"no access to the product":  {status: http.StatusForbidden, pointer: "/settings/accessToken", says: "may not read"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			both(t, func(t *testing.T, cloud bool) {
				s := newSite(t, cloud, tt.settings)
				if tt.change != nil {
					s.Change(func() { tt.change(s) })
				}
				if tt.status != 0 {
					s.Before(func(_ string, w http.ResponseWriter) bool { atlassiantest.Refuse(w, tt.status, "no"); return true })
				}
				if tt.token != "" {
					s.access.Secrets["accessToken"] = tt.token
				}
				connecttest.Probe(t, confluence.Provider, connecttest.Fetcher(s.Server.Server.Server), s.access, tt.pointer, tt.says)
			})
		})
	}
	s := newSite(t, true, nil)
	connecttest.Probe(t, confluence.Provider, connecttest.Fetcher(s.Server.Server.Server), source.Access{}, "", "") // of an import
	if asked := s.Requests(); len(asked) > 0 {
		t.Errorf("an import was probed: %q", asked)
	}
}
