package httpapi_test

import (
	"strings"
	"testing"
)

// TestEventsNameOnlyDocumentsThatEverybodyReads: who reads the feed may not read every document.
func TestEventsNameOnlyDocumentsThatEverybodyReads(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	people := map[string]any{"users": []string{"boss@acme.test"}}
	open := a.newCollection(acme.key, "open")
	closed := a.do(call{"POST", "/collections", acme.key, map[string]any{"name": "closed", "description": "d", "defaultAccess": people}, nil}).want(t, 201).text(t, "id")
	put := func(collection, uri, title string, rule any) string {
		body := map[string]any{"collectionId": collection, "uri": "https://wiki.test/" + uri, "title": title, "body": "Text."}
		if rule != nil {
			body["access"] = rule
		}
		return a.do(call{"PUT", "/documents", acme.key, body, nil}).want(t, 200).text(t, "id")
	}
	put(open, "a", "For-everybody", nil)
	put(open, "b", "Secret-by-rule", people)
	put(open, "c", "Secret-later", people)
	put(open, "c", "Secret-before", nil)
	put(closed, "d", "Secret-by-default", nil)
	put(closed, "e", "Secret-moved", nil)
	put(open, "e", "Moved-here", nil)
	put(open, "e", "Moved-again", nil)
	gone := put(closed, "f", "Secret-deleted", nil)
	a.do(call{"DELETE", "/documents/" + gone, acme.key, nil, nil}).want(t, 204)
	events := string(a.raw(call{"GET", "/security-events?limit=200", acme.pat, nil, nil}).want(t, 200).body)
	for title, shown := range map[string]bool{"For-everybody": true, "Moved-again": true, "Secret": false, "wiki.test/b": false} {
		if strings.Contains(events, title) != shown {
			t.Errorf("%s is shown: %t: %s", title, !shown, events)
		}
	}
	for _, kind := range []string{"document.created", "document.replaced", "document.deleted"} {
		if !strings.Contains(events, `"`+kind+`"`) {
			t.Errorf("no event %s", kind)
		}
	}
}
