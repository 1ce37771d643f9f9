package main

import (
	"fmt"
	"net/url"
	"strings"
)

// scimAttacks are the most expensive valid requests of a team's identity provider.
var scimAttacks = []attack{
	{"scim/filter", []int{200, 400}, provider(func(c *client) request {
		filter := strings.TrimSuffix(strings.Repeat(`userName co "e" or `, 420), " or ")
		return request{method: "GET", path: "/scim/v2/Users?count=200&" + url.Values{"filter": {filter}}.Encode()}
	})},
	{"scim/nested filter", []int{200, 400}, provider(func(c *client) request {
		filter := strings.Repeat("not (", 1_000) + `userName eq "x"` + strings.Repeat(")", 1_000)
		return request{method: "GET", path: "/scim/v2/Users?" + url.Values{"filter": {filter}}.Encode()}
	})},
	{"scim/sorted", []int{200, 400}, provider(func(c *client) request {
		return request{method: "GET", path: "/scim/v2/Users?count=200&startIndex=100&sortBy=meta.lastModified&sortOrder=descending"}
	})},
	{"scim/sorted by groups", []int{200, 400}, provider(func(c *client) request {
		return request{method: "GET", path: "/scim/v2/Users?count=10&sortBy=groups&" + url.Values{"filter": {"groups pr"}}.Encode()}
	})},
	{"scim/all attributes", []int{200, 400}, provider(func(c *client) request {
		return request{method: "GET", path: "/scim/v2/Groups?count=200&attributes=" + strings.Repeat("members.value,", 2_000) + "id"}
	})},
	{"scim/group", []int{200}, provider(func(c *client) request { return request{method: "GET", path: "/scim/v2/Groups/" + c.team.Group} })},
	{"scim/bulk", []int{200}, provider(func(c *client) request {
		var operations []any
		for n := range 1_000 {
			operations = append(operations, map[string]any{"method": "PATCH", "path": "/Users/" + c.team.Users[n%len(c.team.Users)], "data": patch(c, 1)})
		}
		return request{method: "POST", path: "/scim/v2/Bulk", body: post(c, "", map[string]any{"schemas": []string{bulkSchema}, "Operations": operations}).body}
	})},
	{"scim/bulk of filters of members", []int{200}, provider(func(c *client) request {
		var operations []any
		for n := range 100 {
			remove := map[string]any{"op": "remove", "path": fmt.Sprintf(`members[display eq "x%d"]`, n)}
			operations = append(operations, map[string]any{"method": "PATCH", "path": "/Groups/" + c.team.Group,
				"data": map[string]any{"schemas": []string{patchSchema}, "Operations": []any{remove}}})
		}
		return request{method: "POST", path: "/scim/v2/Bulk", body: post(c, "", map[string]any{"schemas": []string{bulkSchema}, "Operations": operations}).body}
	})},
	{"scim/bulk of large", []int{200, 400}, provider(func(c *client) request {
		operations := []any{map[string]any{"method": "POST", "path": "/Users", "bulkId": "x", "data": map[string]any{"schemas": []string{userSchema},
			"userName": strings.Repeat("x", 900<<10)}}}
		return request{method: "POST", path: "/scim/v2/Bulk", body: post(c, "", map[string]any{"schemas": []string{bulkSchema}, "Operations": operations}).body}
	})},
	{"scim/user of 1,000 operations", []int{200, 400}, provider(func(c *client) request {
		return request{method: "PATCH", path: "/scim/v2/Users/" + pick(c, c.team.Users), body: post(c, "", patch(c, 1_000)).body}
	})},
	{"scim/members", []int{200, 204, 400}, provider(func(c *client) request {
		var members []any
		for _, id := range c.team.Users {
			members = append(members, map[string]string{"value": id})
		}
		operations := []any{map[string]any{"op": pick(c, []string{"add", "replace", "remove"}), "path": "members", "value": members}}
		return request{method: "PATCH", path: "/scim/v2/Groups/" + c.team.Group,
			body: post(c, "", map[string]any{"schemas": []string{patchSchema}, "Operations": operations}).body}
	})},
}

// provider sends what of returns with the SCIM key.
func provider(of func(c *client) request) turn {
	return sends(func(c *client) request {
		r := of(c)
		r.key = c.team.SCIM
		return r
	})
}

// patch changes the name of a user times times.
func patch(c *client, times int) map[string]any {
	var operations []any
	for range times {
		operations = append(operations, map[string]any{"op": "replace", "path": "displayName", "value": pick(c, []string{"Ada", "Bob", "Cy"})})
	}
	return map[string]any{"schemas": []string{patchSchema}, "Operations": operations}
}
