package httpapi

import "github.com/danielgtaylor/huma/v2"

// links names, by operation, those that can follow when it succeeds, because they take an id that its reply has. The value of each is
// their path parameter, and the member of the reply that is its value.
var links = map[string]map[string]struct{ parameter, member string }{
	"createCollection": {"getCollection": {"collectionId", "id"}, "updateCollection": {"collectionId", "id"}, "deleteCollection": {"collectionId", "id"}},
	"putDocument":      {"getDocument": {"documentId", "id"}, "updateDocument": {"documentId", "id"}, "deleteDocument": {"documentId", "id"}},
	"createDataSource": {"importItems": {"dataSourceId", "id"}, "deleteDataSource": {"dataSourceId", "id"}},
	"createApiKey":     {"rotateApiKey": {"keyId", "id"}, "revokeApiKey": {"keyId", "id"}},
	"createScimUser":   {"getScimUser": {"id", "id"}, "updateScimUser": {"id", "id"}, "deleteScimUser": {"id", "id"}},
	"createScimGroup":  {"getScimGroup": {"id", "id"}, "updateScimGroup": {"id", "id"}, "deleteScimGroup": {"id", "id"}},
}

// link adds links to the successes of operations (OpenAPI 3.1 section 4.8.20).
func link(doc *huma.OpenAPI) {
	for _, op := range operations(doc) {
		for target, by := range links[op.OperationID] {
			for _, code := range []string{"200", "201"} {
				r := op.Responses[code]
				if r == nil {
					continue
				}
				if r.Links == nil {
					r.Links = map[string]*huma.Link{}
				}
				r.Links[target] = &huma.Link{OperationID: target, Parameters: map[string]any{by.parameter: "$response.body#/" + by.member}}
			}
		}
	}
}
