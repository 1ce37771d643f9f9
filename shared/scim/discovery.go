package scim

import (
	"encoding/json"
	"fmt"
	"strings"

	"docent/shared/scim/protocol"
)

// Limits of Bulk requests.
const (
	maxBulkOperations = protocol.MaxOperations
	maxBulkBytes      = 1 << 20
)

// providerConfig returns what is supported (RFC 7643 section 5, RFC 9865 section 4).
func (s *Service) providerConfig() map[string]any {
	on := func() map[string]any { return map[string]any{"supported": true} }
	return map[string]any{
		"schemas": []any{"urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig"},
		"patch":   on(), "sort": on(), "etag": on(),
		"changePassword": map[string]any{"supported": false},
		"filter":         map[string]any{"supported": true, "maxResults": maxCount},
		"bulk":           map[string]any{"supported": true, "maxOperations": maxBulkOperations, "maxPayloadSize": maxBulkBytes},
		"pagination": map[string]any{"cursor": true, "index": true, "defaultPaginationMethod": "index",
			"defaultPageSize": defaultCount, "maxPageSize": maxCount},
		"authenticationSchemes": []any{map[string]any{"type": "oauthbearertoken", "name": "API key", "primary": true,
			"description": "A SCIM key, a team key, or the personal key of a team admin, as a bearer token. " +
				"In Bulk each operation is independent: one that fails undoes no other."}},
		"meta": map[string]any{"resourceType": "ServiceProviderConfig", "location": s.BaseURL + "/scim/v2/ServiceProviderConfig"},
	}
}

func (s *Service) resourceTypes() []any {
	var out []any
	for _, t := range protocol.ResourceTypes {
		object := map[string]any{
			"schemas": []any{"urn:ietf:params:scim:schemas:core:2.0:ResourceType"},
			"id":      t.Name, "name": t.Name, "endpoint": t.Endpoint, "description": t.Core.Description, "schema": t.Core.ID,
			"meta": map[string]any{"resourceType": "ResourceType", "location": s.BaseURL + "/scim/v2/ResourceTypes/" + t.Name},
		}
		var extensions []any
		for _, e := range t.Extensions {
			extensions = append(extensions, map[string]any{"schema": e.ID, "required": false})
		}
		if extensions != nil {
			object["schemaExtensions"] = extensions
		}
		out = append(out, object)
	}
	return out
}

func (s *Service) schemaResources() ([]any, error) {
	var out []any
	for _, definition := range protocol.Schemas {
		text, err := json.Marshal(definition)
		if err != nil {
			return nil, fmt.Errorf("encode schema: %w", err)
		}
		var object map[string]any
		if err := json.Unmarshal(text, &object); err != nil {
			return nil, fmt.Errorf("decode schema: %w", err)
		}
		object["schemas"] = []any{"urn:ietf:params:scim:schemas:core:2.0:Schema"}
		object["meta"] = map[string]any{"resourceType": "Schema", "location": s.BaseURL + "/scim/v2/Schemas/" + definition.ID}
		out = append(out, object)
	}
	return out, nil
}

// listOf returns the list of all resources, which fit on one page.
func listOf(resources []any) map[string]any {
	return map[string]any{"schemas": []any{protocol.ListURN}, "totalResults": len(resources), "itemsPerPage": len(resources),
		"startIndex": 1, "Resources": resources}
}

// byID finds the resource with that id in any case.
func byID(resources []any, id string) (map[string]any, bool) {
	for _, r := range resources {
		if object := r.(map[string]any); strings.EqualFold(textOf(object, "id"), id) {
			return object, true
		}
	}
	return nil, false
}
