package client_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"docent/client"
	"docent/testkit/apitest"
)

// waits records pauses instead of making them.
type waits struct {
	mu   sync.Mutex
	list []time.Duration
}

func (w *waits) pause(ctx context.Context, d time.Duration) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.list = append(w.list, d)
	return ctx.Err()
}

func connect(t *testing.T, url string) (*client.Client, *waits) {
	t.Helper()
	c, err := client.New(url, apitest.Key)
	if err != nil {
		t.Fatal(err)
	}
	w := &waits{}
	c.Pause = w.pause
	return c, w
}

func TestServerAddress(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name, server, key, base, wrong string
	}{
		{name: "as given", server: "https://docent.example/v1", key: "k", base: "https://docent.example/v1"},
		{name: "slash at the end", server: "http://h:8080/v1/", key: "k", base: "http://h:8080/v1"},
		{name: "no path", server: "http://h:8080", key: "k", base: "http://h:8080/v1"},
		{name: "stage of a gateway", server: "https://h/prod/v1", key: "k", base: "https://h/prod/v1"},
		{name: "no scheme", server: "localhost:8080", key: "k", wrong: "is not an http or https URL"},
		{name: "a port that is none", server: "http://h:99999/v1", key: "k", wrong: "has no port from 1 to 65535"},
		{name: "port 0", server: "http://h:0/v1", key: "k", wrong: "has no port from 1 to 65535"},
		{name: "the last port", server: "http://[::1]:65535/v1", key: "k", base: "http://[::1]:65535/v1"},
		{name: "query", server: "http://h/v1?x=1", key: "k", wrong: "must not have a query"},
		{name: "a password", server: "https://ada:secret@h/v1", key: "k", wrong: "must not contain a user"},
		{name: "no key", server: "http://h/v1", wrong: "no API key"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			c, err := client.New(tc.server, tc.key)
			switch {
			case tc.wrong != "" && (err == nil || !strings.Contains(err.Error(), tc.wrong)):
				t.Fatalf("error %v, want one with %q", err, tc.wrong)
			case tc.wrong == "" && err != nil:
				t.Fatal(err)
			case tc.wrong == "" && c.Base() != tc.base:
				t.Fatalf("base %q, want %q", c.Base(), tc.base)
			}
		})
	}
}

func TestKeysAsFilesHaveThem(t *testing.T) {
	t.Parallel()
	api := apitest.New(t)
	id := api.AddCollection("wiki")
	for _, key := range []string{apitest.Key + "\n", " " + apitest.Key + "\r\n"} {
		c, err := client.New(api.URL, key)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Collection(t.Context(), id); err != nil {
			t.Errorf("the key %q: %v", key, err)
		}
	}
	for _, key := range []string{apitest.Key + "\n" + apitest.Key, "docent_team_\x00", "docent_team_é"} {
		if _, err := client.New(api.URL, key); err == nil || strings.Contains(err.Error(), key) {
			t.Errorf("the key %q: %v", key, err)
		}
	}
	if _, err := client.New(api.URL, " \n"); err == nil || err.Error() != client.ErrNoKey.Error() {
		t.Errorf("a blank key: %v", err)
	}
}

func TestRetries(t *testing.T) {
	t.Parallel()
	type refusal struct {
		status     int // 0: the connection is closed
		retryAfter string
	}
	cases := []struct {
		name     string
		refusals []refusal // one per try; afterwards the server works
		waits    []time.Duration
		message  string // of the error; empty: success
	}{
		{name: "503 names its wait", refusals: []refusal{{503, "7"}, {503, "3"}}, waits: []time.Duration{7 * time.Second, 3 * time.Second}},
		{name: "429 with a short wait", refusals: []refusal{{429, "2"}}, waits: []time.Duration{2 * time.Second}},
		{name: "429 until tomorrow", refusals: []refusal{{429, "40000"}}, message: "No more today. (quota-exceeded, request r-1)"},
		{name: "503 for an hour", refusals: []refusal{{503, "3600"}}, message: "No more today."},
		{name: "broken connections", refusals: []refusal{{}, {}}, waits: []time.Duration{-1, -1}},
		{name: "permanent 503", refusals: slices.Repeat([]refusal{{503, "1"}}, 5), waits: slices.Repeat([]time.Duration{time.Second}, 4), message: "5 tries"},
		{name: "400 is final", refusals: []refusal{{400, "1"}}, message: "No more today."},
		{name: "401 is final", refusals: []refusal{{401, ""}}, message: "No more today."},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			api := apitest.New(t)
			id := api.AddCollection("wiki")
			var tries atomic.Int32
			api.Refuse = func(w http.ResponseWriter, _ *http.Request) bool {
				n := int(tries.Add(1))
				if n > len(tc.refusals) {
					return false
				}
				r := tc.refusals[n-1]
				if r.status == 0 {
					panic(http.ErrAbortHandler)
				}
				w.Header().Set("Retry-After", r.retryAfter)
				apitest.Problem(w, r.status, "quota-exceeded", "No more today.")
				return true
			}
			c, w := connect(t, api.URL)
			_, err := c.PutDocument(t.Context(), client.Document{CollectionID: id, Title: "t", URI: "https://x.example/"})
			if tc.message == "" && err != nil {
				t.Fatal(err)
			}
			if tc.message != "" && (err == nil || !strings.Contains(err.Error(), tc.message)) {
				t.Fatalf("error %v, want one with %q", err, tc.message)
			}
			if len(w.list) != len(tc.waits) {
				t.Fatalf("waits %v, want %v", w.list, tc.waits)
			}
			for i, want := range tc.waits {
				if want < 0 && w.list[i] > 0 && w.list[i] < 10*time.Second {
					continue // a wait that the client chose itself
				}
				if w.list[i] != want {
					t.Fatalf("waits %v, want %v", w.list, tc.waits)
				}
			}
		})
	}
}

// TestARemovalWhoseReplyWasLostSucceeds: the next try finds nothing. An unknown id is an error.
func TestARemovalWhoseReplyWasLostSucceeds(t *testing.T) {
	t.Parallel()
	const lost = 0 // a status: the connection is closed
	for name, tt := range map[string]struct {
		statuses []int
		removed  bool
	}{
		"a lost reply":          {[]int{lost, 404}, true},
		"an error of a proxy":   {[]int{504, 404}, true},
		"a lost reply and more": {[]int{lost, 429, 404}, true},
		"an unknown id":         {[]int{404}, false},
		"a busy server":         {[]int{429, 404}, false},
		"another refusal":       {[]int{lost, 403}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tries := 0
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				status := tt.statuses[tries]
				if tries++; status == lost {
					panic(http.ErrAbortHandler)
				}
				w.Header().Set("Retry-After", "1")
				apitest.Problem(w, status, "code", "A refusal.")
			}))
			t.Cleanup(server.Close)
			c, _ := connect(t, server.URL)
			if err := c.RemoveSource(t.Context(), "d"); (err == nil) != tt.removed || tries != len(tt.statuses) {
				t.Errorf("%v after %d tries", err, tries)
			}
		})
	}
}

// TestTooManyRequestsAtOnceAreSentLater has a rate that many parallel calls share: each is refused often.
func TestTooManyRequestsAtOnceAreSentLater(t *testing.T) {
	t.Parallel()
	for refusals, success := range map[int]bool{30: true, 1000: false} {
		api := apitest.New(t)
		id := api.AddCollection("wiki")
		var tries atomic.Int32
		api.Refuse = func(w http.ResponseWriter, _ *http.Request) bool {
			if int(tries.Add(1)) > refusals {
				return false
			}
			w.Header().Set("Retry-After", "1")
			apitest.Problem(w, 429, "rate-exceeded", "This team may send 10 requests per second.")
			return true
		}
		c, w := connect(t, api.URL)
		_, err := c.Collection(t.Context(), id)
		if (err == nil) != success || success && len(w.list) != refusals {
			t.Errorf("%d refusals: %v after %d waits", refusals, err, len(w.list))
		}
		total := time.Duration(0)
		for _, wait := range w.list {
			if total += wait; wait < time.Second || wait >= 2*time.Second {
				t.Errorf("a wait of %v", wait)
			}
		}
		if total > 3*time.Minute {
			t.Errorf("it waited %v", total)
		}
	}
}

func TestErrorsOnOneLine(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name, body, want string
	}{
		{"problem", `{"status":409,"code":"collection-limit","detail":"This team has 25 collections.","requestId":"r-1"}`,
			"This team has 25 collections. (collection-limit, request r-1)"},
		{"title alone", `{"status":409,"title":"Conflict of\nsorts"}`, "Conflict of sorts"},
		{"a proxy's page", `<html>no</html>`, "The server answered 409 Conflict."},
		{"terminal codes", `{"detail":"red \u001b[31malert"}`, "red [31malert"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(409)
				_, _ = w.Write([]byte(tc.body))
			}))
			defer srv.Close()
			c, _ := connect(t, srv.URL)
			_, err := c.Collection(t.Context(), "x")
			if err == nil || err.Error() != tc.want {
				t.Fatalf("error %v, want %q", err, tc.want)
			}
		})
	}
}

func TestNoServer(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.NotFoundHandler())
	url := srv.URL
	srv.Close()
	c, w := connect(t, url)
	told := 0
	c.Retrying = func(err error) {
		if told++; !client.Unreached(err) {
			t.Errorf("repeated because of %v", err)
		}
	}
	_, err := c.Collection(t.Context(), "x")
	if told != 4 {
		t.Errorf("told %d times that the call is repeated, want 4", told)
	}
	if !client.Unreached(err) || !strings.HasPrefix(err.Error(), "no answer from "+url+"/v1") {
		t.Fatalf("error %v, want that nothing answered", err)
	}
	if len(w.list) != 4 {
		t.Fatalf("%d waits, want 4 between 5 tries", len(w.list))
	}
	for i := 1; i < len(w.list); i++ {
		if w.list[i] <= w.list[i-1] {
			t.Fatalf("waits do not grow: %v", w.list)
		}
	}
}

func TestCancelEndsRetries(t *testing.T) {
	t.Parallel()
	api := apitest.New(t)
	ctx, cancel := context.WithCancel(t.Context())
	api.Refuse = func(w http.ResponseWriter, _ *http.Request) bool {
		cancel()
		apitest.Problem(w, 503, "unavailable", "Later.")
		return true
	}
	c, _ := connect(t, api.URL)
	if err := c.Ask(ctx, "x", client.Question{Text: "why"}); !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v, want canceled", err)
	}
}

func TestBodiesOnTheWay(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, 5<<20)
	for i := range noise {
		noise[i] = byte('!' + random.IntN(94))
	}
	cases := []struct {
		name, body, encoding string
	}{
		{"small goes as it is", "a few words", ""},
		{"text is compressed", strings.Repeat("all work and no play ", 1000), "gzip"},
		{"large goes as base64 of gzip", strings.Repeat("all work and no play ", 300_000), "body"},
		{"line ends fill 10 MB exactly", strings.Repeat("\n", 10<<20-4096), "body"},
		{"what base64 would make longer", string(noise), "gzip"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			api := apitest.New(t)
			c, _ := connect(t, api.URL)
			want := client.Document{CollectionID: api.AddCollection("wiki"), Title: "<b> & \"c\"", Body: tc.body, URI: "https://x.example/"}
			put, err := c.PutDocument(t.Context(), want)
			if err != nil {
				t.Fatal(err)
			}
			got := api.Documents()[want.URI]
			if got.Body != want.Body || got.Title != want.Title || got.ID != put.ID {
				t.Fatalf("stored a document of title %q and %d bytes, want %q and %d", got.Title, len(got.Body), want.Title, len(want.Body))
			}
			if got.Encoding != tc.encoding {
				t.Fatalf("came encoded as %q, want %q", got.Encoding, tc.encoding)
			}
			if lag := got.UpdatedAt.Sub(put.At); lag < 0 || lag >= time.Second {
				t.Fatalf("put at %v, updated at %v", put.At, got.UpdatedAt)
			}
		})
	}
}

func TestListsEveryPageOfTheCollectionAlone(t *testing.T) {
	t.Parallel()
	api := apitest.New(t)
	api.PageSize = 3
	c, _ := connect(t, api.URL)
	wiki, other := api.AddCollection("wiki"), api.AddCollection("other")
	want := map[string]bool{}
	for i := range 10 {
		uri := "https://x.example/" + string(rune('a'+i))
		into := wiki
		if i%4 == 3 {
			into = other
		} else {
			want[uri] = true
		}
		if _, err := c.PutDocument(t.Context(), client.Document{CollectionID: into, Title: "t", URI: uri}); err != nil {
			t.Fatal(err)
		}
	}
	listed, err := c.Documents(t.Context(), wiki)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]bool{}
	for uri, d := range listed {
		got[uri] = d.ID != "" && !d.UpdatedAt.IsZero()
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatal(diff)
	}
}

func TestAwaitKeepsTheServersPace(t *testing.T) {
	t.Parallel()
	api := apitest.New(t)
	api.Polls = 3
	c, w := connect(t, api.URL)
	now := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	c.Now = func() time.Time { return now }
	if err := c.Ask(t.Context(), "q", client.Question{Text: "how?"}); err != nil {
		t.Fatal(err)
	}
	a, err := c.Await(t.Context(), "q")
	if err != nil {
		t.Fatal(err)
	}
	if a.State != client.StateComplete || a.Result.Answer != "Run **undo**." || len(a.Result.References) != 2 {
		t.Fatalf("answer %+v", a)
	}
	if diff := cmp.Diff([]time.Duration{2 * time.Second, 2 * time.Second, 2 * time.Second}, w.list); diff != "" {
		t.Fatal(diff)
	}
}
