package jira

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"docent/shared/connect/atlassian"
	"docent/shared/connect/rest"
	"docent/shared/growthtest"
	"docent/shared/source"
)

// answers is a server of replies by the ends of paths, and how often each was asked for.
type answers struct {
	*Connector
	source.Access
	asked map[string]int
}

func serve(t *testing.T, settings map[string]any, replies map[string]any) *answers {
	t.Helper()
	a := &answers{asked: map[string]int{}}
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for end, reply := range replies {
			if strings.HasSuffix(r.URL.Path, end) {
				a.asked[end]++
				_ = json.NewEncoder(w).Encode(reply)
				return
			}
		}
		http.NotFound(w, r)
	}))
	t.Cleanup(server.Close)
	all := map[string]any{"baseUrl": server.URL, "projects": []string{"OPS"}, "access": "source"}
	for name, value := range settings {
		all[name] = value
	}
	a.Access = source.Access{Settings: source.NewSettings(all), Secrets: source.Secrets{"accessToken": "secret"}}
	a.Connector = &Connector{atlassian.Client{HTTP: server.Client(), Now: time.Now, Pause: func(context.Context, time.Duration) error { return nil }}}
	return a
}

// issues returns n issues in the form of the API.
func issues(n int, fields map[string]any) (all []any) {
	for i := range n {
		all = append(all, map[string]any{"key": fmt.Sprint("OPS-", i+1), "fields": fields})
	}
	return all
}

func TestAListOfMoreIssuesThanWereAskedForIsRefused(t *testing.T) {
	t.Parallel()
	for n, refused := range map[int]bool{perPage: false, perPage + 1: true} {
		a := serve(t, nil, map[string]any{"/project/OPS": map[string]string{"key": "OPS"}, "/search": map[string]any{"total": n, "issues": issues(n, nil)}})
		items := 0
		var err error
		for page, failed := range a.Read(t.Context(), a.Access, "OPS", nil) {
			items, err = items+len(page.Items), failed
		}
		var failed *source.SyncError
		if errors.As(err, &failed) != refused || (items == n) == refused {
			t.Errorf("%d issues: %d items, %v", n, items, err)
		}
	}
}

func TestLongIssuesAreSeveralPages(t *testing.T) {
	t.Parallel()
	const n, long = 12, 2 << 20
	a := serve(t, nil, map[string]any{"/project/OPS": map[string]string{"key": "OPS"},
		"/search": map[string]any{"total": n, "issues": issues(n, map[string]any{"description": "{noformat}\n" + strings.Repeat("word ", long/5)})}})
	var keys []string
	for page, err := range a.Read(t.Context(), a.Access, "OPS", nil) {
		size := 0
		for _, i := range page.Items {
			keys, size = append(keys, i.Number), size+len(i.Body)
		}
		if err != nil || size > pageBytes+long || page.Last != (len(keys) == n) || len(page.Checkpoint) == 0 {
			t.Errorf("a page up to %v has %d bytes, last: %v, %v", keys, size, page.Last, err)
		}
	}
	if len(keys) != n || keys[0] != "OPS-1" || keys[n-1] != "OPS-12" {
		t.Errorf("read %v", keys)
	}
}

func TestTheCommentsOfAnIssueAreBoundedInBytes(t *testing.T) {
	t.Parallel()
	var comments []any
	for i := range 100 {
		comments = append(comments, map[string]any{"id": fmt.Sprint(i), "body": strings.Repeat("word ", 20_000)})
	}
	a := serve(t, nil, map[string]any{"/comment": map[string]any{"comments": comments, "total": 5000}})
	i := issue{Key: "OPS-1"}
	i.Fields.Comment.Total = 5000
	if _, _, err := a.open(a.Access, "OPS").listComments(t.Context(), &i); err != nil {
		t.Fatal(err)
	}
	if n := len(i.Fields.Comment.Comments); n != 400 || a.asked["/comment"] != 4 {
		t.Errorf("read %d comments of 100 KB by %d requests", n, a.asked["/comment"])
	}
}

func TestTheMembersOfASecurityLevelAreBounded(t *testing.T) {
	t.Parallel()
	var values []any
	for i := range 1000 {
		values = append(values, map[string]any{"holder": map[string]any{"type": "user", "user": map[string]string{"accountId": fmt.Sprint(i)}}})
	}
	a := serve(t, map[string]any{"email": "ada@acme.test"}, map[string]any{"/level/member": map[string]any{"values": values}})
	r := a.open(a.Access, "OPS")
	got, err := r.level(t.Context(), "1")
	if err != nil || len(got.Names().Users) > 0 || r.Notice == nil || a.asked["/level/member"] > maxMembers/1000+1 {
		t.Errorf("%d readers after %d requests, %v, %v", len(got.Names().Users), a.asked["/level/member"], r.Notice, err)
	}
}

// The readers of an issue are sorted once, not for each comment.
func TestCommentsTakeMemoryInProportionToTheirNumber(t *testing.T) {
	growthtest.Linear(t, 300, func(n int) {
		r := &reading{Site: &atlassian.Site{API: &rest.API{}}, project: "OPS", directory: newDirectory()}
		r.browse = &holders{}
		r.Known["staff"] = map[string]atlassian.User{}
		i := issue{Key: "OPS-1"}
		for k := range n {
			u := atlassian.User{AccountID: fmt.Sprint("user", k)}
			r.browse.Add(u)
			r.Known["staff"][u.AccountID] = u
			c := comment{ID: fmt.Sprint(k)}
			if k%2 == 0 {
				c.Visibility = &visibility{Type: "group", Value: "staff"}
			}
			i.Fields.Comment.Comments = append(i.Fields.Comment.Comments, c)
		}
		page, err := r.page(t.Context(), []issue{i}, nil)
		if err != nil || len(page.Items) != n+1 {
			t.Errorf("%d items, %v", len(page.Items), err)
		}
	})
}

// TestALongAddressIsNotRepeatedForEachLink: a text of 4 MB would become one of more than a gigabyte.
func TestALongAddressIsNotRepeatedForEachLink(t *testing.T) {
	t.Parallel()
	for base, want := range map[string]string{"https://jira.test": "[a](https://jira.test/browse/B-1)", "https://jira.test/" + strings.Repeat("a", 2000): "[a](/browse/B-1)"} {
		c := &Connector{}
		r := c.open(source.Access{Settings: source.NewSettings(map[string]any{"baseUrl": base})}, "B")
		i := issue{Key: "B-2"}
		i.Fields.Description = json.RawMessage(`"[a|B-1]"`)
		if item := r.issueItem(i, nil); item.Body != want || item.URI != base+"/browse/B-2" {
			t.Errorf("got %q at %s", item.Body, item.URI)
		}
		if item := r.commentItem(i, comment{ID: "1", Body: i.Fields.Description}, nil); item.Body != want {
			t.Errorf("a comment: got %q", item.Body)
		}
	}
}
