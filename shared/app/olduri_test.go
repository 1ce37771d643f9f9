package app

import (
	"strings"
	"testing"

	"docent/shared/document"
)

// TestDocumentsOfOldAddressesKeepWorking: a document stored before addresses were checked can be
// read, listed, found, cited, replaced and deleted like any other. Only a new document cannot
// have such an address.
func TestDocumentsOfOldAddressesKeepWorking(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	wiki := h.must(201, "POST", "/collections", map[string]string{"name": "wiki", "description": "About animals"}).text(t, "id")
	const old = "https://x.test/a b\"<c>\\\u202e`100%"
	put := map[string]string{"collectionId": wiki, "title": "Okapis", "body": "An okapi eats leaves in the forest.", "uri": old}
	h.must(400, "PUT", "/documents", put)
	id, _, err := h.services.documents.Put(t.Context(), h.team.ID, document.Input{Fields: document.Fields{CollectionID: wiki, Title: "Okapi", URI: old}, Body: "Okapi.",
		Match: func(int64) error { return nil }, Who: document.Anyone()})
	if err != nil {
		t.Fatal(err)
	}
	h.must(200, "PUT", "/documents", put)
	h.work()
	if got := h.must(200, "GET", "/documents/"+id, nil).text(t, "uri"); got != old {
		t.Errorf("read: %q", got)
	}
	const question = "0190d2a0-0000-7000-8000-000000000001"
	h.must(204, "PUT", "/answers/"+question, map[string]string{"question": "What does an okapi eat?"})
	h.work()
	answer := string(h.must(200, "GET", "/answers/"+question, nil).body)
	if n := strings.Count(answer, "https://x.test/a%20b%22%3Cc%3E%5C%E2%80%AE%60100%25"); n != 4 || strings.Contains(answer, "\u202e") {
		t.Errorf("cited %d times in %s", n, answer)
	}
	if found := string(h.must(200, "POST", "/context/search", map[string]string{"query": "okapi leaves"}).body); !strings.Contains(found, "Okapis") {
		t.Errorf("found: %s", found)
	}
	h.must(204, "DELETE", "/documents/"+id, nil)
	h.must(400, "PUT", "/documents", put)
}
