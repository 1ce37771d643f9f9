package httpapi_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// longText is a text of several stored parts, in words that search can index.
func longText(word string, bytes int) string {
	var text strings.Builder
	for n := 0; text.Len() < bytes; n++ {
		fmt.Fprintf(&text, "Paragraph %d speaks of %s and of nothing else.\n\n", n, word)
	}
	return text.String()
}

func TestADeletedCollectionLeavesNothing(t *testing.T) {
	t.Parallel()
	for _, indexed := range []bool{true, false} {
		t.Run(fmt.Sprintf("indexed %v", indexed), func(t *testing.T) {
			t.Parallel()
			a := newAPI(t)
			acme := a.newTenant("acme")
			wiki, blog := a.newCollection(acme.key, "wiki"), a.newCollection(acme.key, "blog")
			var ids []string
			for n := range 6 {
				uri := fmt.Sprintf("https://wiki.test/Zwetschge/%d", n)
				ids = append(ids, a.putDocument(acme.key, wiki, uri, "Zwetschge", longText("Zwetschge", 1+n*30_000)))
			}
			if indexed {
				a.drain()
			}
			a.putDocument(acme.key, wiki, "https://wiki.test/Zwetschge/5", "Zwetschge", longText("Zwetschge", 70_000)) // replaced
			moved := a.putDocument(acme.key, blog, "https://wiki.test/Zwetschge/4", "Moved", "Apricots.")
			kept := a.putDocument(acme.key, blog, "https://blog.test/1", "Kept", "Apricots, too.")
			a.do(call{"DELETE", "/documents/" + ids[3], acme.key, nil, nil}).want(t, 204)
			a.do(call{"DELETE", "/collections/" + wiki, acme.key, nil, nil}).want(t, 204)
			gone := []string{ids[0], ids[1], ids[2], ids[3], ids[5]}
			a.absent(acme.key, wiki, gone)
			if got := a.members(call{"GET", "/documents", acme.key, nil, nil}, "id"); len(got) != 2 {
				t.Errorf("%d documents are listed, want 2", len(got))
			}
			a.drain()
			a.absent(acme.key, wiki, gone)
			for _, id := range []string{moved, kept} {
				if d := a.document(acme.key, id); d.Indexing.State != "indexed" || d.CollectionID != blog {
					t.Errorf("what stays: %+v", d)
				}
			}
			items := a.stored()
			if left := holding(items, append(gone, wiki, "Zwetschge and of")...); len(left) > 0 {
				t.Errorf("stored items are left:\n%s", strings.Join(left, "\n"))
			}
			if left := holding(items, "pending/", "/due"); len(left) > 0 {
				t.Errorf("work is left:\n%s", strings.Join(left, "\n"))
			}
			if len(holding(items, kept)) == 0 {
				t.Error("what stays is gone")
			}
		})
	}
}

// absent checks that a deleted collection and its documents are unreachable.
func (a *api) absent(key, collection string, documents []string) {
	a.t.Helper()
	a.do(call{"GET", "/collections/" + collection, key, nil, nil}).wantCode(a.t, 404, "not-found")
	a.do(call{"PATCH", "/collections/" + collection, key, `{"name":"n"}`, nil}).wantCode(a.t, 404, "not-found")
	a.do(call{"DELETE", "/collections/" + collection, key, nil, nil}).want(a.t, 204)
	for _, id := range documents {
		a.do(call{"GET", "/documents/" + id, key, nil, nil}).wantCode(a.t, 404, "not-found")
		a.do(call{"DELETE", "/documents/" + id, key, nil, nil}).want(a.t, 204)
	}
	if listed := a.members(call{"GET", "/documents?collectionId=" + collection, key, nil, nil}, "id"); len(listed) > 0 {
		a.t.Errorf("documents of a deleted collection are listed: %v", listed)
	}
	a.do(call{"PUT", "/documents", key, map[string]string{"collectionId": collection, "title": "t", "body": "b", "uri": "https://x.test/late"}, nil}).
		wantCode(a.t, 404, "not-found")
}

// TestAURIWhoseCollectionWasDeletedIsNewAgain, before and after the clean-up.
func TestAURIWhoseCollectionWasDeletedIsNewAgain(t *testing.T) {
	t.Parallel()
	for _, cleaned := range []bool{true, false} {
		t.Run(fmt.Sprintf("cleaned up %v", cleaned), func(t *testing.T) {
			t.Parallel()
			a := newAPI(t)
			acme := a.newTenant("acme")
			wiki, blog := a.newCollection(acme.key, "wiki"), a.newCollection(acme.key, "blog")
			const uri = "https://wiki.test/page"
			id := a.putDocument(acme.key, wiki, uri, "Old", longText("Zwetschge", 50_000))
			a.drain()
			before := a.document(acme.key, id)
			a.do(call{"DELETE", "/collections/" + wiki, acme.key, nil, nil}).want(t, 204)
			if cleaned {
				a.drain()
			}
			a.clock.Advance(time.Minute)
			put := call{"PUT", "/documents", acme.key, map[string]string{"collectionId": blog, "title": "New", "body": "Apricots.", "uri": uri}, nil}
			put.header = map[string]string{"If-Match": before.tag}
			a.refused(put, 412, "precondition-failed") // there is no document to match
			put.header = map[string]string{"If-None-Match": "*"}
			if got := a.do(put).want(t, 200).text(t, "id"); got != id {
				t.Errorf("id %s, want %s", got, id)
			}
			for range 2 { // before and after the work
				after := a.document(acme.key, id)
				if after.Title != "New" || after.CollectionID != blog || after.CreatedAt == before.CreatedAt || after.tag == before.tag {
					t.Errorf("put again: %+v", after)
				}
				if got := a.members(call{"GET", "/documents", acme.key, nil, nil}, "id"); len(got) != 1 || got[0] != id {
					t.Errorf("listed: %v", got)
				}
				a.drain()
			}
			if left := holding(a.stored(), wiki, "Zwetschge"); len(left) > 0 {
				t.Errorf("stored items are left:\n%s", strings.Join(left, "\n"))
			}
		})
	}
}

func TestADeletedDocumentLeavesNothing(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	wiki := a.newCollection(acme.key, "wiki")
	var ids []string
	for n, size := range []int{1, 2000, 100_000, 600_000} {
		ids = append(ids, a.putDocument(acme.key, wiki, fmt.Sprint("https://wiki.test/", n), "Zwetschge", longText("Zwetschge", size)))
		if n%2 == 0 {
			a.drain()
		}
	}
	for _, id := range ids {
		a.do(call{"DELETE", "/documents/" + id, acme.key, nil, nil}).want(t, 204)
		a.do(call{"GET", "/documents/" + id, acme.key, nil, nil}).wantCode(t, 404, "not-found")
	}
	a.drain()
	if left := holding(a.stored(), append(ids, "Zwetschge and of", "pending/", "/due")...); len(left) > 0 {
		t.Errorf("stored items are left:\n%s", strings.Join(left, "\n"))
	}
}
