package main

import (
	"net/http"

	"github.com/google/uuid"
)

// The schemas of SCIM messages.
const (
	userSchema  = "urn:ietf:params:scim:schemas:core:2.0:User"
	groupSchema = "urn:ietf:params:scim:schemas:core:2.0:Group"
	bulkSchema  = "urn:ietf:params:scim:api:messages:2.0:BulkRequest"
	patchSchema = "urn:ietf:params:scim:api:messages:2.0:PatchOp"
)

const (
	packedHeader = "Content-Encoding: gzip\r\n"
	linesHeader  = "Content-Type: application/x-ndjson\r\n"
)

// jsonAttacks send JSON with many, deep or long values to operations that decode it, mostly in members that they
// ignore. Compressed, it has a few kilobytes.
var jsonAttacks = []attack{
	{"json/packed ask", []int{204, 400}, bomb(func(c *client) request { return ask(c) })},
	{"json/plain ask", []int{204, 400}, plainBomb(func(c *client) request { return ask(c) })},
	{"json/packed search", []int{200, 400}, bomb(func(c *client) request {
		return request{method: "POST", path: pick(c, []string{"/context/search", "/context/search/code", "/context/research"}), key: c.team.Key}
	})},
	{"json/plain search", []int{200, 400}, plainBomb(func(c *client) request { return request{method: "POST", path: "/context/search", key: c.team.Key} })},
	{"json/packed query", []int{200, 400}, bomb(func(c *client) request {
		return request{method: "POST", path: pick(c, []string{"/context/query/issues", "/context/query/prs", "/context/get"}), key: c.team.Key}
	})},
	{"json/plain get", []int{200, 400}, plainBomb(func(c *client) request { return request{method: "POST", path: "/context/get", key: c.team.Key} })},
	{"json/packed tool", []int{200, 400}, bomb(func(c *client) request { return request{method: "POST", path: "/mcp", key: c.team.Key} })},
	{"json/plain tool", []int{200, 400}, plainBomb(func(c *client) request { return request{method: "POST", path: "/mcp", key: c.team.Key} })},
	{"json/packed user", []int{200, 201, 400, 409, 415}, bomb(func(c *client) request { return person(c) })},
	{"json/plain user", []int{200, 201, 400, 409}, plainBomb(func(c *client) request { return person(c) })},
	{"json/packed document", []int{400, 404}, bomb(func(c *client) request { return request{method: "PUT", path: "/documents", key: c.team.Key} })},
	{"json/plain document", []int{400, 404}, plainBomb(func(c *client) request { return request{method: "PUT", path: "/documents", key: c.team.Key} })},
	{"json/packed collection", []int{200, 400}, bomb(func(c *client) request {
		return request{method: "PATCH", path: "/collections/" + c.team.Collection, key: c.team.Key}
	})},
	{"json/packed key", []int{400}, bomb(func(c *client) request {
		return request{method: "POST", path: "/api-keys", key: pick(c, c.team.Admins)}
	})},
	{"json/packed source", []int{400}, bomb(func(c *client) request {
		return request{method: "POST", path: "/data-sources", key: pick(c, c.team.Admins)}
	})},
	{"json/packed lines", []int{200, 400}, sends(func(c *client) request {
		return request{method: "POST", path: "/data-sources/" + c.team.Items + "/items", key: pick(c, c.team.Admins),
			header: linesHeader + packedHeader, body: pick(c, prepared.lines).packed}
	})},
	{"json/blank lines", []int{200}, sends(func(c *client) request {
		return request{method: "POST", path: "/data-sources/" + c.team.Items + "/items", key: pick(c, c.team.Admins),
			header: linesHeader + packedHeader, body: prepared.blank}
	})},
	{"json/metadata", []int{400}, sends(func(c *client) request {
		return request{method: "PUT", path: "/team/saml-metadata", key: pick(c, c.team.Admins),
			header: "Content-Type: application/xml\r\n", body: prepared.xml}
	})},
	{"json/packed without key", []int{401}, bomb(func(c *client) request { return request{method: "PUT", path: "/answers/" + uuid.NewString()} })},
	{"json/plain without key", []int{401}, plainBomb(func(c *client) request { return request{method: "PUT", path: "/documents"} })},
}

func ask(c *client) request {
	return request{method: http.MethodPut, path: "/answers/" + uuid.NewString(), key: c.team.Key}
}

func person(c *client) request {
	some := []request{
		{method: "POST", path: "/scim/v2/Users", key: c.team.SCIM},
		{method: "PATCH", path: "/scim/v2/Users/" + c.team.Users[0], key: c.team.SCIM},
		{method: "PUT", path: "/scim/v2/Groups/" + c.team.Group, key: c.team.SCIM},
		{method: "POST", path: "/scim/v2/Users/.search", key: c.team.SCIM},
	}
	return pick(c, some)
}

// bomb adds a compressed body of many values to a request.
func bomb(on func(c *client) request) turn {
	return sends(func(c *client) request {
		r := on(c)
		r.header += packedHeader
		r.body = pick(c, prepared.values).packed
		return r
	})
}

// plainBomb adds an uncompressed body of many values to a request.
func plainBomb(on func(c *client) request) turn {
	return sends(func(c *client) request {
		r := on(c)
		for r.body == nil {
			r.body = pick(c, prepared.values).plain
		}
		return r
	})
}
