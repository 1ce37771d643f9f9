package httpapi_test

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
)

// past are changes of what eve may not read, at random: documents that are put, replaced, changed, moved and deleted, items, groups, and
// what others ask. Each takes a second, also in the world in which it does not happen.
type past struct {
	*world
	random *rand.Rand
	real   bool
	steps  int
	group  string
}

// words are those that eve asks for, and others.
var words = strings.Fields("kirschkern zwetschgenmus cellar bakery quince ledger guilders oven bread morning open kept worth lost loose")

func (p *past) text(n int) string {
	out := make([]string, n)
	for i := range out {
		out[i] = words[p.random.IntN(len(words))]
	}
	return "The " + strings.Join(out, " ") + "."
}

// step draws what happens, in both worlds alike.
func (p *past) step() {
	p.t.Helper()
	p.clock.Advance(time.Second)
	n, kind, text, rule := p.random.IntN(40), p.random.IntN(12), p.text(20+p.random.IntN(300)), p.random.IntN(3)
	switch {
	case kind == 10:
		p.drain()
		return
	case kind == 11:
		p.steps++
		p.putDocument(p.key, p.wiki, fmt.Sprintf("https://wiki.test/open/%d", 100+p.steps), "The "+text[4:20], "# Oven\n\n"+text)
		return
	case !p.real:
		return
	}
	uri := fmt.Sprintf("https://wiki.test/secret/%d", n)
	only := map[string]any{"users": []string{p.bob.name}}
	if rule == 1 {
		only = map[string]any{"groups": []string{"Cellar"}}
	}
	body := map[string]any{"collectionId": p.wiki, "uri": uri, "title": "Zwetschgenmus " + text[:10], "body": "# Kirschkern\n\n" + text, "access": only,
		"metadata": map[string]any{"salary": 100 * n, "codename": "quince"}}
	if rule == 2 {
		body["collectionId"] = p.hr
		delete(body, "access")
	}
	id := p.documentID(p.tenant, uri)
	switch kind {
	case 0, 1, 2, 3:
		p.do(call{"PUT", "/documents", p.key, body, nil}).want(p.t, 200)
	case 4:
		p.do(call{"PATCH", "/documents/" + id, p.key, map[string]any{"title": text[:20]}, nil})
	case 5:
		p.do(call{"DELETE", "/documents/" + id, p.key, nil, nil}).want(p.t, 204)
	case 6:
		p.importItems(p.tenant, p.jira, issue(3+n%9, text[:20], map[string]any{"access": only, "author": "quince", "labels": []string{"quince"}})).want(p.t, 200)
	case 7:
		p.ask(p.bob.key, uuid.NewString(), "Where is the zwetschgenmus? "+text[:20]).want(p.t, 204)
	case 8:
		if p.group == "" {
			p.group = p.newGroup(p.tenant, `{"displayName":"Cellar","members":[{"value":"`+p.bob.id+`"}]}`)
		}
		p.member(p.tenant, p.group, p.bob.id, n%2 == 0)
	case 9:
		body["body"] = "The kirschkern is kept in the cellar."
		p.do(call{"PUT", "/documents", p.key, body, nil}).want(p.t, 200)
		p.drain()
	}
}

// moreAttempts are further attempts, by newer operations and members.
var moreAttempts = []attempt{
	{"responses", func(w *world) []call {
		var all []call
		for _, q := range questions {
			for _, stream := range []bool{false, true} {
				all = append(all, sent("POST", "/responses", map[string]any{"model": "docent", "input": q, "stream": stream}, "Accept", "text/event-stream"))
			}
		}
		return append(all, posts("/responses", map[string]any{"model": "docent", "input": "And what is it worth?", "previous_response_id": w.bobsQuestion},
			map[string]any{"model": "docent", "input": "And what is it worth?", "previous_response_id": uuid.Nil.String()})...)
	}},
	{"the original file of a document", func(w *world) []call {
		at := "/documents/" + w.hiddenID + "/original"
		return []call{get(at), sent("HEAD", at, nil), get(at, "If-None-Match", "*"), get(at, "Range", "bytes=0-1")}
	}},
	{"some sources alone", func(w *world) []call {
		var all []call
		for _, ids := range [][]string{{w.wiki}, {w.hr}, {w.jira}, {w.hr, w.jira}} {
			for _, q := range questions[:4] {
				all = append(all, posts("/context/search", map[string]any{"query": q, "dataSourceIds": ids, "explain": true, "limit": 50})...)
				all = append(all, posts("/context/research", map[string]any{"query": q, "dataSourceIds": ids, "effort": "medium"})...)
			}
		}
		return all
	}},
	{"faulty documents, under a condition", func(w *world) []call {
		var all []call
		for _, more := range []map[string]any{{"upload": uuid.Nil.String()}, {"body": "mine", "mediaType": "application/pdf"}, {"body": "bWluZQ==", "mediaType": "application/pdf"},
			{"body": "mine", "keepAccess": true}, {"body": "mine", "metadata": map[string]any{"9": 1}}, {"body": "mine", "access": map[string]any{"users": []string{"nobody@acme.test"}}}} {
			body := map[string]any{"collectionId": w.wiki, "uri": hiddenPage, "title": "mine"}
			maps.Copy(body, more)
			all = append(all, sent("PUT", "/documents", body, "If-Match", cmp.Or(w.etag, `"1"`)))
		}
		return all
	}},
	{"a conversation of several questions", func(*world) []call {
		var all []call
		before := ""
		for _, q := range []string{"Where is the zwetschgenmus kept, and what is it worth?", "And who keeps it?", "Why?", "What does the ledger say of the kirschkern and of the quince?"} {
			id := uuid.NewString()
			body := map[string]any{"question": q}
			if before != "" {
				body["previousQuestionId"] = before
			}
			all, before = append(all, sent("PUT", "/answers/"+id, body, "Accept", "text/event-stream"), get("/answers/"+id), get("/answers?limit=2")), id
		}
		return all
	}},
}

// TestNothingHiddenOfThePastCanBeInferred is TestNothingHiddenCanBeInferred after many hidden changes.
func TestNothingHiddenOfThePastCanBeInferred(t *testing.T) {
	t.Parallel()
	for seed, attacker := range []string{"a personal key", "a restricted key"} {
		t.Run(attacker, func(t *testing.T) {
			t.Parallel()
			worlds := []*world{newWorld(t, false), newWorld(t, false)}
			for i, w := range worlds {
				p := &past{world: w, random: rand.New(rand.NewPCG(uint64(seed), 27)), real: i == 0}
				for range 150 {
					p.step()
				}
				p.drain()
			}
			worlds[0].secrets = []string{"wiki.test/secret/"}
			t.Logf("%d pairs of replies compared", sameReplies(t, worlds[0], worlds[1], attacker))
		})
	}
}
