package main

import (
	"fmt"
	"strings"
)

// searchAttacks are the most expensive valid questions of a team.
var searchAttacks = []attack{
	{"search/longest, different words", []int{200}, sends(func(c *client) request {
		return post(c, pick(c, []string{"/context/search", "/context/search/documentation", "/context/search/issues"}),
			map[string]any{"query": question(words(9_990)), "instruction": words(9_990), "limit": 50})
	})},
	{"search/longest, one word", []int{200}, sends(func(c *client) request {
		return post(c, "/context/search", map[string]any{"query": strings.Repeat("packs ", 1_600), "limit": 50})
	})},
	{"search/longest, no space", []int{200}, sends(func(c *client) request {
		return post(c, "/context/search", map[string]any{"query": strings.Repeat("\u4e2d", 9_999), "limit": 50})
	})},
	{"search/longest, ligatures of four words", []int{200}, sends(func(c *client) request {
		return post(c, "/context/search", map[string]any{"query": strings.Repeat("\ufdfa", 9_999), "instruction": strings.Repeat("\ufdfa", 9_999), "limit": 50})
	})},
	{"search/chat, long history", []int{200}, sends(func(c *client) request {
		said := map[string]string{"role": "assistant", "content": words(8 << 20)}
		return post(c, "/chat/completions", map[string]any{"model": "docent", "messages": []any{said, map[string]string{"role": "user", "content": "And what fails?"}}})
	})},
	{"search/common words", []int{200}, sends(func(c *client) request {
		return post(c, "/context/search", map[string]any{"query": "it fails now and then, and compresses well", "limit": 50})
	})},
	{"search/research, high", []int{200}, sends(func(c *client) request {
		return post(c, "/context/research", map[string]any{"query": question(strings.Repeat("What fails, and why does it compress well? ", 200)), "effort": "high"})
	})},
	{"search/research, medium", []int{200}, sends(func(c *client) request {
		return post(c, "/context/research", map[string]any{"query": question(words(9_990)), "effort": "medium", "instruction": words(9_990)})
	})},
	{"search/research by tool", []int{200}, sends(func(c *client) request {
		return tool(c, "context_research", map[string]any{"query": question(words(9_000)), "effort": "high"})
	})},
	{"search/records", []int{200}, sends(func(c *client) request { return records(c) })},
	{"search/records, filters", []int{200}, sends(func(c *client) request {
		var labels []string
		for n := range 50 {
			labels = append(labels, fmt.Sprint(n, strings.Repeat("x", 250)))
		}
		return post(c, "/context/query/issues", map[string]any{"query": question(strings.Repeat("label:x since March by ada ", 380)), "labels": labels, "projects": labels, "limit": 200})
	})},
	{"search/answers, longest", []int{204}, sends(func(c *client) request {
		r := ask(c)
		r.body = post(c, "", map[string]any{"question": question(words(9_990))}).body
		return r
	})},
}

// question cuts text to the maximum length of a question.
func question(text string) string { return text[:min(len(text), 10_000)] }
