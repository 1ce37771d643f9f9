package httpapi_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"

	"docent/shared/app"
	"docent/shared/httpapi"
)

// readsNoDocument are the operations that show no document and nothing that was made
// from one, so that they need not decide who reads. Operations below /scim show none
// either, and are not listed.
var readsNoDocument = []string{
	"listCollections", "createCollection", "getCollection", "updateCollection", // names and rules of collections
	"listDataSources", "createDataSource", "updateDataSource", "syncDataSource", "deleteDataSource", "importItems", // by admins, and no items
	"getDocumentAccess",                                                                                                     // by admins and team keys: yes or no
	"listWebhookEndpoints", "createWebhookEndpoint", "getWebhookEndpoint", "updateWebhookEndpoint", "deleteWebhookEndpoint", // by admins
	"rotateWebhookSecret", "testWebhookEndpoint", "listWebhookDeliveries", "replayWebhookDelivery", // ids and states
	"takeGitHubDelivery", "takeGitLabDelivery", "takeSlackEvent", // from providers
	"getMe", "getTeam", "updateTeam", "listApiKeys", "createApiKey", "rotateApiKey", "revokeApiKey",
	"getSamlMetadata", "setSamlMetadata", "setSamlMetadataUrl", "removeSamlMetadata",
	"signIn", "listSessions", "endSession", "endSessions",
	"createUpload", // what becomes of the file is decided when a document takes it
	"answerSingleSignOn", "assertSingleSignOn", "beginOnlySingleSignOn", "beginSingleSignOn", "finishSingleSignOn", "getServiceMetadata",
	"getSingleSignOn", "updateSingleSignOn", "setOpenIdProvider", "removeOpenIdProvider",
	"listSecurityEvents", "getSecurityEvent", "listSecurityEventTypes", // by admins and team keys
	"getUsage", "listUsageUsers", "getQuotas", // numbers; of others by admins and team keys
	"listUnanswered",         // questions, by admins and team keys
	"rateAnswer",             // shows nothing
	"listModels", "getModel", // the one model
	"registerClient", "authorize", "showConsent", "decideConsent", "exchangeToken", "revokeToken", "listAgents", "disconnectAgent",
	"getAuthorizationServer", "getAuthorizationServerByDiscovery", "getProtectedResource", "getProtectedResourceOfTools",
}

// TestEveryOperationIsKnownToReadOrNot finds an operation that may read documents without
// deciding for whom: a new one must be entered in readingPatterns, and then its Reader is
// there to decide, or above. An operation in neither gets a Reader that reads nothing.
func TestEveryOperationIsKnownToReadOrNot(t *testing.T) {
	t.Parallel()
	left := slices.Clone(readsNoDocument)
	patterns := slices.Clone(httpapi.ReadingPatterns)
	for path, item := range httpapi.OpenAPI(app.Providers()).Paths {
		if strings.HasPrefix(path, "/scim/") {
			continue
		}
		for _, op := range []*huma.Operation{item.Get, item.Post, item.Put, item.Patch, item.Delete} {
			if op == nil {
				continue
			}
			reads, not := slices.Index(patterns, op.Method+" "+path), slices.Index(left, op.OperationID)
			switch {
			case reads >= 0 && not < 0:
				patterns = slices.Delete(patterns, reads, reads+1)
			case reads < 0 && not >= 0:
				left = slices.Delete(left, not, not+1)
			default:
				t.Errorf("%s %s (%s) must be in exactly one list: readingPatterns if it reads documents, otherwise readsNoDocument in this file", op.Method, path, op.OperationID)
			}
		}
	}
	if len(patterns)+len(left) > 0 {
		t.Errorf("there are no operations %v %v", patterns, left)
	}
	// What agents call reads by the same services.
	a := newAPI(t)
	x := a.newTenant("acme")
	header := map[string]string{"Accept": "application/json, text/event-stream", "Content-Type": "application/json", "MCP-Protocol-Version": "2025-06-18"}
	reply := a.raw(call{"POST", "/mcp", x.key, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, header}).want(t, 200)
	var list struct {
		Result struct{ Tools []struct{ Name string } }
	}
	reply.json(t, &list)
	known := []string{"ask", "context_get_urls", "context_query_issues", "context_query_prs", "context_research", "context_search_code",
		"context_search_documentation", "context_search_issues", "context_search_messages", "context_search_prs"}
	var names []string
	for _, tool := range list.Result.Tools {
		names = append(names, tool.Name)
	}
	if slices.Sort(names); !slices.Equal(names, known) {
		t.Errorf("tools %v, want %v: enter a new one here once it decides who reads, or reads no document", names, known)
	}
}
