package protocol_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// person is a model of a user and its PATCH: strings, a name of two parts, a boolean, and one
// e-mail address of each type in the order of addition.
type person struct {
	texts  map[string]string
	name   map[string]string
	active *bool
	emails []address
}

type address struct{ kind, value string }

func (p *person) tree() map[string]any {
	out := map[string]any{"userName": "u"}
	for name, value := range p.texts {
		out[name] = value
	}
	if len(p.name) > 0 {
		parts := map[string]any{}
		for name, value := range p.name {
			parts[name] = value
		}
		out["name"] = parts
	}
	if p.active != nil {
		out["active"] = *p.active
	}
	var list []any
	for _, e := range p.emails {
		list = append(list, map[string]any{"type": e.kind, "value": e.value})
	}
	if list != nil {
		out["emails"] = list
	}
	return out
}

func (p *person) mail(kind, value string) {
	if i := slices.IndexFunc(p.emails, func(e address) bool { return e.kind == kind }); i >= 0 {
		p.emails[i].value = value
		return
	}
	p.emails = append(p.emails, address{kind, value})
}

// step draws an operation and applies it to p.
func (p *person) step(t *rapid.T) string {
	value := rapid.SampledFrom([]string{"a", "b", "Zoë \\\"q\\\""}).Draw(t, "value")
	stored := map[string]string{"Zoë \\\"q\\\"": `Zoë "q"`}[value]
	if stored == "" {
		stored = value
	}
	text := rapid.SampledFrom([]string{"title", "nickName", "externalId"}).Draw(t, "text")
	part := rapid.SampledFrom([]string{"givenName", "familyName"}).Draw(t, "part")
	kind := rapid.SampledFrom([]string{"work", "home"}).Draw(t, "kind")
	op := rapid.SampledFrom([]string{"add", "replace", "Add", "Replace"}).Draw(t, "op")
	switch rapid.IntRange(0, 10).Draw(t, "form") {
	case 0:
		p.texts[text] = stored
		return fmt.Sprintf(`{"op":%q,"path":%q,"value":"%s"}`, op, text, value)
	case 1:
		p.texts[text], p.name[part] = stored, stored
		return fmt.Sprintf(`{"op":%q,"value":{"%s":"%s","name.%s":"%s"}}`, op, text, value, part, value)
	case 2:
		delete(p.texts, text)
		return fmt.Sprintf(`{"op":"remove","path":"%s:%s"}`, core, text)
	case 3:
		delete(p.texts, text)
		return fmt.Sprintf(`{"op":%q,"value":{"%s":%s}}`, op, text, rapid.SampledFrom([]string{"null", `""`}).Draw(t, "nothing"))
	case 4:
		p.mail(kind, stored)
		return fmt.Sprintf(`{"op":%q,"path":"emails[type eq \"%s\"].value","value":"%s"}`, op, kind, value)
	case 5:
		p.emails = slices.DeleteFunc(p.emails, func(e address) bool { return e.kind == kind })
		return fmt.Sprintf(`{"op":"remove","path":"emails[type eq \"%s\"]"}`, kind)
	case 6:
		p.emails = []address{{kind, stored}}
		return fmt.Sprintf(`{"op":"replace","path":"emails","value":[{"type":"%s","value":"%s"}]}`, kind, value)
	case 7:
		p.emails = nil
		return `{"op":"remove","path":"emails"}`
	case 8:
		p.name[part] = stored
		return fmt.Sprintf(`{"op":%q,"path":"name","value":{"%s":"%s"}}`, op, part, value)
	case 9:
		delete(p.name, part)
		return fmt.Sprintf(`{"op":"replace","value":{"name":{"%s":null}}}`, part)
	default:
		on := rapid.Bool().Draw(t, "on")
		p.active = &on
		return fmt.Sprintf(`{"op":%q,"path":"active","value":%s}`, op, rapid.SampledFrom([]string{fmt.Sprint(on), map[bool]string{true: `"True"`, false: `"False"`}[on]}).Draw(t, "form of it"))
	}
}

func TestPatchOfUsersFollowsModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := &person{texts: map[string]string{}, name: map[string]string{}}
		start := p.tree()
		inTurn := start
		var steps []string
		for range rapid.IntRange(1, 10).Draw(t, "steps") {
			step := p.step(t)
			steps = append(steps, step)
			inTurn = patchedAs(t, "User", inTurn, step)
		}
		if diff := cmp.Diff(p.tree(), inTurn); diff != "" {
			t.Fatalf("%v: %s", steps, diff)
		}
		if diff := cmp.Diff(inTurn, patchedAs(t, "User", start, steps...)); diff != "" {
			t.Fatalf("%v in one request: %s", steps, diff)
		}
	})
}
