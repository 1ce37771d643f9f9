package httpapi

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"docent/shared/scim"
)

// describeSCIM adds the SCIM area to the document. Its media types, projection
// and errors do not fit typed handlers, so it is described by hand.
func describeSCIM(doc *huma.OpenAPI) {
	described := func(name, description string, members []string, required ...string) *huma.Schema {
		doc.Components.Schemas.Map()[name] = &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true, Description: description,
			Properties: scimMembers(members), Required: required}
		return &huma.Schema{Ref: schemaPrefix + name}
	}
	named := func(name, description string, required ...string) *huma.Schema {
		return described(name, description, required, required...)
	}
	resource := named("ScimResource", "A resource: a user, a group, a type of resource or a schema.")
	list := named("ScimListResponse", "A page of resources (RFC 7644 section 3.4.2).", "schemas", "totalResults")
	message := named("ScimMessage", "A SCIM message: a search, a Bulk request or response, or the service's configuration.")
	fault := named("ScimError", "An error (RFC 7644 section 3.12).", "schemas", "status")
	user := named("ScimUser", "A user (RFC 7643 section 4.1), with the enterprise extension. The value admin in roles makes a team admin. "+
		"Only the personal key of a team admin sets or removes it; with other keys the role stays as it is, and the rest is applied. "+
		"The last active admin with a working personal key that may manage cannot be deleted, deactivated or demoted (409).", "userName")
	group := named("ScimGroup", "A group (RFC 7643 section 4.2).", "displayName")
	// A request may ask for some attributes only, so a reply need not have what a request must.
	storedUser := described("ScimStoredUser", "A user with its id, without the attributes that the request does not ask for.",
		[]string{"schemas", "id", "userName"}, "schemas", "id")
	storedGroup := described("ScimStoredGroup", "A group with its id, without the attributes that the request does not ask for.",
		[]string{"schemas", "id", "displayName"}, "schemas", "id")
	patch := named("ScimPatch", "A PatchOp (RFC 7644 section 3.5.2). In a value without a path every key is a path, with a value filter where it has one. "+
		"Changes of one resource are made one after the other; one that cannot be made within 10 seconds is 503.", "schemas", "Operations")
	for _, p := range []scimOperation{
		{"GET", "", "searchScimRoot", "List users and groups", nil, list, 200, []int{400}},
		{"POST", "/.search", "searchScim", "Search users and groups", message, list, 200, nil},
		{"GET", "/Users", "listScimUsers", "List users", nil, list, 200, []int{400}},
		{"POST", "/Users", "createScimUser", "Create a user", user, storedUser, 201, []int{409}},
		{"POST", "/Users/.search", "searchScimUsers", "Search users", message, list, 200, nil},
		{"GET", "/Users/{id}", "getScimUser", "Get a user", nil, storedUser, 200, []int{400, 404, 412}},
		{"PUT", "/Users/{id}", "replaceScimUser", "Replace a user", user, storedUser, 200, []int{404, 409, 412}},
		{"PATCH", "/Users/{id}", "updateScimUser", "Change a user", patch, storedUser, 200, []int{404, 409, 412}},
		{"DELETE", "/Users/{id}", "deleteScimUser", "Delete a user", nil, nil, 204, []int{400, 404, 409, 412}},
		{"GET", "/Groups", "listScimGroups", "List groups", nil, list, 200, []int{400}},
		{"POST", "/Groups", "createScimGroup", "Create a group", group, storedGroup, 201, []int{409}},
		{"POST", "/Groups/.search", "searchScimGroups", "Search groups", message, list, 200, nil},
		{"GET", "/Groups/{id}", "getScimGroup", "Get a group", nil, storedGroup, 200, []int{400, 404, 412}},
		{"PUT", "/Groups/{id}", "replaceScimGroup", "Replace a group", group, storedGroup, 200, []int{404, 409, 412}},
		{"PATCH", "/Groups/{id}", "updateScimGroup", "Change a group; 200 with the group where attributes or excludedAttributes is given", patch, nil, 204, []int{404, 409, 412}},
		{"DELETE", "/Groups/{id}", "deleteScimGroup", "Delete a group", nil, nil, 204, []int{400, 404, 412}},
		{"POST", "/Bulk", "bulkScim", "Run up to 1,000 operations, each by itself", message, message, 200, nil},
		{"GET", "/ServiceProviderConfig", "getScimServiceProviderConfig", "What is supported", nil, message, 200, nil},
		{"GET", "/ResourceTypes", "listScimResourceTypes", "List the types of resources", nil, list, 200, nil},
		{"GET", "/ResourceTypes/{id}", "getScimResourceType", "Get a type of resource", nil, resource, 200, []int{404}},
		{"GET", "/Schemas", "listScimSchemas", "List the schemas", nil, list, 200, nil},
		{"GET", "/Schemas/{id}", "getScimSchema", "Get a schema", nil, resource, 200, []int{404}},
	} {
		op := p.operation(fault)
		if p.id == "updateScimGroup" {
			op.Responses["200"] = &huma.Response{Description: "OK", Content: scimContent(storedGroup)}
		}
		doc.AddOperation(op)
		if op.RequestBody != nil {
			delete(op.RequestBody.Content, "application/merge-patch+json") // not how SCIM patches
		}
	}
}

// scimOperation is one operation of SCIM, at a path below scim.Prefix.
type scimOperation struct {
	method, path, id, summary string
	in, out                   *huma.Schema
	status                    int   // of success
	errors                    []int // besides those that all operations have
}

// operation returns the description of p, whose errors have the schema fault.
func (p scimOperation) operation(fault *huma.Schema) *huma.Operation {
	op := &huma.Operation{OperationID: p.id, Method: p.method, Path: scim.Prefix + p.path, Summary: p.summary, Tags: []string{"SCIM"},
		Responses: map[string]*huma.Response{}, Parameters: scimParameters(p.method, p.path)}
	errors := slices.Concat(p.errors, []int{401, 403, 405, 429, 500, 503})
	if p.in != nil {
		op.RequestBody = &huma.RequestBody{Required: true, Content: scimContent(p.in)}
		errors = append(errors, 400, 413, 415)
	}
	success := &huma.Response{Description: http.StatusText(p.status)}
	if p.out != nil {
		success.Content = scimContent(p.out)
	}
	op.Responses[strconv.Itoa(p.status)] = success
	if p.id == "getScimUser" || p.id == "getScimGroup" || p.out != nil && (p.method == http.MethodPut || p.method == http.MethodPatch || p.status == http.StatusCreated) {
		text := &huma.Param{Schema: &huma.Schema{Type: huma.TypeString}}
		success.Headers = map[string]*huma.Param{"ETag": text, "Location": text}
	}
	for _, status := range errors {
		content := scimContent(fault)
		content["text/plain"] = &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString}}
		op.Responses[strconv.Itoa(status)] = &huma.Response{Description: http.StatusText(status), Content: content}
	}
	return op
}

// scimMembers returns the schemas of members.
func scimMembers(names []string) map[string]*huma.Schema {
	kinds := map[string]*huma.Schema{
		"schemas":      {Type: huma.TypeArray, Items: &huma.Schema{Type: huma.TypeString}, Description: "The URNs of what the object is."},
		"Operations":   {Type: huma.TypeArray, Items: &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}, Description: "The changes, in order."},
		"totalResults": {Type: huma.TypeInteger, Description: "How many resources there are on all pages."},
		"status":       {Type: huma.TypeString, Description: "The HTTP status, as text."},
		"id":           {Type: huma.TypeString, Description: "Unique in the team; never changes."},
		"userName":     {Type: huma.TypeString, Description: "Unique in the team, without regard to case."},
		"displayName":  {Type: huma.TypeString, Description: "Unique in the team."},
	}
	out := map[string]*huma.Schema{}
	for _, name := range names {
		out[name] = kinds[name]
	}
	return out
}

func scimContent(s *huma.Schema) map[string]*huma.MediaType {
	return map[string]*huma.MediaType{"application/scim+json": {Schema: s}, "application/json": {Schema: s}}
}

func scimParameters(method, path string) []*huma.Param {
	var out []*huma.Param
	add := func(in, kind string, names ...string) {
		for _, name := range names {
			out = append(out, &huma.Param{Name: name, In: in, Required: in == "path", Schema: &huma.Schema{Type: kind}})
		}
	}
	resources := strings.HasPrefix(path, "/Users") || strings.HasPrefix(path, "/Groups")
	one := strings.HasSuffix(path, "{id}")
	if one {
		add("path", huma.TypeString, "id")
	}
	if one && resources {
		add("header", huma.TypeString, "If-Match", "If-None-Match")
	}
	if method == http.MethodGet && !one && (resources || path == "") {
		add("query", huma.TypeString, "filter", "sortBy", "sortOrder", "cursor")
		add("query", huma.TypeInteger, "startIndex", "count")
	}
	if (resources || path == "") && method != http.MethodDelete && !strings.HasSuffix(path, ".search") {
		add("query", huma.TypeString, "attributes", "excludedAttributes")
	}
	return out
}
