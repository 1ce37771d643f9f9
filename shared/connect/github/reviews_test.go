package github_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"docent/shared/connect/github/githubtest"
	"docent/shared/source"
)

// pulls puts n pull requests on the server, each with a review.
func (r *reading) pulls(n int) {
	r.put(func(x *githubtest.Repository) {
		for i := range n {
			one := r.server.NewPull("acme/api", i+1, strconv.Itoa(i+1))
			x.Issues, x.Verdicts = append(x.Issues, one), append(x.Verdicts, r.server.NewVerdict(i+1, one, "Fine."))
		}
	})
}

func TestReviewsOfPullRequests(t *testing.T) {
	t.Parallel()
	r := read(t)
	one, other := r.server.NewPull("acme/api", 7, "Cache tickets"), r.server.NewIssue("acme/api", 8, "An issue")
	r.put(func(x *githubtest.Repository) {
		x.Issues = []githubtest.Issue{one, other}
		ghost, bot := r.server.NewVerdict(3, one, "By nobody."), r.server.NewVerdict(4, one, "By a robot.")
		ghost.User, bot.Bot = nil, true
		x.Verdicts = []githubtest.Review{r.server.NewVerdict(1, one, "Not before the tickets expire."), r.server.NewVerdict(2, one, " \n"), ghost, bot}
	})
	var got []source.Item
	for page, err := range r.c.Read(t.Context(), r.access, "acme/api reviews", nil) {
		if err != nil || page.Exact {
			t.Fatalf("exact %v, %v", page.Exact, err)
		}
		got = append(got, page.Items...)
	}
	at := one.HTMLURL
	item := func(id int, author, body string) source.Item {
		when := githubtest.Day.Add(time.Duration(id) * time.Minute)
		return source.Item{URI: fmt.Sprintf("%s#pullrequestreview-%d", at, id), Title: "Review of #7", Body: body, SourceType: "pull_request", Author: author,
			Project: "acme/api", CreatedAt: when, UpdatedAt: when, Comment: true, About: at}
	}
	want := []source.Item{item(1, "grace", "Not before the tickets expire."), item(3, "", "By nobody."), item(4, "grace[bot]", "By a robot.")}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	for _, part := range []string{"issues", "comments", "review comments", "reviews", "files"} {
		if in := r.c.PartContains(r.access.Settings, "acme/api "+part, want[0].URI); in != (part == "reviews") {
			t.Errorf("in %s: %v", part, in)
		}
	}
}

// TestOnlyReviewsOfChangedPullRequestsAreReadAgain, by one request, whatever number of pull requests there is.
func TestOnlyReviewsOfChangedPullRequestsAreReadAgain(t *testing.T) {
	t.Parallel()
	r := read(t)
	r.pulls(60)
	items, _, at := r.mustRead("reviews", nil)
	if asked := r.server.Requests(); len(items) != 60 || len(asked) != 3 {
		t.Errorf("%d items, asked %q", len(items), asked)
	}
	for n, change := range []func(x *githubtest.Repository){
		func(*githubtest.Repository) {},
		func(x *githubtest.Repository) {
			x.Issues[4].UpdatedAt = githubtest.Day.Add(time.Hour) // at the time of the last one
			x.Verdicts = append(x.Verdicts, r.server.NewVerdict(100, x.Issues[4], "Better."))
		},
	} {
		r.put(change)
		items, _, at = r.mustRead("reviews", at)
		if asked := r.server.Requests(); len(items) != 1+2*n || len(asked) != 1 {
			t.Errorf("%d: %q, asked %q", n, items, asked)
		}
	}
}

// TestPullRequestsThatChangeWhileReviewsAreRead are read by the next reading at the latest, also if it is interrupted after each page.
func TestPullRequestsThatChangeWhileReviewsAreRead(t *testing.T) {
	t.Parallel()
	r := read(t)
	r.pulls(60)
	seen := map[string]bool{}
	changes := 0
	var at []byte
	turn := func() (last bool) {
		for page, err := range r.c.Read(t.Context(), r.access, "acme/api reviews", at) {
			if err != nil {
				t.Fatal(err)
			}
			for _, i := range page.Items {
				seen[i.Body+i.URI[strings.LastIndexByte(i.URI, '-'):]] = true
			}
			at = page.Checkpoint
			return page.Last
		}
		return false
	}
	for !turn() {
		changes++
		r.put(func(x *githubtest.Repository) {
			x.Issues[changes-1].UpdatedAt = githubtest.Day.Add(100 * time.Hour) // one that was not read yet
			x.Verdicts = append(x.Verdicts, r.server.NewVerdict(1000+changes, x.Issues[changes-1], "Later."))
		})
	}
	for range 3 {
		turn()
	}
	if changes != 2 || len(seen) != 60+changes {
		t.Errorf("%d changes, %d reviews", changes, len(seen))
	}
}

func TestAPullRequestWithManyReviews(t *testing.T) {
	t.Parallel()
	r := read(t)
	r.pulls(1)
	r.put(func(x *githubtest.Repository) {
		for n := range 349 {
			x.Verdicts = append(x.Verdicts, r.server.NewVerdict(n+2, x.Issues[0], "Fine."))
		}
	})
	most, uris := 0, map[string]bool{}
	for page, err := range r.c.Read(t.Context(), r.access, "acme/api reviews", nil) {
		if err != nil {
			t.Fatal(err)
		}
		most = max(most, len(page.Items))
		for _, i := range page.Items {
			uris[i.URI] = true
		}
	}
	if len(uris) != 350 || most > 200 {
		t.Errorf("%d reviews, up to %d at a time", len(uris), most)
	}
}

func TestFailuresOfReviews(t *testing.T) {
	t.Parallel()
	said := func(kind, message string) string {
		return fmt.Sprintf(`{"data":{"repository":null},"errors":[{"type":%q,"message":%q}]}`, kind, message)
	}
	list := func(edges string) string {
		return `{"data":{"repository":{"pullRequests":{"edges":` + edges + `,"pageInfo":{"hasNextPage":true}}}}}`
	}
	for name, tt := range map[string]struct {
		body, remaining, code string
	}{
		"a rate limit":               {said("RATE_LIMITED", "API rate limit exceeded"), "0", source.RateLimited},
		"a rate limit by its type":   {said("RATE_LIMITED", "API rate limit exceeded"), "", source.RateLimited},
		"no permission":              {said("FORBIDDEN", "Resource not accessible by personal access token"), "", source.Unauthorized},
		"not there":                  {said("NOT_FOUND", "Could not resolve to a Repository"), "", source.NotThere},
		"no permission for any":      {`{"data":{"repository":{"pullRequests":{"edges":[{"cursor":"a","node":null}]}}},"errors":[{"type":"FORBIDDEN","message":"No","path":["repository","pullRequests","edges",0,"node"]}]}`, "", source.Unauthorized},
		"too slow":                   {`{"data":null,"errors":[{"message":"Something went wrong"}]}`, "", source.Unreadable},
		"null":                       {`null`, "", source.Unreadable},
		"no repository":              {`{"data":{"repository":null}}`, "", source.Unreadable},
		"a null pull request":        {list(`[{"cursor":"a","node":null}]`), "", source.Unreadable},
		"no cursor":                  {list(`[{"cursor":"","node":{"number":1,"url":"u","updatedAt":"2026-01-01T00:00:00Z","reviews":{"nodes":[]}}}]`), "", source.Unreadable},
		"a null review":              {list(`[{"cursor":"a","node":{"number":1,"url":"u","updatedAt":"2026-01-01T00:00:00Z","reviews":{"nodes":[null]}}}]`), "", source.Unreadable},
		"more of nothing":            {list(`[]`), "", source.Unreadable},
		"the same page once more":    {list(`[{"cursor":"a","node":{"number":1,"url":"u","updatedAt":"2026-01-01T00:00:00Z","reviews":{"nodes":[]}}}]`), "", source.Unreadable},
		"the same reviews once more": {list(`[{"cursor":"a","node":{"number":1,"url":"u","updatedAt":"2026-01-01T00:00:00Z","reviews":{"nodes":[],"pageInfo":{"hasNextPage":true}}}}]`), "", source.Unreadable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := read(t)
			r.pulls(1)
			r.server.Before(func(_ string, w http.ResponseWriter) bool {
				w.Header().Set("X-RateLimit-Remaining", tt.remaining)
				_, _ = io.WriteString(w, tt.body)
				return true
			})
			_, _, _, err := r.part("reviews", nil)
			var failed *source.SyncError
			if !errors.As(err, &failed) || failed.Code != tt.code {
				t.Fatalf("got %v", err)
			}
			r.server.Before(nil)
			if items, _, _ := r.mustRead("reviews", nil); len(items) != 1 {
				t.Errorf("then %q", items)
			}
		})
	}
}

// TestARateLimitOfReviewsWithoutAType is waited for: GitHub sends a secondary one with the status 200.
func TestARateLimitOfReviewsWithoutAType(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		header, value, message string
		wait                   time.Duration
	}{
		"a time to wait":    {"Retry-After", "120", "Something went wrong", 2 * time.Minute},
		"no requests left":  {"X-RateLimit-Remaining", "0", "Something went wrong", time.Minute},
		"only a message":    {"X-RateLimit-Remaining", "4000", "You have exceeded a secondary rate limit.", time.Minute},
		"one that shouts":   {"X-RateLimit-Remaining", "4000", "API Rate Limit exceeded", time.Minute},
		"another with time": {"Retry-After", "30", "You have exceeded a secondary rate limit.", 30 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := read(t)
			r.pulls(1)
			r.server.Before(func(_ string, w http.ResponseWriter) bool {
				w.Header().Set(tt.header, tt.value)
				_, _ = fmt.Fprintf(w, `{"data":null,"errors":[{"message":%q}]}`, tt.message)
				return true
			})
			_, _, _, err := r.part("reviews", nil)
			var failed *source.SyncError
			if !errors.As(err, &failed) || failed.Code != source.RateLimited || !failed.RetryAt.Equal(now.Add(tt.wait)) {
				t.Errorf("got %v", err)
			}
			if asked := r.server.Requests(); len(asked) != 1 {
				t.Errorf("asked %q", asked)
			}
		})
	}
}

// TestAPageOfReviewsThatTakesGitHubTooLong is read a few pull requests at a time. Each size is tried once, because a request that hangs
// takes a minute of the seven that a page may take.
func TestAPageOfReviewsThatTakesGitHubTooLong(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ fail, asked int }{
		"25 at a time": {1, 1 + 5 + 1},
		"5 at a time":  {2, 2 + 5 + 4 + 1},
		"each":         {3, 3 + 2 + 4 + 4 + 1}, // the first comes without its reviews, which are asked for then
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := read(t)
			r.pulls(30)
			asked := 0
			r.server.Before(func(_ string, w http.ResponseWriter) bool {
				if asked++; asked <= tt.fail {
					w.WriteHeader(http.StatusBadGateway)
				}
				return asked <= tt.fail
			})
			if items, _, _ := r.mustRead("reviews", nil); len(items) != 30 || asked != tt.asked || r.pauses != tt.fail {
				t.Errorf("%d items, %d requests, %d pauses", len(items), asked, r.pauses)
			}
		})
	}
}

// TestPullRequestsThatGitHubDoesNotReturnHoldUpNoOther: they are named, and read once GitHub returns them.
func TestPullRequestsThatGitHubDoesNotReturnHoldUpNoOther(t *testing.T) {
	t.Parallel()
	for name, null := range map[string][]int{"the first": {30}, "some": {12, 13}, "the last": {1}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := read(t)
			r.pulls(30)
			r.put(func(x *githubtest.Repository) { x.Null = null })
			items, skipped := 0, 0
			for page, err := range r.c.Read(t.Context(), r.access, "acme/api reviews", nil) {
				if err != nil {
					t.Fatal(err)
				}
				items, skipped = items+len(page.Items), skipped+len(page.Skipped)
			}
			if items != 30-len(null) || skipped != len(null) {
				t.Errorf("%d items, %d left out", items, skipped)
			}
			r.put(func(x *githubtest.Repository) { x.Null = nil })
			if items, _, _ := r.mustRead("reviews", nil); len(items) != 30 {
				t.Errorf("then %d items", len(items))
			}
		})
	}
}

// TestAPullRequestWhoseReviewsAreNeverReturnedHoldsUpNoOther: the next sync leaves them out, and each later one tries again.
func TestAPullRequestWhoseReviewsAreNeverReturnedHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	for name, many := range map[string]int{"few reviews": 1, "more than a page of reviews": 30} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := read(t)
			r.pulls(30)
			r.put(func(x *githubtest.Repository) {
				x.Slow = []int{12}
				for n := range many - 1 {
					x.Verdicts = append(x.Verdicts, r.server.NewVerdict(100+n, x.Issues[11], "Fine."))
				}
			})
			uri := r.server.URL + "/acme/api/pull/12#reviews"
			if _, _, _, err := r.part("reviews", nil); !source.IsOfOne(err) || !strings.Contains(fmt.Sprintf("%+v", err), source.Unreadable) {
				t.Fatalf("at first: %v", err)
			}
			r.access.Failed = []string{uri} // as the sync remembers it
			var at []byte
			for _, tt := range []struct {
				change            func(x *githubtest.Repository)
				again             bool // from the last checkpoint
				items             int
				leftOut, isUnread bool
			}{
				{func(*githubtest.Repository) {}, false, 29, true, false},
				{func(*githubtest.Repository) {}, true, 1, true, false}, // the one that changed last is always read
				{func(x *githubtest.Repository) { x.Slow = nil }, true, many + 1, false, true},
				{func(*githubtest.Repository) {}, false, many + 29, false, true},
				{func(x *githubtest.Repository) { x.Issues = slices.Delete(x.Issues, 11, 12); x.Verdicts = nil }, true, 0, false, true},
			} {
				r.put(tt.change)
				from := at
				if !tt.again {
					from = nil
				}
				items, leftOut, isUnread := 0, false, false
				for page, err := range r.c.Read(t.Context(), r.access, "acme/api reviews", from) {
					if err != nil {
						t.Fatal(err)
					}
					items, at = items+len(page.Items), page.Checkpoint
					isUnread = isUnread || slices.Contains(page.Unread, uri)
					leftOut = leftOut || slices.ContainsFunc(page.Failed, func(f source.SkippedItem) bool { return f.URI == uri })
				}
				if items != tt.items || leftOut != tt.leftOut || isUnread != tt.isUnread {
					t.Errorf("%d items, want %d; left out: %t, unread: %t", items, tt.items, leftOut, isUnread)
				}
			}
		})
	}
}

// TestANullReviewHoldsUpNoOther: GitHub has null for one that it fails to return. Its pull request is named.
func TestANullReviewHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	for name, failures := range map[string]string{"an error": `{"message":"Something went wrong.","path":["repository","pullRequests","edges",0,"node","reviews","nodes",0]}`, "no error": ``} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := read(t)
			r.server.Before(func(_ string, w http.ResponseWriter) bool {
				_, _ = fmt.Fprintf(w, `{"data":{"repository":{"pullRequests":{"edges":[{"cursor":"a","node":{"number":1,"url":"u","updatedAt":"2026-01-01T00:00:00Z",
					"reviews":{"nodes":[null,{"url":"u#1","body":"Fine."}]}}}]}}},"errors":[%s]}`, failures)
				return true
			})
			var items []source.Item
			var skipped []source.SkippedItem
			for page, err := range r.c.Read(t.Context(), r.access, "acme/api reviews", nil) {
				if err != nil {
					t.Fatal(err)
				}
				items, skipped = append(items, page.Items...), append(skipped, page.Skipped...)
			}
			if len(items) != 1 || len(skipped) != 1 || skipped[0].URI != r.server.URL+"/acme/api/pull/1" {
				t.Errorf("%d items, skipped %v", len(items), skipped)
			}
		})
	}
}

// TestRepliesThatLackRecordsAreAskedForAgain: GitHub leaves out records of a query that needs too much, with the status 200, and returns
// them if it is asked for less. None is lost.
func TestRepliesThatLackRecordsAreAskedForAgain(t *testing.T) {
	t.Parallel()
	const nodes, node, all = `"edges",%d,"node","reviews","nodes"`, `"edges",%d,"node","reviews","nodes",0`, ``
	for name, tt := range map[string]struct{ reviews, kind, path string }{
		"no reviews, by a limit":    {`{"nodes":null,"pageInfo":{"hasNextPage":false}}`, "RESOURCE_LIMITS_EXCEEDED", nodes},
		"a null review, by a limit": {`{"nodes":[null],"pageInfo":{"hasNextPage":false}}`, "RESOURCE_LIMITS_EXCEEDED", node},
		"no reviews, for a failure": {`{"nodes":null,"pageInfo":{"hasNextPage":false}}`, "", nodes},
		"a null review":             {`{"nodes":[null],"pageInfo":{"hasNextPage":false}}`, "", node},
		"a null review, not found":  {`{"nodes":[null],"pageInfo":{"hasNextPage":false}}`, "NOT_FOUND", node},
		"a null review, no error":   {`{"nodes":[null],"pageInfo":{"hasNextPage":false}}`, "", all},
		"no reviews, and no error":  {`{"nodes":null,"pageInfo":{"hasNextPage":false}}`, "", all},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := read(t)
			r.pulls(30)
			asked := 0
			r.server.Before(func(_ string, w http.ResponseWriter) bool {
				if asked++; asked > 1 {
					return false
				}
				var edges, failures []string
				for i := range 25 {
					n := 30 - i
					reviews := fmt.Sprintf(`{"nodes":[{"url":"u%d#pullrequestreview-1","body":"Fine."}],"pageInfo":{"hasNextPage":false}}`, n)
					if i >= 5 {
						reviews = tt.reviews
						if tt.path != all {
							failures = append(failures, fmt.Sprintf(`{"type":%q,"message":"No.","path":["repository","pullRequests",`+tt.path+`]}`, tt.kind, i))
						}
					}
					edges = append(edges, fmt.Sprintf(`{"cursor":"c%d","node":{"number":%d,"url":"u","updatedAt":"2026-01-01T00:00:00Z","reviews":%s}}`, n, n, reviews))
				}
				_, _ = fmt.Fprintf(w, `{"data":{"repository":{"pullRequests":{"edges":[%s],"pageInfo":{"hasNextPage":false}}}},"errors":[%s]}`,
					strings.Join(edges, ","), strings.Join(failures, ","))
				return true
			})
			if items, _, _ := r.mustRead("reviews", nil); len(items) != 30 {
				t.Errorf("%d items", len(items))
			}
		})
	}
}

// TestReviewsOfOnePullRequestThatNeedTooMuchAreLeftOutByName, and not as if there were none.
func TestReviewsOfOnePullRequestThatNeedTooMuchAreLeftOutByName(t *testing.T) {
	t.Parallel()
	r := read(t)
	r.pulls(1)
	r.access.Failed = []string{r.server.URL + "/acme/api/pull/1#reviews"}
	r.server.Before(func(_ string, w http.ResponseWriter) bool {
		_, _ = io.WriteString(w, `{"data":{"repository":{
			"pullRequests":{"edges":[{"cursor":"a","node":{"number":1,"url":"u","updatedAt":"2026-01-01T00:00:00Z","reviews":{"nodes":[],"pageInfo":{"hasNextPage":true,"endCursor":"b"}}}}]},
			"pullRequest":{"reviews":{"nodes":null}}}}}`)
		return true
	})
	leftOut := 0
	for page, err := range r.c.Read(t.Context(), r.access, "acme/api reviews", nil) {
		if err != nil {
			t.Fatal(err)
		}
		leftOut += len(page.Failed)
	}
	if leftOut != 1 {
		t.Errorf("%d left out", leftOut)
	}
}

// TestACursorOfReviewsThatHasExpired begins the reading again.
func TestACursorOfReviewsThatHasExpired(t *testing.T) {
	t.Parallel()
	r := read(t)
	r.pulls(60)
	var at []byte
	for page, err := range r.c.Read(t.Context(), r.access, "acme/api reviews", nil) {
		if err != nil {
			t.Fatal(err)
		}
		at = page.Checkpoint
		break
	}
	asked := 0
	r.server.Before(func(_ string, w http.ResponseWriter) bool {
		if asked++; asked == 1 {
			_, _ = io.WriteString(w, `{"data":{"repository":null},"errors":[{"type":"INVALID_CURSOR_ARGUMENTS","message":"no"}]}`)
		}
		return asked == 1
	})
	items, _, at := r.mustRead("reviews", at)
	if len(items) != 60 {
		t.Errorf("%d items", len(items))
	}
	if items, _, _ = r.mustRead("reviews", at); len(items) != 1 {
		t.Errorf("then %d items", len(items))
	}
}

func TestWhetherAReviewIsDeleted(t *testing.T) {
	t.Parallel()
	r := read(t)
	r.pulls(3)
	uri := func(n int) string { return fmt.Sprintf("%s/acme/api/pull/%d#pullrequestreview-%d", r.server.URL, n, n) }
	r.put(func(x *githubtest.Repository) {
		x.Verdicts[1].Body = " "
		x.Verdicts = slices.Delete(x.Verdicts, 2, 3)
	})
	for n, want := range map[int]bool{1: false, 2: true, 3: true} {
		if gone, err := r.c.IsDeleted(t.Context(), r.access, "acme/api reviews", uri(n)); gone != want || err != nil {
			t.Errorf("%d: %v %v", n, gone, err)
		}
	}
}

// TestWithoutATokenReviewsAreNotRead, because GraphQL wants one; and none is asked about.
func TestWithoutATokenReviewsAreNotRead(t *testing.T) {
	t.Parallel()
	r := read(t)
	r.server.AnyToken()
	r.pulls(2)
	r.access.Secrets = nil
	items, _, _ := r.mustRead("reviews", nil)
	gone, err := r.c.IsDeleted(t.Context(), r.access, "acme/api reviews", r.server.URL+"/acme/api/pull/1#pullrequestreview-1")
	if asked := r.server.Requests(); len(items) != 0 || gone || err != nil || len(asked) != 0 {
		t.Errorf("%q, gone %v, %v, asked %q", items, gone, err, asked)
	}
}
