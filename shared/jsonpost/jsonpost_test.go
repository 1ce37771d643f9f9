package jsonpost_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"docent/shared/jsonpost"
)

// transport answers each request itself, so that time can be that of a test.
type transport func(*http.Request) (*http.Response, error)

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) { return t(r) }

func replyOf(status int, body string, header ...string) *http.Response {
	r := &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	return r
}

// post sends to a server whose first replies are those of failing, and returns how often it was asked and how long
// all of it took.
func post(ctx context.Context, t *testing.T, failing func() (*http.Response, error), times int) (asked int, took time.Duration, err error) {
	t.Helper()
	c := jsonpost.Client{Address: "https://models.test/v1", MaxReply: 100, MaxWait: 20 * time.Second,
		Transport: transport(func(*http.Request) (*http.Response, error) {
			if asked++; asked <= times {
				return failing()
			}
			return replyOf(200, "{}"), nil
		})}
	began := time.Now()
	_, err = c.Do(ctx, []byte("{}"))
	return asked, time.Since(began), err
}

func TestThePauseBeforeAnotherAttempt(t *testing.T) {
	t.Parallel()
	const all = 100 // attempts that fail
	errDown := errors.New("connection refused")
	for _, c := range []struct {
		name        string
		status      int // 0: no connection
		header      []string
		fails       int
		asked       int
		least, most time.Duration
		want        string // of the error; empty: it succeeds
	}{
		{"backoff", 503, nil, 2, 3, 1125 * time.Millisecond, 1500 * time.Millisecond, ""},
		{"no connection", 0, nil, 1, 2, 375 * time.Millisecond, 500 * time.Millisecond, ""},
		{"never a connection", 0, nil, all, 3, 1125 * time.Millisecond, 1500 * time.Millisecond, "connection refused"},
		{"seconds", 429, []string{"Retry-After", "3"}, 1, 2, 3 * time.Second, 3 * time.Second, ""},
		{"parts of a second", 429, []string{"Retry-After", "0.25"}, 1, 2, 250 * time.Millisecond, 250 * time.Millisecond, ""},
		{"milliseconds go first", 429, []string{"Retry-After", "3", "Retry-After-Ms", "20"}, 1, 2, 20 * time.Millisecond, 20 * time.Millisecond, ""},
		{"a date", 503, []string{"Retry-After", "Sat, 01 Jan 2000 00:00:05 GMT"}, 1, 2, 5 * time.Second, 5 * time.Second, ""},
		{"a date in the past", 503, []string{"Retry-After", "Sat, 01 Jan 1994 00:00:00 GMT"}, 1, 2, 0, 0, ""},
		{"nonsense", 429, []string{"Retry-After", "soon"}, 1, 2, 375 * time.Millisecond, 500 * time.Millisecond, ""},
		{"a negative number", 429, []string{"Retry-After", "-1"}, 1, 2, 375 * time.Millisecond, 500 * time.Millisecond, ""},
		{"no number", 429, []string{"Retry-After", "NaN"}, 1, 2, 375 * time.Millisecond, 500 * time.Millisecond, ""},
		{"longer than there is time", 429, []string{"Retry-After", "11"}, 1, 1, 0, 0, "status 429"},
		{"endless", 429, []string{"Retry-After", "1e999"}, 1, 1, 0, 0, "status 429"},
		{"told not to", 500, []string{"X-Should-Retry", "false"}, all, 1, 0, 0, "status 500"},
		{"told to", 400, []string{"X-Should-Retry", "true", "Retry-After", "1"}, 1, 2, time.Second, time.Second, ""},
		{"too many at once", 409, []string{"Retry-After", "1"}, 1, 2, time.Second, time.Second, ""},
		{"timeout of the server", 408, []string{"Retry-After", "1"}, 1, 2, time.Second, time.Second, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				defer cancel()
				asked, took, err := post(ctx, t, func() (*http.Response, error) {
					if c.status == 0 {
						return nil, errDown
					}
					return replyOf(c.status, "SECRET", c.header...), nil
				}, c.fails)
				if asked != c.asked || took < c.least || took > c.most {
					t.Errorf("asked %d times in %s, want %d in %s to %s", asked, took, c.asked, c.least, c.most)
				}
				if (err == nil) != (c.want == "") || err != nil && (!strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "SECRET")) {
					t.Errorf("error %v, want %q", err, c.want)
				}
			})
		})
	}
}

func TestTimeRunsOutBetweenAttempts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		asked, took, err := post(ctx, t, func() (*http.Response, error) { return replyOf(429, "", "Retry-After", "4"), nil }, 1)
		if asked != 1 || took != time.Second || !errors.Is(err, context.Canceled) {
			t.Errorf("asked %d times in %s: %v", asked, took, err)
		}
	})
}

func TestReplies(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		status int
		body   string
		want   error
	}{
		{"fine", 200, "{}", nil},
		{"as large as it may be", 200, strings.Repeat("x", 100), nil},
		{"too large", 200, strings.Repeat("x", 101), jsonpost.ErrReply},
		{"a redirect", 302, "", &jsonpost.StatusError{Status: 302}},
		{"refused", 400, "why", &jsonpost.StatusError{Status: 400, Body: []byte("why")}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			client := jsonpost.Client{Address: "https://models.test", Key: "k", MaxReply: 100, Transport: transport(func(r *http.Request) (*http.Response, error) {
				if r.Header.Get("Authorization") != "Bearer k" {
					t.Errorf("headers %v", r.Header)
				}
				return replyOf(c.status, c.body, "Location", "https://elsewhere.test"), nil
			})}
			got, err := client.Do(t.Context(), []byte("{}"))
			var refused, want *jsonpost.StatusError
			if errors.As(c.want, &want) {
				if !errors.As(err, &refused) || refused.Status != want.Status || string(refused.Body) != string(want.Body) {
					t.Errorf("error %v, want %v", err, c.want)
				}
			} else if !errors.Is(err, c.want) || err == nil && string(got) != c.body {
				t.Errorf("reply %s, error %v, want %v", got, err, c.want)
			}
		})
	}
}
