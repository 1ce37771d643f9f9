package main

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/google/uuid"
)

// floodAttacks are many small requests, each sent as soon as the last one is answered.
var floodAttacks = []attack{
	{"flood/without key", []int{401}, sends(func(c *client) request { return request{method: "GET", path: "/collections"} })},
	{"flood/malformed key", []int{401}, sends(func(c *client) request { return request{method: "GET", path: "/collections", key: "docent_team_x"} })},
	{"flood/revoked key", []int{401}, sends(func(c *client) request { return request{method: "GET", path: "/collections", key: c.team.Revoked} })},
	{"flood/wrong secret", []int{401}, sends(func(c *client) request {
		return request{method: "GET", path: "/collections", key: forged(c.team.Key)}
	})},
	{"flood/huge key", []int{401}, sends(func(c *client) request {
		return request{method: "GET", path: "/collections", key: strings.Repeat("x", 60<<10)}
	})},
	{"flood/unknown path", []int{404}, sends(func(c *client) request {
		return request{method: "GET", path: "/nothing/" + strings.Repeat("a/", 10_000) + "a", key: c.team.Key}
	})},
	{"flood/long query", []int{400}, sends(func(c *client) request {
		return request{method: "GET", path: "/documents?limit=0&" + strings.Repeat("a=b&", 10_000), key: c.team.Key}
	})},
	{"flood/options", []int{204}, sends(func(c *client) request { return request{method: "OPTIONS", path: "/documents", key: c.team.Key} })},
	{"flood/cursor", []int{400}, sends(func(c *client) request {
		return request{method: "GET", path: "/documents?after=" + strings.Repeat("A", 10_000), key: c.team.Key}
	})},
	{"flood/get", []int{200}, sends(func(c *client) request {
		return request{method: "GET", path: "/collections/" + c.team.Collection, key: c.team.Key}
	})},
	{"flood/put", []int{200}, sends(func(c *client) request {
		return document(c, c.team.Collection, fmt.Sprint("small/", c.random.IntN(100)), fmt.Sprint("Small ", c.random.Uint64()))
	})},
	{"flood/ask", []int{204}, sends(func(c *client) request {
		r := ask(c)
		r.body = []byte(`{"question":"Why?"}`)
		return r
	})},
	{"flood/delete", []int{204}, sends(func(c *client) request {
		return request{method: "DELETE", path: "/documents/" + uuid.NewString(), key: c.team.Key}
	})},
	{"flood/new connections", []int{200}, sends(func(c *client) request {
		c.close()
		return request{method: "GET", path: "/me", key: c.team.Key}
	})},
	{"flood/events", []int{200, 403}, sends(func(c *client) request {
		return request{method: "GET", path: "/security-events?limit=200&format=ocsf", key: c.team.Key}
	})},
	{"flood/usage as CSV", []int{200}, sends(func(c *client) request {
		query := url.Values{"start": {"2026-11-01"}, "granularity": {"hour"}, "groupBy": {"feature", "apiKey"}, "limit": {"200"}}
		return request{method: "GET", path: "/usage?" + query.Encode(), key: c.team.Key, header: "Accept: text/csv\r\n"}
	})},
}

// forged returns a key with the id of key and another secret. Its checksum is wrong too: a sender cannot compute it
// without knowing the form of keys.
func forged(key string) string { return key[:len(key)-8] + "00000000" }
