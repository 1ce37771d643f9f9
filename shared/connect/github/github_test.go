package github_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"docent/shared/connect/connecttest"
	"docent/shared/connect/github"
	"docent/shared/connect/github/githubtest"
	"docent/shared/fetch"
	"docent/shared/fetch/page"
	"docent/shared/source"
)

var now = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// reading is a connector with a githubtest server that has the repository acme/api.
type reading struct {
	t      *testing.T
	server *githubtest.Server
	c      *github.Connector
	access source.Access
	pauses int
}

func read(t *testing.T) *reading {
	t.Helper()
	r := &reading{t: t, server: githubtest.New(t)}
	r.access = source.Access{Settings: source.NewSettings(map[string]any{"repositories": []string{"acme/api"}, "baseUrl": r.server.API()}),
		Secrets: source.Secrets{"accessToken": githubtest.Token}}
	r.c = &github.Connector{HTTP: connecttest.Fetcher(r.server.Server).Client(0),
		Now: func() time.Time { return now }, Pause: func(context.Context, time.Duration) error { r.pauses++; return nil }}
	r.put(func(*githubtest.Repository) {})
	return r
}

func (r *reading) put(change func(*githubtest.Repository)) { r.server.Put("acme/api", change) }

// part reads a part from a checkpoint to its end or first error. It returns the items
// as "type title" and the last page.
func (r *reading) part(kind string, checkpoint []byte) (items, removed []string, end source.SyncPage, err error) {
	r.t.Helper()
	for page, err := range r.c.Read(r.t.Context(), r.access, "acme/api "+kind, checkpoint) {
		if err != nil {
			return items, removed, end, err
		}
		for _, i := range page.Items {
			items = append(items, i.SourceType+" "+i.Title)
		}
		for _, uri := range page.Removed {
			removed = append(removed, strings.TrimPrefix(uri, r.server.URL+"/acme/api/blob/main/"))
		}
		end = page
	}
	if !end.Last {
		r.t.Errorf("%s: the last page does not say so", kind)
	}
	return items, removed, end, nil
}

// mustRead returns part and fails the test on an error.
func (r *reading) mustRead(kind string, checkpoint []byte) (items, removed []string, end []byte) {
	r.t.Helper()
	items, removed, page, err := r.part(kind, checkpoint)
	if err != nil {
		r.t.Fatalf("%s: %v", kind, err)
	}
	return items, removed, page.Checkpoint
}

func TestIssuesAndPullRequests(t *testing.T) {
	t.Parallel()
	r := read(t)
	closed := r.server.NewIssue("acme/api", 3, "Closed")
	closed.State, closed.ClosedAt, closed.User, closed.Body = "closed", &closed.UpdatedAt, nil, nil
	closed.Labels, closed.Assignees = []githubtest.Label{{Name: "bug"}}, []githubtest.User{{Login: "grace"}}
	r.put(func(x *githubtest.Repository) {
		x.Issues = []githubtest.Issue{r.server.NewIssue("acme/api", 1, "Open"), r.server.NewPull("acme/api", 2, "Merged"), closed}
	})
	var got []source.Item
	for page, err := range r.c.Read(t.Context(), r.access, "acme/api issues", nil) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, page.Items...)
	}
	at := githubtest.Day.Add
	want := []source.Item{
		{URI: r.server.URL + "/acme/api/issues/1", Title: "Open", Body: "Text of Open.", SourceType: "issue", Author: "ada", Project: "acme/api", Number: "1",
			State: "open", CreatedAt: githubtest.Day, UpdatedAt: at(time.Minute)},
		{URI: r.server.URL + "/acme/api/pull/2", Title: "Merged", Body: "Text of Merged.", SourceType: "pull_request", Author: "ada", Project: "acme/api", Number: "2",
			State: "merged", CreatedAt: githubtest.Day, UpdatedAt: at(2 * time.Minute), ClosedAt: at(2 * time.Minute), MergedAt: at(2 * time.Minute)},
		{URI: r.server.URL + "/acme/api/issues/3", Title: "Closed", SourceType: "issue", Project: "acme/api", Number: "3", Labels: []string{"bug"},
			Assignees: []string{"grace"}, State: "closed", CreatedAt: githubtest.Day, UpdatedAt: at(3 * time.Minute), ClosedAt: at(3 * time.Minute)},
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

func TestPagesOfRecords(t *testing.T) {
	t.Parallel()
	r := read(t)
	fill := func(n int, sameTime bool) {
		r.put(func(x *githubtest.Repository) {
			x.Issues = nil
			for i := range n {
				one := r.server.NewIssue("acme/api", i+1, strconv.Itoa(i+1))
				if sameTime {
					one.UpdatedAt = githubtest.Day
				}
				x.Issues = append(x.Issues, one)
			}
		})
	}
	for _, tt := range []struct {
		n, requests int
		sameTime    bool
	}{{0, 1, false}, {99, 1, false}, {100, 2, false}, {101, 2, false}, {250, 3, false}, {250, 4, true}} {
		fill(tt.n, tt.sameTime)
		r.server.Requests()
		items, _, _ := r.mustRead("issues", nil)
		slices.Sort(items)
		if unique := slices.Compact(items); len(unique) != tt.n {
			t.Errorf("%+v: %d items", tt, len(unique))
		}
		if requests := r.server.Requests(); len(requests) != tt.requests {
			t.Errorf("%+v: requests %q", tt, requests)
		}
	}
}

func TestRecordsThatMoveDuringASyncAreNotMissed(t *testing.T) {
	t.Parallel()
	r := read(t)
	r.put(func(x *githubtest.Repository) {
		for i := range 250 {
			x.Issues = append(x.Issues, r.server.NewIssue("acme/api", i+1, strconv.Itoa(i+1)))
		}
	})
	asked := 0
	r.server.Before(func(string, http.ResponseWriter) bool {
		if asked++; asked == 2 { // ten of the first page change, and ten are deleted
			r.put(func(x *githubtest.Repository) {
				for i := range 10 {
					x.Issues[i].UpdatedAt = githubtest.Day.Add(1000 * time.Minute)
				}
				x.Issues = slices.Delete(x.Issues, 20, 30)
			})
		}
		return false
	})
	items, _, _ := r.mustRead("issues", nil)
	for n := range 250 {
		if !slices.Contains(items, "issue "+strconv.Itoa(n+1)) {
			t.Errorf("%d was missed", n+1)
		}
	}
}

func TestOnlyChangesAreReadAgain(t *testing.T) {
	t.Parallel()
	r := read(t)
	first := r.server.NewIssue("acme/api", 1, "First")
	r.put(func(x *githubtest.Repository) {
		x.Issues = []githubtest.Issue{first, r.server.NewIssue("acme/api", 2, "Second")}
		x.Comments = []githubtest.Comment{r.server.NewComment("acme/api", 7, first, "A comment.")}
		x.Reviews = []githubtest.Comment{r.server.NewReview("acme/api", 8, r.server.NewPull("acme/api", 3, "Pull"), "A review.")}
	})
	checkpoints := map[string][]byte{}
	for _, kind := range []string{"issues", "comments", "review comments"} {
		_, _, checkpoints[kind] = r.mustRead(kind, nil)
		_, _, checkpoints[kind] = r.mustRead(kind, checkpoints[kind])
	}
	r.server.Requests()
	for kind, checkpoint := range checkpoints {
		if items, _, _ := r.mustRead(kind, checkpoint); len(items) != 0 {
			t.Errorf("%s: %v", kind, items)
		}
	}
	for _, request := range r.server.Requests() {
		if !strings.HasSuffix(request, " 304") {
			t.Errorf("%s was answered in full", request)
		}
	}
	r.put(func(x *githubtest.Repository) {
		x.Issues[0].Title, x.Issues[0].UpdatedAt = "Changed", githubtest.Day.Add(time.Hour)
	})
	if items, _, _ := r.mustRead("issues", checkpoints["issues"]); !slices.Equal(items, []string{"issue Second", "issue Changed"}) {
		t.Errorf("got %v", items)
	}
	if items, _, _ := r.mustRead("comments", nil); !slices.Equal(items, []string{"issue Comment on #1"}) {
		t.Errorf("comments: %v", items)
	}
	if items, _, _ := r.mustRead("review comments", nil); !slices.Equal(items, []string{"pull_request Comment on #3"}) {
		t.Errorf("reviews: %v", items)
	}
}

func TestFailures(t *testing.T) {
	t.Parallel()
	reply := func(status int, header map[string]string, body string) func(w http.ResponseWriter) {
		return func(w http.ResponseWriter) {
			for name, value := range header {
				w.Header().Set(name, value)
			}
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		}
	}
	reset := now.Add(20 * time.Minute)
	secondary := `{"message":"You have exceeded a secondary rate limit.","documentation_url":"https://docs.github.com/rest/overview/rate-limits-for-the-rest-api#about-secondary-rate-limits"}`
	for _, tt := range []struct {
		name    string
		fail    func(w http.ResponseWriter)
		code    string // if every request fails
		retryAt time.Time
		all     bool
		passes  bool // after one failure the retry succeeds
	}{
		{"primary limit", reply(403, map[string]string{"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": strconv.FormatInt(reset.Unix(), 10)}, `{"message":"API rate limit exceeded"}`), source.RateLimited, reset, true, false},
		{"primary limit as 429", reply(429, map[string]string{"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": strconv.FormatInt(reset.Unix(), 10)}, `{}`), source.RateLimited, reset, true, false},
		{"a reset that has passed", reply(403, map[string]string{"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1"}, `{}`), source.RateLimited, now.Add(time.Minute), true, false},
		{"secondary limit", reply(403, map[string]string{"Retry-After": "120"}, secondary), source.RateLimited, now.Add(2 * time.Minute), true, false},
		{"secondary limit without a time", reply(403, nil, secondary), source.RateLimited, now.Add(time.Minute), true, false},
		{"secondary limit by its message", reply(403, nil, `{"message":"You have exceeded a secondary rate limit. Please wait."}`), source.RateLimited, now.Add(time.Minute), true, false},
		{"a date", reply(429, map[string]string{"Retry-After": reset.UTC().Format(http.TimeFormat)}, `{}`), source.RateLimited, reset, true, false},
		{"a date that has passed", reply(429, map[string]string{"Retry-After": now.Add(-time.Hour).Format(http.TimeFormat)}, `{}`), source.RateLimited, now.Add(time.Minute), true, false},
		{"no time", reply(429, map[string]string{"Retry-After": "5m"}, `{}`), source.RateLimited, now.Add(time.Minute), true, false},
		{"nonsense", reply(403, map[string]string{"Retry-After": "99999999999"}, secondary), source.RateLimited, now.Add(time.Minute), true, false},
		{"down for a while", reply(503, map[string]string{"Retry-After": "120"}, `{}`), source.RateLimited, now.Add(2 * time.Minute), true, false},
		{"429 alone", reply(429, nil, ``), source.RateLimited, now.Add(time.Minute), true, false},
		{"500", reply(500, nil, `{"message":"Server Error"}`), source.Unreadable, time.Time{}, false, true},
		{"502 of HTML", reply(502, nil, `<html>Unicorn!</html>`), source.Unreadable, time.Time{}, false, true},
		{"truncated JSON", reply(200, nil, `[{"html_url":"https://x.test/1","number":1,"tit`), source.Unreadable, time.Time{}, false, true},
		{"no list", reply(200, nil, `{"message":"hello"}`), source.Unreadable, time.Time{}, false, true},
		{"null", reply(200, nil, `null`), source.Unreadable, time.Time{}, false, false},
		{"empty", reply(200, nil, ``), source.Unreadable, time.Time{}, false, false},
		{"bad token", reply(401, nil, `{"message":"Bad credentials"}`), source.Unauthorized, time.Time{}, true, false},
		{"no permission", reply(403, nil, `{"message":"Resource not accessible by personal access token"}`), source.Unauthorized, time.Time{}, false, false},
		{"not found", reply(404, nil, `{"message":"Not Found"}`), source.NotThere, time.Time{}, false, false},
		{"issues are off", reply(410, nil, `{"message":"Issues are disabled for this repo"}`), source.NotThere, time.Time{}, false, false},
		{"blocked by law", reply(451, nil, `{}`), source.NotThere, time.Time{}, false, false},
		{"unprocessable", reply(422, nil, `{"message":"Validation Failed"}`), "provider-refused", time.Time{}, false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := read(t)
			r.put(func(x *githubtest.Repository) {
				for i := range 150 {
					x.Issues = append(x.Issues, r.server.NewIssue("acme/api", i+1, strconv.Itoa(i+1)))
				}
			})
			asked := 0
			r.server.Before(func(_ string, w http.ResponseWriter) bool {
				if asked++; asked > 1 {
					tt.fail(w)
				}
				return asked > 1
			})
			items, _, end, err := r.part("issues", nil)
			var failed *source.SyncError
			if !errors.As(err, &failed) || failed.Code != tt.code || !failed.RetryAt.Equal(tt.retryAt) || failed.AllParts != tt.all || failed.Detail == "" {
				t.Fatalf("got %+v %v", failed, err)
			}
			if len(items) != 100 || strings.Contains(failed.Error(), githubtest.Token) {
				t.Errorf("%d items; %v", len(items), failed)
			}
			once := false
			r.server.Before(func(_ string, w http.ResponseWriter) bool {
				if once || !tt.passes {
					return false
				}
				once = true
				tt.fail(w)
				return true
			})
			rest, _, _ := r.mustRead("issues", end.Checkpoint) // resumes after the page that was read
			if len(rest) != 51 {                               // the last item of that page is read again
				t.Errorf("the rest is %d items", len(rest))
			}
		})
	}
}

// TestWhereThePagesOfAnAPIAre: the address of the API tells, and by it which items belong to a part.
func TestWhereThePagesOfAnAPIAre(t *testing.T) {
	t.Parallel()
	for base, pages := range map[string]string{"": "https://github.com", "https://api.github.com": "https://github.com", "https://api.acme.ghe.com/": "https://acme.ghe.com",
		"https://github.acme.example/api/v3": "https://github.acme.example", "https://api.acme.example/api/v3": "https://api.acme.example"} {
		settings := source.NewSettings(map[string]any{"repositories": []string{"acme/api"}, "baseUrl": base})
		c := &github.Connector{HTTP: http.DefaultClient}
		if !c.PartContains(settings, "acme/api issues", pages+"/acme/api/issues/1") || !c.PartContains(settings, "acme/api files", pages+"/acme/api/blob/main/a.go") {
			t.Errorf("%q: not %s", base, pages)
		}
	}
}

func TestTheTokenStaysWithTheAPI(t *testing.T) {
	t.Parallel()
	r := read(t)
	var told string
	thief := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		told = q.Header.Get("Authorization")
		_, _ = io.WriteString(w, "[]")
	}))
	t.Cleanup(thief.Close)
	r.c.HTTP = fetch.NewReaching(page.Read, func(netip.AddrPort) bool { return true }, r.server.Certificate()).Client(0)
	r.server.Before(func(_ string, w http.ResponseWriter) bool {
		w.Header().Set("Location", thief.URL+"/")
		w.WriteHeader(http.StatusMovedPermanently)
		return true
	})
	if _, _, _, err := r.part("issues", nil); err != nil {
		t.Fatal(err)
	}
	if told != "" {
		t.Errorf("the redirect got %q", told)
	}
}

func TestPrivateAddressesAreNotReached(t *testing.T) {
	t.Parallel()
	r := read(t)
	r.c.HTTP = fetch.New(page.Read).Client(0)
	for _, base := range []string{r.server.API(), strings.Replace(r.server.API(), "127.0.0.1", "localhost", 1), "http://2130706433/", "http://[::1]:80/", "http://169.254.169.254/latest"} {
		r.access.Settings = source.NewSettings(map[string]any{"repositories": []string{"acme/api"}, "baseUrl": base})
		_, _, _, err := r.part("issues", nil)
		var failed *source.SyncError
		if !errors.As(err, &failed) || failed.Code != source.Blocked && failed.Code != source.Unreadable {
			t.Errorf("%s: %v", base, err)
		}
	}
	if requests := r.server.Requests(); len(requests) > 0 {
		t.Errorf("reached: %q", requests)
	}
}

// TestAShortPageOfRecordsIsNotTheLastOne if it has a next one: GitHub leaves records that it hides out of the pages that they are on.
func TestAShortPageOfRecordsIsNotTheLastOne(t *testing.T) {
	t.Parallel()
	for name, spam := range map[string]func(n int) bool{
		"one a page":  func(n int) bool { return n%100 == 50 },
		"whole pages": func(n int) bool { return n >= 100 && n < 300 },
		"none":        func(int) bool { return false },
	} {
		for sameTime, step := range map[string]time.Duration{"at different times": time.Second, "at the same time": 0} {
			t.Run(name+", "+sameTime, func(t *testing.T) {
				t.Parallel()
				r := read(t)
				want := 0
				r.put(func(x *githubtest.Repository) {
					for n := range 450 {
						i := r.server.NewIssue("acme/api", n+1, "An issue")
						i.UpdatedAt = now.Add(-time.Hour).Add(time.Duration(n) * step)
						if i.Spam = spam(n); !i.Spam {
							want++
						}
						x.Issues = append(x.Issues, i)
					}
				})
				seen := map[string]bool{}
				for page, err := range r.c.Read(t.Context(), r.access, "acme/api issues", nil) {
					if err != nil {
						t.Fatal(err)
					}
					for _, i := range page.Items {
						seen[i.URI] = true
					}
				}
				if len(seen) != want {
					t.Errorf("%d of %d", len(seen), want)
				}
			})
		}
	}
}
