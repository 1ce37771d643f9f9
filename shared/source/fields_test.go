package source

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"docent/shared/document"
	"docent/shared/fieldtest"
	"docent/shared/filter"
)

// TestEveryFieldOfAnItemReachesItsDocument fails if an item has a field that its
// document lacks, or a document a fact that no item sets.
func TestEveryFieldOfAnItemReachesItsDocument(t *testing.T) {
	t.Parallel()
	type put struct {
		document.Fields
		document.Facts
		Body    string
		Created any
		Listed  any
		Keep    any
		Check   any
	}
	fieldtest.Shows(t, func(i Item) put {
		in := i.input("source", "request")
		return put{in.Fields, *in.Facts, in.Body, in.Created, in.Listed, in.KeepContent, in.CheckKept}
	}, func(i *Item) { i.SourceType = "issue" }, "About", "Access", "CommentsUnread", "CommentsDenied") // for the title of a comment; resolved to a rule first; about other items
}

func TestEveryFieldOfAnItemIsImported(t *testing.T) {
	t.Parallel()
	item := fieldtest.Fill[Item](t)
	item.URI, item.SourceType, item.State = "https://provider.test/1", "issue", StateOpen
	item.Comment, item.About, item.File, item.Listed = false, "", nil, time.Time{}
	item.KeepBody, item.CheckKept, item.CommentsUnread, item.CommentsDenied = false, false, false, false // set by connectors and syncs only
	item.Metadata = filter.Metadata{"product": filter.Text("api"), "version": filter.Number(3), "tags": filter.List("a", "b")}
	line, err := item.Line()
	if err != nil {
		t.Fatal(err)
	}
	got, err := parseItem(line)
	if diff := cmp.Diff(item, got); diff != "" || err != nil {
		t.Errorf("%v, a field is not imported (-given +read):\n%s", err, diff)
	}
}
