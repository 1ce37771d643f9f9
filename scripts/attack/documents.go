package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"

	"github.com/google/uuid"
)

// documentAttacks put documents that are small as sent and large uncompressed.
var documentAttacks = []attack{
	{"document/unknown collection", []int{404}, sends(func(c *client) request { return document(c, uuid.NewString(), "x", prepared.packed) })},
	{"document/collection of others", []int{404}, sends(func(c *client) request {
		other := pick(c, c.plan.Target.Teams)
		for other.Collection == c.team.Collection {
			other.Collection = uuid.NewString()
		}
		return document(c, other.Collection, "x", prepared.packed)
	})},
	{"document/unchanged", []int{200}, sends(func(c *client) request {
		return document(c, c.team.Collection, "large", prepared.packed)
	})},
	{"document/condition that fails", []int{412}, sends(func(c *client) request {
		r := document(c, c.team.Collection, "large", prepared.packed)
		r.header = "If-Match: \"none\"\r\n"
		return r
	})},
	{"document/too large", nil, sends(func(c *client) request { return document(c, c.team.Collection, "x", prepared.oversize) })},
	{"document/packed again", []int{404}, sends(func(c *client) request {
		r := document(c, uuid.NewString(), "x", prepared.packed)
		r.header, r.body = packedHeader, pack(string(r.body))
		return r
	})},
	{"document/different words", []int{200}, sends(func(c *client) request {
		return document(c, c.team.Collection, fmt.Sprint("words/", c.random.IntN(4)), prepared.terms)
	})},
	{"document/short sections", []int{200}, sends(func(c *client) request {
		return titled(c, c.team.Collection, fmt.Sprint("sections/", c.random.IntN(4)), prepared.title, prepared.sections)
	})},
	{"document/replaced", []int{200}, sends(func(c *client) request {
		text := fmt.Sprint(c.random.Uint64(), prepared.noise[:len(prepared.noise)/8])
		return document(c, c.team.Collection, fmt.Sprint("replaced/", c.random.IntN(4)), text)
	})},
	{"document/damaged", []int{200}, sends(func(c *client) request {
		// An incomplete gzip stream is stored as text, after the server has decompressed what there is of it.
		return document(c, c.team.Collection, "damaged", base64.StdEncoding.EncodeToString(append(prepared.large[:len(prepared.large):len(prepared.large)], 'x')))
	})},
}

// document puts a document with a text that needs no JSON escapes.
func document(c *client, collection, name, text string) request {
	return titled(c, collection, name, "Large", text)
}

func titled(c *client, collection, name, title, text string) request {
	body, err := json.Marshal(documentOf(collection, name, title, text))
	if err != nil {
		panic(err) // they are strings
	}
	return request{method: "PUT", path: "/documents", key: c.team.Key, body: body}
}
