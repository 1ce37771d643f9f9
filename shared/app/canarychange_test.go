package app

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// change changes one thing, in Docent and in the model.
func (v *canaryTeam) change() (what string) {
	v.t.Helper()
	v.clock.Advance(time.Second)
	defer v.note()
	v.settled = false
	switch v.random.IntN(12) {
	case 0:
		return v.changeMembers()
	case 1:
		return v.changePerson()
	case 2:
		return v.changeGroup()
	case 3, 4, 5:
		return v.putPaper()
	case 6, 7:
		return v.patchPaper()
	case 8:
		return v.changeContainer()
	case 9:
		return v.importPaper()
	case 10:
		return v.deletePaper()
	default:
		return v.replaceContainer()
	}
}

func (v *canaryTeam) ok(r reply) reply {
	v.t.Helper()
	if r.status >= 300 {
		v.t.Fatalf("%d %s", r.status, r.body)
	}
	return r
}

func (v *canaryTeam) changeMembers() string {
	if len(v.groups) == 0 {
		return "nothing"
	}
	c, p := pick(v, v.groups), pick(v, v.people)
	in := !c.members[p]
	change := scimPatch("add", "members", []map[string]string{{"value": p.id}})
	if !in {
		change = scimPatch("remove", fmt.Sprintf("members[value eq %q]", p.id), nil)
	}
	v.ok(v.asSCIM("PATCH", "/Groups/"+c.id, change))
	c.members[p] = in
	return fmt.Sprintf("%s in %s: %t", p.name, c.name, in)
}

func free(pool []string, taken func(string) string) []string {
	return slices.DeleteFunc(slices.Clone(pool), func(n string) bool { return taken(n) != "" })
}

func (v *canaryTeam) changePerson() string {
	p := pick(v, v.people)
	open := free(personNames, v.userOf)
	switch {
	case v.random.IntN(3) == 0 && len(open) > 0:
		from := p.name
		p.name = pick(v, open)
		v.ok(v.asSCIM("PATCH", "/Users/"+p.id, scimPatch("replace", "userName", p.name)))
		return from + " is " + p.name
	case v.random.IntN(3) == 0 && len(open) > 0:
		v.ok(v.asSCIM("DELETE", "/Users/"+p.id, nil))
		v.people = slices.DeleteFunc(v.people, func(o *person) bool { return o == p })
		for _, c := range v.groups {
			delete(c.members, p)
		}
		p.active = false
		name := p.name
		if v.random.IntN(2) == 0 {
			name = pick(v, open)
		}
		v.newPerson(name, p.admin)
		return p.name + " is deleted, and there is a new " + name
	}
	p.active = !p.active
	v.ok(v.asSCIM("PATCH", "/Users/"+p.id, scimPatch("replace", "active", p.active)))
	if p.active {
		v.signsIn(p)
	}
	return fmt.Sprintf("%s active: %t", p.name, p.active)
}

func (v *canaryTeam) changeGroup() string {
	open := free(groupNames, v.groupOf)
	switch n := v.random.IntN(3); {
	case len(v.groups) < 2 && len(open) > 0:
		name := pick(v, open)
		v.newGroup(name)
		return "a new " + name
	case n == 0 && len(v.groups) > 0:
		c := pick(v, v.groups)
		v.ok(v.asSCIM("DELETE", "/Groups/"+c.id, nil))
		v.groups = slices.DeleteFunc(v.groups, func(o *groupOfPeople) bool { return o == c })
		return c.name + " is deleted"
	case n == 1 && len(open) > 0:
		c := pick(v, v.groups)
		from := c.name
		c.name = pick(v, open)
		v.ok(v.asSCIM("PATCH", "/Groups/"+c.id, scimPatch("replace", "displayName", c.name)))
		return from + " is " + c.name
	}
	c := pick(v, v.groups)
	members := []map[string]string{}
	clear(c.members)
	for _, p := range v.people {
		if v.random.IntN(2) == 0 {
			c.members[p] = true
			members = append(members, map[string]string{"value": p.id})
		}
	}
	v.ok(v.asSCIM("PATCH", "/Groups/"+c.id, scimPatch("replace", "members", members)))
	return fmt.Sprintf("%s has %d members", c.name, len(members))
}

// collections returns the live containers that documents are put into.
func (v *canaryTeam) collections() []*container {
	return slices.DeleteFunc(slices.Clone(v.containers), func(c *container) bool { return c.items || c.id == "" })
}

// rewrite gives b new canaries, but for its uri.
func (v *canaryTeam) rewrite(b *paper) {
	if b.call != "" {
		b.old = append(b.old, version{words: []string{b.title, b.label, b.call, b.echo}, rule: b.rule()})
	}
	b.title, b.label, b.call, b.echo = v.canary(), v.canary(), v.canary(), v.canary()
}

const documentsAtMost = 6

func (v *canaryTeam) putPaper() string {
	var docs []*paper
	for _, uri := range slices.Sorted(maps.Keys(v.papers)) {
		if b := v.papers[uri]; !b.container.items {
			docs = append(docs, b)
		}
	}
	var b *paper
	what := "put again"
	switch {
	case len(docs) == 0 || len(docs) < documentsAtMost && v.random.IntN(2) == 0:
		what = "put"
		b = &paper{mark: v.canary()}
		b.uri = "https://wiki.test/" + b.mark
		if gone := slices.Sorted(maps.Keys(v.deleted)); len(gone) > 0 && v.random.IntN(2) == 0 {
			what = "put after it was deleted"
			b.uri, b.mark = gone[0], v.deleted[gone[0]].mark
			b.old = v.deleted[gone[0]].old
			delete(v.deleted, b.uri)
		}
		b.container, b.id = pick(v, v.collections()), v.id(b.uri)
		v.rewrite(b)
	default:
		b = pick(v, docs)
		if v.random.IntN(3) > 0 {
			v.rewrite(b)
		}
		if v.random.IntN(3) == 0 {
			what = "moved"
			b.container = pick(v, v.collections())
		}
	}
	in := map[string]any{"collectionId": b.container.id, "uri": b.uri, "title": "Kirschkern " + b.title, "body": b.text(), "metadata": map[string]any{"label": b.label, "kind": "paper"}}
	if rule, body := v.draw(b.own); v.random.IntN(4) == 0 {
		in["keepAccess"] = true
	} else {
		b.own = rule
		if body != nil {
			in["access"] = body
		}
	}
	r := v.ok(v.as(v.teamKey(), "PUT", "/documents", in))
	b.etag = r.header.Get("ETag")
	v.papers[b.uri] = b
	return fmt.Sprintf("%s is %s in %s with %v", b.uri, what, b.container.id, b.own)
}

func (v *canaryTeam) living(items bool) []*paper {
	var docs []*paper
	for _, uri := range slices.Sorted(maps.Keys(v.papers)) {
		if b := v.papers[uri]; b.container.items == items && !b.dead {
			docs = append(docs, b)
		}
	}
	return docs
}

func (v *canaryTeam) patchPaper() string {
	docs := v.living(false)
	if len(docs) == 0 {
		return "nothing"
	}
	b := pick(v, docs)
	in := map[string]any{}
	if v.random.IntN(3) > 0 {
		b.own, in["access"] = v.draw(b.own)
	} else {
		b.old = append(b.old, version{words: []string{b.title, b.label}, rule: b.rule()})
		b.title, b.label = v.canary(), v.canary()
		in["title"], in["metadata"] = "Kirschkern "+b.title, map[string]any{"label": b.label, "kind": "paper"}
	}
	r := v.ok(v.as(v.teamKey(), "PATCH", "/documents/"+b.id, in))
	b.etag = cmp.Or(r.header.Get("ETag"), b.etag)
	return fmt.Sprintf("%s is changed: %v, its rule is %v", b.uri, in, b.own)
}

func (v *canaryTeam) changeContainer() string {
	c := pick(v, v.containers)
	var body any
	c.byDefault, body = v.draw(c.byDefault)
	path := "/collections/"
	if c.items {
		path = "/data-sources/"
	}
	v.must(200, "PATCH", path+c.id, map[string]any{"defaultAccess": body})
	return fmt.Sprintf("the default of %s is %v", c.id, c.byDefault)
}

func (v *canaryTeam) importPaper() string {
	c := v.containers[3]
	items := v.living(true)
	var b *paper
	if len(items) < 3 {
		n := len(items) + 1
		b = &paper{container: c, mark: v.canary(), number: n}
		b.uri = "https://tracker.test/" + b.mark
		b.id = v.id(b.uri)
	} else {
		b = pick(v, items)
	}
	v.rewrite(b)
	item := map[string]any{"uri": b.uri, "title": "Kirschkern " + b.title, "body": b.text(), "sourceType": "issue", "number": fmt.Sprint(b.number), "state": "open", "author": b.label,
		"createdAt": "2026-01-01T00:00:00Z", "updatedAt": v.clock.Now().Format(time.RFC3339Nano), "labels": []string{b.label}}
	var body any
	if b.own, body = v.draw(b.own); body != nil {
		item["access"] = body
	}
	line, err := json.Marshal(item)
	if err != nil {
		v.t.Fatal(err)
	}
	r := v.must(200, "POST", "/data-sources/"+c.id+"/items", line, "Content-Type", "application/x-ndjson")
	if !strings.Contains(string(r.body), `"accepted":1`) {
		v.t.Fatalf("%s", r.body)
	}
	v.papers[b.uri] = b
	return fmt.Sprintf("%s is imported with %v", b.uri, b.own)
}

func (v *canaryTeam) deletePaper() string {
	docs := v.living(false)
	if len(docs) == 0 {
		return "nothing"
	}
	b := pick(v, docs)
	if r := v.as(v.teamKey(), "DELETE", "/documents/"+b.id, nil); r.status != 204 {
		v.t.Fatalf("%d %s", r.status, r.body)
	}
	v.markDeleted(b)
	return b.uri + " is deleted"
}

// markDeleted makes b a deleted paper.
func (v *canaryTeam) markDeleted(b *paper) {
	b.old = append(b.old, version{b.words(), b.rule(), b.container})
	if b.own == nil {
		b.own = b.container.byDefault // as it is now
	}
	b.container, b.dead = &container{items: b.container.items}, true
	delete(v.papers, b.uri)
	v.deleted[b.uri] = b
}

func (v *canaryTeam) replaceContainer() string {
	n := 1 + v.random.IntN(2) // no key is limited to these
	c := v.containers[n]
	if r := v.as(v.teamKey(), "DELETE", "/collections/"+c.id, nil); r.status != 204 {
		v.t.Fatalf("%d %s", r.status, r.body)
	}
	for _, uri := range slices.Sorted(maps.Keys(v.papers)) {
		if b := v.papers[uri]; b.container == c {
			v.markDeleted(b)
		}
	}
	fresh := v.newContainer(false)
	v.containers = slices.Delete(v.containers, len(v.containers)-1, len(v.containers))
	v.containers[n] = fresh
	return c.id + " is deleted, and " + fresh.id + " is made"
}
