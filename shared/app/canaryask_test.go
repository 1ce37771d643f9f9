package app

import (
	"slices"
	"strings"

	"github.com/google/uuid"
)

// asks asks questions, and reads the answers of others.
func (g *reading) asks() {
	const question = "Where is the kirschkern kept?"
	opened := map[string]int{}
	for uri, b := range g.papers {
		if g.mayRead(g.reader, b) {
			opened[uri] = len(b.old)
		}
	}
	remember := func(id string) { g.answers = append(g.answers, &stored{id: id, by: g.reader, opened: opened}) }
	id := uuid.NewString()
	r := g.says(nil, "PUT", "/answers/"+id, map[string]any{"question": question}, "Accept", "text/event-stream")
	if r.status != 200 || g.settled && len(opened) > 0 && !strings.Contains(string(r.body), "cellar") {
		g.t.Errorf("%s by %s: nothing of %d is answered: %d %s", g.name(), g.way, len(opened), r.status, r.body)
	}
	remember(id)
	g.says(nil, "GET", "/answers/"+id, nil)
	for _, stream := range []bool{false, true} {
		g.says(nil, "POST", "/chat/completions", map[string]any{"model": "docent", "stream": stream, "messages": []any{map[string]any{"role": "user", "content": "What is the kirschkern?"},
			map[string]any{"role": "assistant", "content": "A word."}, map[string]any{"role": "user", "content": "And where is it kept?"}}})
	}
	follow, later := uuid.NewString(), uuid.NewString()
	g.says(nil, "PUT", "/answers/"+follow, map[string]any{"question": "And what number does it have?", "previousQuestionId": id}, "Accept", "text/event-stream")
	remember(follow)
	g.says(nil, "PUT", "/answers/"+later, map[string]any{"question": question})
	remember(later)
	g.says(nil, "PUT", "/answers/"+id+"/feedback", map[string]any{"rating": "down", "comment": "no"})
	g.says(nil, "GET", "/usage/unanswered", nil)
	if g.who == nil {
		return
	}
	for _, h := range g.answers { // those of others are not there
		if h.by.who == g.who {
			continue
		}
		absent := uuid.NewString()
		for _, c := range [][]string{{"GET", ""}, {"GET", "", "Accept", "text/event-stream"}, {"DELETE", ""}} {
			got, want := g.says(nil, c[0], "/answers/"+h.id+c[1], nil, c[2:]...), g.says(nil, c[0], "/answers/"+absent+c[1], nil, c[2:]...)
			if got.status != 404 || plainReply(got, h.id) != plainReply(want, absent) {
				g.t.Errorf("%s by %s reads the answer of another: %v: %d %s", g.name(), g.way, c, got.status, got.body)
			}
		}
		r := g.says(nil, "PUT", "/answers/"+uuid.NewString(), map[string]any{"question": "And where is it?", "previousQuestionId": h.id})
		if r.status != 400 {
			g.t.Errorf("%s by %s follows the question of another: %d %s", g.name(), g.way, r.status, r.body)
		}
		break
	}
}

// kept returns the canaries that a stored answer may show to r: of earlier versions too, if r may read the document, or it is deleted,
// and r might read the version in the end, by the groups of this moment.
func (v *canaryTeam) kept(r reader) map[string]bool {
	may := map[string]bool{}
	for _, all := range []map[string]*paper{v.papers, v.deleted} {
		for _, b := range all {
			if !b.dead && !v.mayRead(r, b) {
				continue
			}
			if !b.dead {
				for _, w := range b.words() {
					may[w] = true
				}
			}
			for _, e := range b.old {
				if v.mayReadEnded(r, e) {
					for _, w := range e.words {
						may[w] = true
					}
				}
			}
		}
	}
	return may
}

// readsOld: answers that were stored earlier, by every way.
func (v *canaryTeam) readsOld(p *person) {
	for _, r := range p.readers {
		if r.agent {
			continue
		}
		g := v.readingBy(r)
		g.says(v.kept(r), "GET", "/answers?limit=200", nil)
		for _, h := range v.answers {
			if h.by.who == p && v.random.IntN(3) == 0 {
				g.says(v.kept(r), "GET", "/answers/"+h.id, nil)
				g.says(v.kept(r), "GET", "/answers/"+h.id, nil, "Accept", "text/event-stream")
				if h.whole && slices.Equal(h.by.containers, r.containers) {
					v.readsAnswer(r, h)
				}
			}
		}
	}
}

// readsAnswer: an asker gets the answer as long as they may read what they could when they asked, and could do so until it ended.
func (v *canaryTeam) readsAnswer(by reader, h *stored) {
	g := v.readingBy(by)
	r := g.says(v.kept(by), "GET", "/answers/"+h.id, nil)
	for uri, n := range h.opened {
		b := v.papers[uri]
		if b == nil || !v.mayRead(by, b) {
			return
		}
		for _, e := range b.old[n:] {
			if !v.mayReadEnded(by, e) || e.in != nil && e.rule == nil { // nothing is known of who might read that in the end
				return
			}
		}
	}
	if r.status != 200 || r.text(v.t, "state") != "complete" || len(h.opened) > 0 && !strings.Contains(string(r.body), "cellar") {
		v.t.Errorf("%s by %s may read %d documents, and gets %d %s", g.name(), g.way, len(h.opened), r.status, r.body)
	}
}
