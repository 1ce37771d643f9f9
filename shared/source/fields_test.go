package source

import (
	"testing"

	"docent/shared/document"
	"docent/shared/fieldtest"
)

// TestEveryFieldOfAnItemReachesItsDocument fails when an item has a field that its
// document lacks, or a document a fact that no item sets.
func TestEveryFieldOfAnItemReachesItsDocument(t *testing.T) {
	t.Parallel()
	type put struct {
		document.Fields
		document.Facts
		Body    string
		Created any
	}
	fieldtest.Shows(t, func(i Item) put {
		in := i.input("source", "request")
		return put{in.Fields, *in.Facts, in.Body, in.Created}
	}, func(i *Item) { i.SourceType = "issue" }, "About") // a connector gives a comment the title of what it is about
}
