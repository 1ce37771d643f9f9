package httpapi_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"docent/shared/httpapi"
	"docent/shared/team"
)

// TestExamplesAreTrue sends every request that the document shows, in the order of a first use, and
// compares the members of each reply with those of the reply that it shows.
func TestExamplesAreTrue(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	x := a.newTenant("acme")
	keyID, _ := a.newKey(x.ID, team.NewKey{Kind: team.KindTeam, Name: "old"})
	ids := map[string]string{httpapi.ExampleCollection: "", httpapi.ExampleDocument: ""}
	all := httpapi.ShownExamples()
	send := func(id, method, path string) map[string]any {
		t.Helper()
		e, ok := all[id]
		if !ok {
			t.Fatalf("the document shows no example of %s", id)
		}
		delete(all, id)
		request := e[0]
		for shown, real := range ids {
			request, path = strings.ReplaceAll(request, shown, real), strings.ReplaceAll(path, shown, real)
		}
		c := call{method, path, x.pat, nil, nil}
		if request != "" {
			c.body = request
			c.header = map[string]string{"Content-Type": "application/json"}
		}
		reply := a.do(c)
		if reply.StatusCode >= 300 {
			t.Errorf("%s: status %d: %s", id, reply.StatusCode, reply.body)
			return nil
		}
		a.drain()
		var got, shown map[string]any
		if e[1] == "" {
			return nil
		}
		if err := json.Unmarshal(reply.body, &got); err != nil {
			t.Fatalf("%s: %v", id, err)
		}
		if err := json.Unmarshal([]byte(e[1]), &shown); err != nil {
			t.Fatalf("%s: %v", id, err)
		}
		if have, want := slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(shown)); !slices.Equal(have, want) {
			t.Errorf("%s replies with %v, the document shows %v", id, have, want)
		}
		if list, ok := got["sources"].([]any); ok && len(list) == 0 != (len(shown["sources"].([]any)) == 0) {
			t.Errorf("%s finds %d sources, the document shows %d", id, len(list), len(shown["sources"].([]any)))
		}
		return got
	}
	ids[httpapi.ExampleCollection] = send("createCollection", "POST", "/collections")["id"].(string)
	send("updateCollection", "PATCH", "/collections/"+httpapi.ExampleCollection)
	send("getCollection", "GET", "/collections/"+httpapi.ExampleCollection)
	ids[httpapi.ExampleDocument] = send("putDocument", "PUT", "/documents")["id"].(string)
	send("createUpload", "POST", "/uploads")
	send("getDocument", "GET", "/documents/"+httpapi.ExampleDocument)
	send("askQuestion", "PUT", "/answers/"+httpapi.ExampleQuestion)
	send("getAnswer", "GET", "/answers/"+httpapi.ExampleQuestion)
	for id, path := range map[string]string{"searchContext": "search", "searchDocumentation": "search/documentation", "searchCode": "search/code",
		"searchPullRequests": "search/prs", "searchIssues": "search/issues", "searchMessages": "search/messages", "queryIssues": "query/issues",
		"queryPullRequests": "query/prs", "research": "research", "getContent": "get"} {
		send(id, "POST", "/context/"+path)
	}
	send("callTools", "POST", "/mcp")
	send("updateDocument", "PATCH", "/documents/"+httpapi.ExampleDocument) // now a group reads it
	send("createDataSource", "POST", "/data-sources")
	send("createApiKey", "POST", "/api-keys")
	send("rotateApiKey", "POST", "/api-keys/"+keyID+"/rotate")
	send("updateTeam", "PATCH", "/team")
	send("createWebhookEndpoint", "POST", "/webhook-endpoints")
	at := "/webhook-endpoints/" + a.members(call{"GET", "/webhook-endpoints", x.pat, nil, nil}, "id")[0]
	send("updateWebhookEndpoint", "PATCH", at)
	send("rotateWebhookSecret", "POST", at+"/rotate")
	for id := range all {
		t.Errorf("the example of %s was not sent", id)
	}
}
