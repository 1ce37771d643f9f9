package confluence_test

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"docent/shared/apierr"
	"docent/shared/connect/atlassian/atlassiantest"
	"docent/shared/connect/confluence"
	"docent/shared/fetch"
	readable "docent/shared/fetch/page"
	"docent/shared/source"
)

// part reads a part from a checkpoint to its end or first error.
func (s *site) part(part string, at []byte) (items int, end source.SyncPage, err error) {
	s.t.Helper()
	for page, err := range s.c.Read(s.t.Context(), s.access, part, at) {
		if err != nil {
			return items, end, err
		}
		items, end = items+len(page.Items), page
	}
	return items, end, nil
}

func TestFailuresSayWhatToDo(t *testing.T) {
	t.Parallel()
	html := func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "text/html;charset=UTF-8")
		_, _ = io.WriteString(w, "<html>Log in</html>")
	}
	reply := func(status int, header, value, body string) func(w http.ResponseWriter) {
		return func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "application/json")
			if header != "" {
				w.Header().Set(header, value)
			}
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		}
	}
	in := func(d time.Duration) time.Time { return atlassiantest.Day.Add(d) }
	for _, tt := range []struct {
		name    string
		fail    func(w http.ResponseWriter)
		code    string
		says    string
		retryAt time.Time
		all     bool
		retried bool
	}{
		{name: "429 with seconds", fail: reply(429, "Retry-After", "90", `{}`), code: source.RateLimited, retryAt: in(90 * time.Second), all: true},
		{name: "429 with a date", fail: reply(429, "Retry-After", in(2*time.Minute).Format(http.TimeFormat), ``), code: source.RateLimited, retryAt: in(2 * time.Minute), all: true},
		{name: "429 with a reset", fail: reply(429, "X-RateLimit-Reset", in(5*time.Minute).Format("2006-01-02T15:04Z07:00"), ``), code: source.RateLimited, retryAt: in(5 * time.Minute), all: true},
		{name: "429 of a Data Center", fail: reply(429, "X-RateLimit-Interval-Seconds", "30", ``), code: source.RateLimited, retryAt: in(30 * time.Second), all: true},
		{name: "429 alone", fail: reply(429, "", "", ``), code: source.RateLimited, retryAt: in(time.Minute), all: true},
		{name: "429 with nonsense", fail: reply(429, "Retry-After", "-9e99", ``), code: source.RateLimited, retryAt: in(time.Minute), all: true},
		{name: "503 with a time", fail: reply(503, "Retry-After", "30", ``), code: source.RateLimited, retryAt: in(30 * time.Second), all: true},
		{name: "503", fail: reply(503, "", "", ``), code: source.Unreadable, says: "status 503", retried: true},
		{name: "500", fail: reply(500, "", "", `{"message":"oops"}`), code: source.Unreadable, says: "the space ENG", retried: true},
		{name: "a token that is not accepted", fail: reply(401, "", "", `{"message":"no"}`), code: source.Unauthorized, says: "expired", all: true},
		{name: "a token that is taken for none", fail: reply(200, "X-Seraph-LoginReason", "AUTHENTICATED_FAILED", `{"id":1,"key":"ENG","results":[]}`), code: source.Unauthorized, says: "expired", all: true},
		{name: "nothing for a token that is taken for none", fail: reply(404, "X-Seraph-LoginReason", "AUTHENTICATION_DENIED", `{}`), code: source.Unauthorized, says: "expired", all: true},
		{name: "a CAPTCHA", fail: reply(403, "X-Authentication-Denied-Reason", "CAPTCHA_CHALLENGE; login-url=x", ``), code: source.Unauthorized, says: "browser", all: true},
		{name: "no permission", fail: reply(403, "", "", `{"message":"no"}`), code: source.Unauthorized, says: "may not read the space ENG"},
		{name: "not there", fail: reply(404, "", "", `{}`), code: source.NotThere, says: "ENG"},
		{name: "a bad request", fail: reply(400, "", "", `{"message":"Could not parse cql\u0000"}`), code: "provider-refused", says: "It says: Could not parse cql"},
		{name: "a page of a browser", fail: html, code: "provider-refused", says: "base address"},
		{name: "truncated JSON", fail: reply(200, "", "", `{"results":[{"id":"1"`), code: source.Unreadable, retried: true},
		{name: "another type", fail: reply(200, "", "", `{"results":{"id":1}}`), code: source.Unreadable, retried: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			both(t, func(t *testing.T, cloud bool) {
				s := newSite(t, cloud, nil)
				s.Put(page(1, "One"))
				s.Before(func(_ string, w http.ResponseWriter) bool { tt.fail(w); return true })
				_, _, err := s.part("ENG pages", nil)
				var failed *source.SyncError
				if !errors.As(err, &failed) || failed.Code != tt.code || !failed.RetryAt.Equal(tt.retryAt) || failed.AllParts != tt.all || !strings.Contains(failed.Detail, tt.says) {
					t.Fatalf("got %+v %v", failed, err)
				}
				if retries := s.pauses; (retries == 2) != tt.retried || !tt.retried && retries > 0 {
					t.Errorf("%d retries", retries)
				}
				if strings.Contains(failed.Error(), atlassiantest.Token) || strings.ContainsRune(failed.Detail, 0) {
					t.Errorf("%q", failed.Error())
				}
			})
		})
	}
}

func TestASlowerPaceWhenALimitIsNear(t *testing.T) {
	t.Parallel()
	s := newSite(t, true, nil)
	for n := range 60 {
		s.Put(page(n+1, fmt.Sprint("Page ", n+1)))
	}
	s.Before(func(_ string, w http.ResponseWriter) bool {
		w.Header().Set("X-RateLimit-NearLimit", "true")
		return false
	})
	if _, _, err := s.part("ENG pages", nil); err != nil || s.pauses == 0 || s.pauses != len(s.Requests())-1 {
		t.Errorf("%d pauses, %v", s.pauses, err)
	}
}

func TestAnExpiredCursorStartsThePartAgain(t *testing.T) {
	t.Parallel()
	s := newSite(t, true, nil)
	for n := range 60 {
		s.Put(page(n+1, fmt.Sprint("Page ", n+1)))
	}
	var at []byte
	for page, err := range s.c.Read(t.Context(), s.access, "ENG pages", nil) {
		if err != nil {
			t.Fatal(err)
		}
		at = page.Checkpoint
		break
	}
	s.Before(func(path string, w http.ResponseWriter) bool {
		if strings.Contains(path, "cursor=") {
			s.Server.Server.Config.ErrorLog = nil
			atlassiantest.Refuse(w, http.StatusBadRequest, "The cursor has expired.")
			return true
		}
		return false
	})
	if _, _, err := s.part("ENG pages", at); err == nil { // the second page is refused again
		t.Error("a refused page was read")
	}
	if requests := s.Requests(); len(requests) < 3 || strings.Contains(requests[len(requests)-3], "ursor=") && strings.Contains(requests[len(requests)-2], "ursor=") {
		t.Errorf("%q", requests)
	}
	s.Before(nil)
	if items, end, err := s.part("ENG pages", at); err != nil || items != 35 || !end.Last {
		t.Errorf("%d %+v %v", items, end, err)
	}
}

func TestLinksToTheNextPageStayOnTheSite(t *testing.T) {
	t.Parallel()
	for _, link := range []string{"https://evil.test/steal?cursor=1", "//evil.test/?cursor=1", "/other?cursor=1"} {
		s := newSite(t, true, nil)
		asked := 0
		s.Before(func(path string, w http.ResponseWriter) bool {
			if !strings.Contains(path, "content/search") {
				return false
			}
			if asked++; asked == 1 {
				atlassiantest.Answer(w, map[string]any{"results": []any{}, "_links": map[string]string{"next": link}})
			} else {
				atlassiantest.Answer(w, map[string]any{"results": []any{}})
			}
			return true
		})
		if _, _, err := s.part("ENG pages", nil); err != nil {
			t.Errorf("%s: %v", link, err)
		}
		if requests := s.Requests(); !strings.HasPrefix(requests[len(requests)-1], "/wiki/rest/api/content/search?cursor=1") {
			t.Errorf("%s: asked for %q", link, requests)
		}
	}
}

// TestPagesThatLeadBackRepeatACheckpoint, by which a sync finds that they would never end.
func TestPagesThatLeadBackRepeatACheckpoint(t *testing.T) {
	t.Parallel()
	for name, at := range map[string][]byte{"full scan": nil, "changes": []byte(`{"since":"2026-01-01T00:00:00Z"}`)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, false, nil)
			s.c.HTTP = &http.Client{Transport: circle{s.c.HTTP.Transport}}
			seen, items := map[string]bool{}, 0
			for page, err := range s.c.Read(t.Context(), s.access, "ENG pages", at) {
				if err != nil {
					t.Fatal(err)
				}
				if items += len(page.Items); seen[string(page.Checkpoint)] {
					break
				}
				if seen[string(page.Checkpoint)] = true; len(seen) == 10 {
					t.Fatalf("no checkpoint repeats; the last is %s", page.Checkpoint)
				}
			}
			if items < 2 {
				t.Errorf("%d items", items)
			}
		})
	}
}

// circle answers searches with one page whose cursors A and B lead to each other.
type circle struct{ http.RoundTripper }

func (c circle) RoundTrip(q *http.Request) (*http.Response, error) {
	if !strings.HasSuffix(q.URL.Path, "/content/search") {
		return c.RoundTripper.RoundTrip(q)
	}
	reply := httptest.NewRecorder()
	reply.Header().Set("Content-Type", "application/json")
	next := map[string]string{"A": "B"}[q.URL.Query().Get("cursor")]
	_, _ = fmt.Fprintf(reply, `{"results":[{"id":"7","type":"page","title":"One","restrictions":{"read":{"restrictions":{"user":{"results":[]},"group":{"results":[]}}}}}],"_links":{"next":"/rest/api/content/search?cql=x&cursor=%s"}}`, cmp.Or(next, "A"))
	return reply.Result(), nil
}

func TestTheTokenStaysWithTheSite(t *testing.T) {
	t.Parallel()
	s := newSite(t, true, nil)
	told := "nothing"
	thief := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		told = q.Header.Get("Authorization")
		_, _ = io.WriteString(w, "{}")
	}))
	t.Cleanup(thief.Close)
	s.c.HTTP = fetch.NewReaching(readable.Read, func(netip.AddrPort) bool { return true }, s.Certificate()).Client(0)
	s.Before(func(_ string, w http.ResponseWriter) bool {
		w.Header().Set("Location", thief.URL+"/")
		w.WriteHeader(http.StatusFound)
		return true
	})
	if _, _, err := s.part("ENG pages", nil); err == nil || told != "" {
		t.Errorf("the redirect got %q; %v", told, err)
	}
}

func TestPrivateAddressesAreNotReached(t *testing.T) {
	t.Parallel()
	s := newSite(t, false, nil)
	s.c.HTTP = fetch.New(readable.Read).Client(0)
	for _, base := range []string{s.URL, strings.Replace(s.URL, "127.0.0.1", "localhost", 1), "https://[::1]:80", "https://169.254.169.254/latest"} {
		s.access.Settings = source.NewSettings(map[string]any{"spaces": []string{"ENG"}, "baseUrl": base})
		_, _, err := s.part("ENG pages", nil)
		var failed *source.SyncError
		if !errors.As(err, &failed) || failed.Code != source.Blocked && failed.Code != source.Unreadable {
			t.Errorf("%s: %v", base, err)
		}
	}
	if requests := s.Requests(); len(requests) > 0 {
		t.Errorf("reached: %q", requests)
	}
}

func TestSettings(t *testing.T) {
	t.Parallel()
	token := source.Secrets{"accessToken": "t"}
	with := func(changes ...any) map[string]any {
		all := map[string]any{"baseUrl": "https://acme.atlassian.net", "spaces": []string{"ENG"}, "email": "a@acme.example"}
		for i := 0; i < len(changes); i += 2 {
			if changes[i+1] == nil {
				delete(all, changes[i].(string)) //nolint:forcetypeassert // above
			} else {
				all[changes[i].(string)] = changes[i+1] //nolint:forcetypeassert // above
			}
		}
		return all
	}
	for name, tt := range map[string]struct {
		settings map[string]any
		secrets  source.Secrets
		pointer  string
	}{
		"a site of the Cloud":       {with(), token, ""},
		"with its path":             {with("baseUrl", "https://acme.atlassian.net/wiki/"), token, ""},
		"a Data Center":             {with("baseUrl", "https://wiki.acme.example/confluence", "email", nil), token, ""},
		"a personal space":          {with("spaces", []string{"~ada", "~5f0c1:2-3"}), token, ""},
		"readers of the source":     {with("access", "source"), token, ""},
		"nothing, for imports":      {nil, nil, ""},
		"spaces without an address": {with("baseUrl", nil), token, "/settings/baseUrl"},
		"the address of a space":    {with("baseUrl", "https://acme.atlassian.net/wiki/spaces/ENG/overview"), token, "/settings/baseUrl"},
		"a path of a Data Center":   {with("baseUrl", "https://wiki.acme.example/confluence"), token, ""},
		"http":                      {with("baseUrl", "http://acme.atlassian.net"), token, "/settings/baseUrl"},
		"a query":                   {with("baseUrl", "https://acme.atlassian.net/?a=b"), token, "/settings/baseUrl"},
		"a user in the address":     {with("baseUrl", "https://a:b@acme.atlassian.net"), token, "/settings/baseUrl"},
		"the API's address":         {with("baseUrl", "https://api.atlassian.com/ex/confluence/1"), token, "/settings/baseUrl"},
		"no address":                {with("baseUrl", "acme"), token, "/settings/baseUrl"},
		"no spaces":                 {with("spaces", nil), token, "/settings/spaces"},
		"a space with a quote":      {with("spaces", []string{`A" or space="B`}), token, "/settings/spaces/0"},
		"no email":                  {with("email", nil), token, "/settings/email"},
		"an email with a colon":     {with("email", "a:b@acme.example"), token, "/settings/email"},
		"no token":                  {with(), nil, "/settings/accessToken"},
		"a token with a newline":    {with(), source.Secrets{"accessToken": "a\nb"}, "/settings/accessToken"},
		"other readers":             {with("access", "all"), token, "/settings/access"},
	} {
		err := confluence.Provider.Check(source.NewSettings(tt.settings), tt.secrets)
		var refused *apierr.Error
		if (err == nil) != (tt.pointer == "") || err != nil && (!errors.As(err, &refused) || refused.Fields[0].Pointer != tt.pointer) {
			t.Errorf("%s: %v", name, err)
		}
		if synced := confluence.Provider.Connected(source.NewSettings(tt.settings), tt.secrets); err == nil && synced != (tt.settings != nil) {
			t.Errorf("%s: synced %t", name, synced)
		}
	}
}
