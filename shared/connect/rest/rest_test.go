package rest_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"docent/shared/connect/rest"
	"docent/shared/fetch"
	"docent/shared/source"
)

var now = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// served returns an API that h answers, and the pauses that it makes.
func served(t *testing.T, h http.HandlerFunc) (*rest.API, *[]time.Duration) {
	t.Helper()
	server := httptest.NewTLSServer(h)
	t.Cleanup(server.Close)
	own := server.Listener.Addr().(*net.TCPAddr).AddrPort()
	var pauses []time.Duration
	reached := fetch.NewReaching(nil, func(to netip.AddrPort) bool { return to.Addr() == own.Addr() }, server.Certificate())
	return &rest.API{Provider: "Acme", Base: server.URL + "/", HTTP: reached.Client(0), Now: func() time.Time { return now },
		Header: http.Header{"Authorization": {"Bearer secret"}},
		Pause:  func(_ context.Context, d time.Duration) error { pauses = append(pauses, d); return nil }}, &pauses
}

func TestWhenALimitEnds(t *testing.T) {
	t.Parallel()
	in := func(d time.Duration) time.Time { return now.Add(d) }
	for name, tt := range map[string]struct {
		status        int
		header, value string
		at            time.Time
		code          string
	}{
		"seconds":                     {429, "Retry-After", "90", in(90 * time.Second), source.RateLimited},
		"a part of a second":          {429, "Retry-After", "30.5", in(30500 * time.Millisecond), source.RateLimited},
		"a date":                      {429, "Retry-After", in(2 * time.Minute).Format(http.TimeFormat), in(2 * time.Minute), source.RateLimited},
		"a date that has passed":      {429, "Retry-After", in(-time.Hour).Format(http.TimeFormat), in(time.Minute), source.RateLimited},
		"nonsense":                    {429, "Retry-After", "-1e99", in(time.Minute), source.RateLimited},
		"nothing":                     {429, "X-Other", "1", in(time.Minute), source.RateLimited},
		"a reset in Unix seconds":     {429, "RateLimit-Reset", "1795262700", time.Unix(1795262700, 0), source.RateLimited},
		"a reset that has passed":     {429, "RateLimit-Reset", "1", in(time.Minute), source.RateLimited},
		"a reset as a time":           {429, "X-RateLimit-Reset", in(5 * time.Minute).Format(time.RFC3339), in(5 * time.Minute), source.RateLimited},
		"a reset to the minute":       {429, "X-RateLimit-Reset", in(5 * time.Minute).Format("2006-01-02T15:04Z07:00"), in(5 * time.Minute), source.RateLimited},
		"an interval":                 {429, "X-RateLimit-Interval-Seconds", "30", in(30 * time.Second), source.RateLimited},
		"an outage that names an end": {503, "Retry-After", "40", in(40 * time.Second), source.RateLimited},
		"an outage":                   {503, "X-Other", "1", time.Time{}, source.Unreadable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, _ := served(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set(tt.header, tt.value)
				w.WriteHeader(tt.status)
			})
			_, _, err := rest.Get[struct{}](t.Context(), a, "x")
			var failed *source.SyncError
			if !errors.As(err, &failed) || failed.Code != tt.code || !failed.RetryAt.Equal(tt.at) {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestRepliesThatAreNoData(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		kind, body string
		code, says string
		pauses     int
	}{
		"a web page": {"text/html; charset=utf-8", `{}`, source.Unreadable, "Acme sent a web page instead of data for the things.", 2},
		"too large":  {"application/json", `["` + strings.Repeat("x", 1<<20) + `"]`, source.TooLarge, "The reply of Acme for the things is larger than 1 MB.", 0},
		"incomplete": {"application/json", `["`, source.Unreadable, "its reply was incomplete for the things.", 2},
		"null":       {"application/json", `null`, source.Unreadable, "its reply was incomplete for the things.", 2},
		"good":       {"application/json", `["x"]`, "", "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, pauses := served(t, func(w http.ResponseWriter, q *http.Request) {
				if q.Header.Get("Accept") != "application/json" {
					t.Errorf("asked for %q", q.Header.Get("Accept"))
				}
				w.Header().Set("Content-Type", tt.kind)
				_, _ = w.Write([]byte(tt.body))
			})
			a.About, a.Most = "the things", 1<<20
			_, _, err := rest.Get[[]string](t.Context(), a, "x")
			var failed *source.SyncError
			if errors.As(err, &failed) != (tt.code != "") || failed != nil && (failed.Code != tt.code || !strings.Contains(failed.Detail, tt.says)) || len(*pauses) != tt.pauses {
				t.Errorf("%v, %d pauses", err, len(*pauses))
			}
		})
	}
}

func TestAWebPageIsNoText(t *testing.T) {
	t.Parallel()
	kind := "text/html; charset=utf-8"
	a, _ := served(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		_, _ = w.Write([]byte("<title>Sign in</title>"))
	})
	for _, want := range []string{source.Unreadable, ""} {
		text, err := a.Text(t.Context(), "x", 100)
		var failed *source.SyncError
		if errors.As(err, &failed) != (want != "") || failed != nil && (failed.Code != want || text != nil) || want == "" && string(text) != "<title>Sign in</title>" {
			t.Errorf("%s: %q, %v", kind, text, err)
		}
		stream, err := a.Stream(t.Context(), "x")
		if errors.As(err, &failed) != (want != "") || failed != nil && !strings.Contains(failed.Detail, "sent a web page") {
			t.Errorf("%s: %v", kind, err)
		}
		if stream != nil {
			_ = stream.Close()
		}
		kind, failed = "text/plain", nil
	}
}

func TestRequestsAreSlowWhenALimitIsNear(t *testing.T) {
	t.Parallel()
	near := "TRUE"
	a, pauses := served(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-RateLimit-NearLimit", near)
		_, _ = w.Write([]byte(`{}`))
	})
	for n, want := range []int{0, 1, 2, 2} {
		if n == 2 {
			near = "false"
		}
		if _, _, err := rest.Get[struct{}](t.Context(), a, "x"); err != nil || len(*pauses) != want {
			t.Errorf("request %d: %d pauses, %v", n+1, len(*pauses), err)
		}
	}
}

func TestWhatConcernsOneFileOnly(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		path string
		why  string // of the file
		code string // of the sync
	}{
		"good":                     {"file", "", ""},
		"missing":                  {"404", "it is missing", ""},
		"forbidden":                {"403", "it is missing", ""},
		"a rejected token":         {"401", "", source.Unauthorized},
		"an outage":                {"502", "", source.Unreadable},
		"a limit":                  {"429", "", source.RateLimited},
		"a web page":               {"page", "a web page in its place", ""},
		"too large":                {"large", "more than 10 MB", ""},
		"a redirect on the host":   {"to/own", "", ""},
		"a redirect to the store":  {"to/store", "", ""},
		"a redirect elsewhere":     {"to/other", "its download leads to an address", ""},
		"a redirect without https": {"to/plain", "its download leads to an address", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var base string
			store := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
				if q.Header.Get("Authorization") != "" {
					t.Error("the token is sent to the store")
				}
				_, _ = w.Write([]byte("text"))
			}))
			t.Cleanup(store.Close)
			a, _ := served(t, func(w http.ResponseWriter, q *http.Request) {
				switch path := q.URL.Path[1:]; path {
				case "file":
					_, _ = w.Write([]byte("text"))
				case "large":
					_, _ = w.Write(make([]byte, source.MaxFile+1))
				case "page":
					w.Header().Set("Content-Type", "text/html")
				case "to/own", "to/store", "to/other", "to/plain":
					to := map[string]string{"to/own": base + "file", "to/store": store.URL, "to/other": "https://other.test/", "to/plain": strings.Replace(store.URL, "https", "http", 1)}
					http.Redirect(w, q, to[path], http.StatusFound)
				default:
					status := map[string]int{"404": 404, "403": 403, "401": 401, "502": 502, "429": 429}
					w.WriteHeader(status[path])
				}
			})
			base = a.Base
			a.Follow = func(host string) bool { return "https://"+host == store.URL }
			file, err := a.Download(t.Context(), tt.path)
			var why *source.FileError
			var failed *source.SyncError
			if errors.As(err, &why) != (tt.why != "") || why != nil && !strings.Contains(why.Why, tt.why) ||
				errors.As(err, &failed) != (tt.code != "") || failed != nil && failed.Code != tt.code || err == nil && string(file) != "text" {
				t.Errorf("%q %v", file, err)
			}
		})
	}
}

func TestAListOfMoreThanWasAskedForIsRefused(t *testing.T) {
	t.Parallel()
	a := &rest.API{Provider: "Acme", About: "the issues"}
	if err := a.TooMany(50, 50); err != nil {
		t.Error(err)
	}
	var failed *source.SyncError
	if err := a.TooMany(51, 50); !errors.As(err, &failed) || failed.Code != source.Unreadable || !strings.Contains(failed.Detail, "51 entries for the issues") {
		t.Error(err)
	}
}
