package dashboard_test

import (
	"net/url"
	"strings"
	"testing"

	"docent/testkit/browser"
)

// TestAnAddressLeadsToNoOtherPath: a link whose id is a path of the API does not make the page call it, least of all delete it.
func TestAnAddressLeadsToNoOtherPath(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t)
	open(b, "collections")
	_, collection, _ := strings.Cut(strings.TrimPrefix(browser.Value[string](b, `document.querySelector("a.card").hash`), "#/"), "/")
	for _, address := range []string{"ask/" + url.PathEscape("../collections/"+collection), "collections/" + url.PathEscape("../collections/"+collection), "collections/" + url.PathEscape(collection+"?x")} {
		open(b, address)
		b.Wait("Page not found")
		if text := b.Text("main"); strings.Contains(text, "Delete") {
			t.Errorf("%s offers %q", address, text)
		}
	}
}
