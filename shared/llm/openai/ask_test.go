package openai_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"docent/shared/llm"
	"docent/shared/llm/openai"
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

// compose asks a server that fails with failing as often as it is asked but for the
// last time, and returns how often it was asked and how long all of it took.
func compose(ctx context.Context, t *testing.T, failing func() (*http.Response, error), times int) (asked int, took time.Duration, err error) {
	t.Helper()
	c, err := openai.New("https://models.test/v1", "m", openai.Options{Transport: transport(func(*http.Request) (*http.Response, error) {
		if asked++; asked <= times {
			return failing()
		}
		return replyOf(200, completion("Run undo [1].", "stop")), nil
	})})
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	_, err = c.Compose(ctx, request)
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
		want        error // nil: it succeeds
	}{
		{"backoff", 503, nil, 2, 3, 1125 * time.Millisecond, 1500 * time.Millisecond, nil},
		{"no connection", 0, nil, 1, 2, 375 * time.Millisecond, 500 * time.Millisecond, nil},
		{"never a connection", 0, nil, all, 3, 1125 * time.Millisecond, 1500 * time.Millisecond, errDown},
		{"seconds", 429, []string{"Retry-After", "3"}, 1, 2, 3 * time.Second, 3 * time.Second, nil},
		{"parts of a second", 429, []string{"Retry-After", "0.25"}, 1, 2, 250 * time.Millisecond, 250 * time.Millisecond, nil},
		{"milliseconds go first", 429, []string{"Retry-After", "3", "Retry-After-Ms", "20"}, 1, 2, 20 * time.Millisecond, 20 * time.Millisecond, nil},
		{"a date", 503, []string{"Retry-After", "Sat, 01 Jan 2000 00:00:05 GMT"}, 1, 2, 5 * time.Second, 5 * time.Second, nil},
		{"a date in the past", 503, []string{"Retry-After", "Sat, 01 Jan 1994 00:00:00 GMT"}, 1, 2, 0, 0, nil},
		{"nonsense", 429, []string{"Retry-After", "soon"}, 1, 2, 375 * time.Millisecond, 500 * time.Millisecond, nil},
		{"a negative number", 429, []string{"Retry-After", "-1"}, 1, 2, 375 * time.Millisecond, 500 * time.Millisecond, nil},
		{"no number", 429, []string{"Retry-After", "NaN"}, 1, 2, 375 * time.Millisecond, 500 * time.Millisecond, nil},
		{"longer than there is time", 429, []string{"Retry-After", "11"}, 1, 1, 0, 0, llm.ErrThrottled},
		{"endless", 429, []string{"Retry-After", "1e999"}, 1, 1, 0, 0, llm.ErrThrottled},
		{"told not to", 500, []string{"X-Should-Retry", "false"}, all, 1, 0, 0, errOther},
		{"told to", 400, []string{"X-Should-Retry", "true", "Retry-After", "1"}, 1, 2, time.Second, time.Second, nil},
		{"too many at once", 409, []string{"Retry-After", "1"}, 1, 2, time.Second, time.Second, nil},
		{"timeout of the server", 408, []string{"Retry-After", "1"}, 1, 2, time.Second, time.Second, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				defer cancel()
				asked, took, err := compose(ctx, t, func() (*http.Response, error) {
					if c.status == 0 {
						return nil, errDown
					}
					return replyOf(c.status, "SECRET", c.header...), nil
				}, c.fails)
				if asked != c.asked || took < c.least || took > c.most {
					t.Errorf("asked %d times in %s, want %d in %s to %s", asked, took, c.asked, c.least, c.most)
				}
				if (err == nil) != (c.want == nil) || c.want != nil && !errors.Is(c.want, errOther) && !errors.Is(err, c.want) {
					t.Errorf("error %v, want %v", err, c.want)
				}
			})
		})
	}
}

// errOther: any error.
var errOther = errors.New("any other error")

func TestTimeRunsOutBetweenAttempts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		asked, took, err := compose(ctx, t, func() (*http.Response, error) { return replyOf(429, "", "Retry-After", "4"), nil }, 1)
		if asked != 1 || took != time.Second || !errors.Is(err, context.Canceled) {
			t.Errorf("asked %d times in %s: %v", asked, took, err)
		}
	})
}

// TestOneAddress checks the address of a request, its method, headers and body.
func TestOneAddress(t *testing.T) {
	t.Parallel()
	for base, want := range map[string]string{
		"https://models.test":         "https://models.test/chat/completions",
		"https://models.test/v1":      "https://models.test/v1/chat/completions",
		"https://models.test/v1/":     "https://models.test/v1/chat/completions",
		"http://models.test:8000/a/b": "http://models.test:8000/a/b/chat/completions",
	} {
		t.Run(base, func(t *testing.T) {
			t.Parallel()
			c, err := openai.New(base, "m", openai.Options{Transport: transport(func(r *http.Request) (*http.Response, error) {
				if r.Method != http.MethodPost || r.URL.String() != want || r.Header.Get("Content-Type") != "application/json" || r.Header["Authorization"] != nil {
					t.Errorf("%s %s, %v", r.Method, r.URL, r.Header)
				}
				body, err := io.ReadAll(r.Body)
				if err != nil || int64(len(body)) != r.ContentLength || !bytes.HasPrefix(body, []byte("{")) {
					t.Errorf("%d bytes of %d, %v", len(body), r.ContentLength, err)
				}
				return replyOf(200, completion("Run undo [1].", "stop")), nil
			})})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := c.Compose(t.Context(), request); err != nil {
				t.Error(err)
			}
		})
	}
}

// FuzzReply: no reply is more than an error of llm's, and none has an error say what
// a server said.
func FuzzReply(f *testing.F) {
	for _, seed := range []string{completion("Run undo [1].", "stop"), `{"choices":[{}]}`, `{"choices":null}`, `{"choices":[{"message":{"content":["x"]}}]}`,
		`{"error":{"param":"temperature"}}`, `[]`, ``} {
		f.Add(200, seed)
		f.Add(400, seed)
	}
	f.Fuzz(func(t *testing.T, status int, body string) {
		asked := 0
		c, err := openai.New("https://models.test", "m", openai.Options{Transport: transport(func(*http.Request) (*http.Response, error) {
			asked++
			return replyOf(status, body, "Retry-After", "0"), nil
		})})
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.Compose(t.Context(), request)
		if asked > 3 { // a parameter refused again and again, or a server that fails
			t.Errorf("asked %d times", asked)
		}
		if err != nil && len(body) > 40 && strings.Contains(err.Error(), body) {
			t.Errorf("the error says what the server said: %v", err)
		}
	})
}
