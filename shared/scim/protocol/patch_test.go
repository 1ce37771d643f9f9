package protocol_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"docent/shared/scim/protocol"
)

func TestPatch(t *testing.T) {
	t.Parallel()
	const (
		two   = `{"userName":"u","emails":[{"value":"1","type":"work","primary":true},{"value":"2","type":"home"}]}`
		three = `{"displayName":"g","members":[{"value":"a","display":"A"},{"value":"b"},{"value":"c"}]}`
		ext   = `{"userName":"u","` + enterprise + `":{"department":"D","employeeNumber":"1"}}`
	)
	for _, c := range []struct {
		name, on, before string
		operations       []string
		after            string // or the scimType of the refusal
	}{
		{"remove members by value list", "Group", three, []string{`{"op":"Remove","path":"members","value":[{"$ref":null,"value":"a"}]}`},
			`{"displayName":"g","members":[{"value":"b"},{"value":"c"}]}`},
		{"remove members by an empty list", "Group", three, []string{`{"op":"remove","path":"members","value":[]}`}, three},
		{"remove one member as an object", "Group", three, []string{`{"op":"remove","path":"members","value":{"value":"a"}}`},
			`{"displayName":"g","members":[{"value":"b"},{"value":"c"}]}`},
		{"remove all members", "Group", three, []string{`{"op":"remove","path":"members"}`}, `{"displayName":"g"}`},
		{"remove a member by filter", "Group", three, []string{`{"op":"remove","path":"members[value eq \"b\"]"}`},
			`{"displayName":"g","members":[{"value":"a","display":"A"},{"value":"c"}]}`},
		{"remove a member twice", "Group", three, []string{`{"op":"remove","path":"members[value eq \"x\"]"}`}, three},
		{"add a present member", "Group", three, []string{`{"op":"add","path":"members","value":[{"value":"a","display":"Z"}]}`}, three},
		{"members in another case are other members", "Group", three, []string{`{"op":"remove","path":"members","value":[{"value":"A"}]}`}, three},
		{"a member as its id", "Group", three, []string{`{"op":"add","path":"members","value":"d"}`, `{"op":"add","path":"members","value":["a","e"]}`},
			`{"displayName":"g","members":[{"value":"a","display":"A"},{"value":"b"},{"value":"c"},{"value":"d"},{"value":"e"}]}`},
		{"a group as member", "Group", three, []string{`{"op":"add","path":"members","value":[{"value":"d","type":"Group"}]}`}, "invalidValue"},
		{"a member of no id", "Group", three, []string{`{"op":"add","path":"members","value":[{"display":"d"}]}`}, "invalidValue"},
		{"a member of an address alone", "Group", three, []string{`{"op":"replace","path":"members","value":[{"$ref":"https://docent.test/v1/scim/v2/Users/d"}]}`}, "invalidValue"},
		{"another id for a member", "Group", three, []string{`{"op":"replace","path":"members[value eq \"a\"].value","value":"d"}`}, "mutability"},
		{"the same id for a member", "Group", three, []string{`{"op":"replace","path":"members[value eq \"a\"].value","value":"a"}`}, three},
		{"another name for a member", "Group", three, []string{`{"op":"replace","path":"members[value eq \"a\"].display","value":"Z"}`}, "mutability"},
		{"another member instead of one", "Group", three, []string{`{"op":"replace","path":"members[value eq \"a\"]","value":{"value":"d"}}`},
			`{"displayName":"g","members":[{"value":"d"},{"value":"b"},{"value":"c"}]}`},
		{"another id for every member", "Group", three, []string{`{"op":"add","path":"members[value pr]","value":[{"value":"a"}]}`}, "mutability"},
		{"the same member through a filter", "Group", three, []string{`{"op":"add","path":"members[value eq \"a\"]","value":{"value":"a"}}`}, three},
		{"empty text for members", "Group", three, []string{`{"op":"add","path":"members","value":""}`}, "invalidValue"},
		{"clear the id of a member", "Group", three, []string{`{"op":"replace","path":"members[value eq \"a\"].value","value":null}`}, "mutability"},
		{"replace members", "Group", three, []string{`{"op":"replace","path":"members","value":[{"value":"c"},{"value":"d","type":"user"}]}`},
			`{"displayName":"g","members":[{"value":"c"},{"value":"d"}]}`},

		{"an object of something else for all elements", "User", two, []string{`{"op":"replace","path":"emails","value":{"x":"y"}}`}, "invalidValue"},
		{"the same without a path", "User", two, []string{`{"op":"replace","value":{"emails":[{"x":"y"}]}}`}, "invalidValue"},
		{"the same through a filter", "User", two, []string{`{"op":"replace","path":"emails[type eq \"work\"]","value":{"x":"y"}}`}, "invalidValue"},
		{"the same as a key with a filter", "User", two, []string{`{"op":"replace","value":{"emails[type eq \"work\"]":[{"x":"y"}]}}`}, "invalidValue"},
		{"the same added", "User", two, []string{`{"op":"add","path":"emails","value":[{"x":"y"}]}`}, "invalidValue"},
		{"the same removed", "User", two, []string{`{"op":"remove","path":"emails","value":[{"x":"y"}]}`}, "invalidValue"},
		{"an empty list through a filter", "User", two, []string{`{"op":"replace","path":"emails[type eq \"work\"]","value":[]}`}, "invalidValue"},
		{"a list through a filter", "User", two, []string{`{"op":"replace","path":"emails[type eq \"work\"]","value":[{"value":"3"},{"value":"4"}]}`}, "invalidValue"},
		{"an object for a value", "User", two, []string{`{"op":"replace","path":"emails[type eq \"work\"].value","value":{"x":"y"}}`}, "invalidValue"},
		{"a text for a name", "User", two, []string{`{"op":"replace","path":"name","value":"N"}`}, "invalidValue"},
		{"an object of something else for a manager", "User", ext, []string{`{"op":"replace","value":{"` + enterprise + `":{"manager":"m"}}}`, `{"op":"replace","path":"` + enterprise + `:manager","value":{"x":"y"}}`},
			`{"userName":"u","` + enterprise + `":{"department":"D","employeeNumber":"1","manager":{"value":"m"}}}`},
		{"a text for an extension", "User", ext, []string{`{"op":"replace","path":"` + enterprise + `","value":""}`}, "invalidValue"},

		{"value path without a match", "User", `{"userName":"u"}`, []string{
			`{"op":"add","path":"emails[type eq \"work\"].value","value":"1"}`,
			`{"op":"Replace","path":"emails[type eq \"work\"].primary","value":"True"}`,
			`{"op":"replace","path":"emails[type eq \"home\"].value","value":"2"}`}, two},
		{"value path by primary", "User", `{"userName":"u"}`, []string{
			`{"op":"add","path":"roles[primary eq \"True\"].display","value":"D"}`, `{"op":"add","path":"roles[primary eq \"True\"].value","value":"V"}`},
			`{"userName":"u","roles":[{"display":"D","value":"V","primary":true}]}`},
		{"value path in place", "User", two, []string{`{"op":"replace","path":"emails[type eq \"work\"].value","value":"3"}`}, strings.Replace(two, `"1"`, `"3"`, 1)},
		{"value path with an order creates nothing", "User", two, []string{`{"op":"add","path":"emails[type gt \"work\"].value","value":"3"}`}, "noTarget"},
		{"whole element without a match", "User", two, []string{`{"op":"replace","path":"emails[value eq \"9\"]","value":{"value":"z"}}`}, "noTarget"},
		{"whole element added", "User", two, []string{`{"op":"add","path":"emails[type eq \"other\"]","value":{"value":"3"}}`},
			`{"userName":"u","emails":[{"value":"1","type":"work","primary":true},{"value":"2","type":"home"},{"value":"3","type":"other"}]}`},
		{"whole element replaced", "User", two, []string{`{"op":"replace","path":"emails[type eq \"work\"]","value":[{"value":"3","type":"other"}]}`},
			`{"userName":"u","emails":[{"value":"3","type":"other"},{"value":"2","type":"home"}]}`},
		{"element removed", "User", two, []string{`{"op":"remove","path":"emails[type eq \"work\"]"}`}, `{"userName":"u","emails":[{"value":"2","type":"home"}]}`},
		{"all but the primary element removed", "User", two, []string{`{"op":"remove","path":"emails[primary eq false]"}`}, `{"userName":"u","emails":[{"value":"1","type":"work","primary":true}]}`},
		{"sub-attribute of an element cleared", "User", two, []string{`{"op":"replace","path":"emails[type eq \"work\"].value","value":""}`},
			`{"userName":"u","emails":[{"type":"work","primary":true},{"value":"2","type":"home"}]}`},
		{"sub-attribute of an element removed", "User", two, []string{`{"op":"remove","path":"emails[type eq \"work\"].primary"}`},
			`{"userName":"u","emails":[{"value":"1","type":"work"},{"value":"2","type":"home"}]}`},
		{"clearing what is not there", "User", `{"userName":"u"}`, []string{`{"op":"replace","path":"emails[type eq \"work\"].value","value":""}`}, `{"userName":"u"}`},
		{"a list without filter, every element", "User", two, []string{`{"op":"replace","path":"emails.type","value":"other"}`},
			`{"userName":"u","emails":[{"value":"1","type":"other","primary":true},{"value":"2","type":"other"}]}`},
		{"a filter on what has no elements", "User", two, []string{`{"op":"replace","path":"name[givenName eq \"x\"]","value":{}}`}, "invalidPath"},

		{"types", "User", `{"userName":"u"}`, []string{`{"op":"replace","path":"active","value":"False"}`, `{"op":"add","value":{"emails":[{"value":"1","primary":"TRUE"}]}}`},
			`{"userName":"u","active":false,"emails":[{"value":"1","primary":true}]}`},
		{"no boolean", "User", two, []string{`{"op":"replace","path":"active","value":"maybe"}`}, "invalidValue"},
		{"an empty boolean", "User", two, []string{`{"op":"replace","path":"active","value":""}`}, "invalidValue"},
		{"a number", "User", two, []string{`{"op":"replace","path":"title","value":5}`}, "invalidValue"},

		{"keys as paths", "User", ext, []string{`{"op":"replace","value":{"id":"u1","schemas":["x"],"meta":{},"groups":[],"DISPLAYNAME":"N","name.givenName":"G",
			"name.familyName":"F","` + enterprise + `:employeeNumber":"2","unknown":1}}`},
			`{"userName":"u","displayName":"N","name":{"givenName":"G","familyName":"F"},"` + enterprise + `":{"department":"D","employeeNumber":"2"}}`},
		{"an extension object merges", "User", ext, []string{`{"op":"replace","value":{"` + enterprise + `":{"DEPARTMENT":"E"}}}`}, strings.Replace(ext, `"D"`, `"E"`, 1)},
		{"an extension as path", "User", ext, []string{`{"op":"add","path":"` + strings.ToUpper(enterprise) + `","value":{"department":"E"}}`}, strings.Replace(ext, `"D"`, `"E"`, 1)},
		{"an extension removed", "User", ext, []string{`{"op":"remove","path":"` + enterprise + `"}`}, `{"userName":"u"}`},
		{"the last of an extension", "User", ext, []string{`{"op":"remove","path":"` + enterprise + `:department"}`, `{"op":"replace","path":"` + enterprise + `:employeeNumber","value":null}`}, `{"userName":"u"}`},
		{"a core object merges", "User", `{"userName":"u","name":{"familyName":"F"}}`, []string{`{"op":"replace","value":{"` + strings.ToUpper(core) + `":{"displayName":"x","name":{"givenName":"G"},
			"id":"u1","unknown":1,"emails[type eq \"work\"].value":"1"}}}`, `{"op":"add","value":{"` + core + `":{"title":"T","` + enterprise + `":{"department":"D"}}}}`},
			`{"userName":"u","displayName":"x","name":{"familyName":"F","givenName":"G"},"title":"T","emails":[{"value":"1","type":"work"}],"` + enterprise + `":{"department":"D"}}`},
		{"a core object of a group", "Group", three, []string{`{"op":"replace","value":{"urn:ietf:params:scim:schemas:core:2.0:Group":{"displayName":"h"}}}`}, strings.Replace(three, `"g"`, `"h"`, 1)},
		{"a core object of another type", "Group", three, []string{`{"op":"replace","value":{"` + core + `":{"displayName":"h"}}}`}, three},
		{"a core object that is none", "User", two, []string{`{"op":"replace","value":{"` + core + `":null}}`}, "invalidValue"},
		{"a required attribute in a core object", "User", two, []string{`{"op":"replace","value":{"` + core + `":{"userName":null}}}`}, "invalidValue"},
		{"a name under the core URN", "User", two, []string{`{"op":"replace","path":"urn:ietf:params:scim:schemas:core:2.0:User:name.familyName","value":"F"}`},
			strings.Replace(two, `{"userName":"u"`, `{"userName":"u","name":{"familyName":"F"}`, 1)},

		{"manager as a string", "User", `{"userName":"u"}`, []string{`{"op":"Add","path":"` + enterprise + `:manager","value":"m"}`}, `{"userName":"u","` + enterprise + `":{"manager":{"value":"m"}}}`},
		{"a dot after the URN", "User", `{"userName":"u"}`, []string{`{"op":"replace","path":"` + enterprise + `.manager","value":"m"}`}, `{"userName":"u","` + enterprise + `":{"manager":{"value":"m"}}}`},
		{"manager as an object", "User", `{"userName":"u"}`, []string{`{"op":"Add","path":"` + enterprise + `:manager","value":{"value":"m","displayName":"M","$ref":"x"}}`}, `{"userName":"u","` + enterprise + `":{"manager":{"value":"m"}}}`},
		{"manager by its value", "User", `{"userName":"u"}`, []string{`{"op":"replace","value":{"` + enterprise + `":{"manager.value":"m"}}}`}, `{"userName":"u","` + enterprise + `":{"manager":{"value":"m"}}}`},
		{"manager cleared", "User", `{"userName":"u","` + enterprise + `":{"manager":{"value":"m"}}}`, []string{`{"op":"replace","path":"` + enterprise + `:manager","value":""}`}, `{"userName":"u"}`},
		{"manager removed", "User", `{"userName":"u","` + enterprise + `":{"manager":{"value":"m"}}}`, []string{`{"op":"remove","path":"` + enterprise + `:manager"}`}, `{"userName":"u"}`},

		{"an object merges", "User", `{"userName":"u","name":{"givenName":"G","familyName":"F","formatted":"G F"}}`, []string{`{"op":"replace","path":"name","value":{"familyName":null,"givenName":"X"}}`},
			`{"userName":"u","name":{"givenName":"X","formatted":"G F"}}`},
		{"null clears", "User", `{"userName":"u","title":"T","name":{"givenName":"G"}}`, []string{`{"op":"replace","path":"title","value":null}`, `{"op":"replace","path":"name","value":null}`}, `{"userName":"u"}`},
		{"userName cannot be cleared", "User", two, []string{`{"op":"replace","path":"userName","value":null}`}, "invalidValue"},
		{"userName cannot be blank", "User", two, []string{`{"op":"replace","value":{"userName":"  "}}`}, "invalidValue"},
		{"userName cannot be removed", "User", two, []string{`{"op":"remove","path":"userName"}`}, "mutability"},
		{"password is discarded", "User", two, []string{`{"op":"replace","value":{"password":"x"}}`, `{"op":"replace","path":"password","value":"y"}`}, two},

		{"a new primary demotes the old", "User", two, []string{`{"op":"replace","path":"emails[type eq \"home\"].primary","value":true}`},
			`{"userName":"u","emails":[{"value":"1","type":"work"},{"value":"2","type":"home","primary":true}]}`},
		{"an added primary demotes the old", "User", two, []string{`{"op":"add","path":"emails","value":[{"value":"3","primary":true}]}`},
			`{"userName":"u","emails":[{"value":"1","type":"work"},{"value":"2","type":"home"},{"value":"3","primary":true}]}`},
		{"adding a present value", "User", two, []string{`{"op":"add","path":"emails","value":[{"value":"1","type":"WORK"}]}`}, strings.Replace(two, "work", "WORK", 1)},
		{"a single value instead of a list", "User", `{"userName":"u"}`, []string{`{"op":"add","path":"emails","value":{"value":"1"}}`}, `{"userName":"u","emails":[{"value":"1"}]}`},

		{"a value filter in a key, an element that is there", "User", two, []string{`{"op":"Replace","value":{"emails[type eq \"work\"].value":"w@x.test"}}`}, strings.Replace(two, `"1"`, `"w@x.test"`, 1)},
		{"a value filter in a key, no element", "User", `{"userName":"u"}`, []string{`{"op":"Add","value":{"emails[type eq \"work\"].value":"w","emails[type eq \"work\"].primary":"True","EMAILS[Type eq \"Work\"].Display":"W"}}`},
			`{"userName":"u","emails":[{"value":"w","type":"Work","display":"W","primary":true}]}`},
		{"a value filter under the core URN", "User", two, []string{`{"op":"replace","value":{"urn:ietf:params:scim:schemas:core:2.0:user:emails[type eq \"home\"].value":"h"}}`}, strings.Replace(two, `"2"`, `"h"`, 1)},
		{"a whole element by a key", "User", two, []string{`{"op":"replace","value":{"emails[type eq \"home\"]":[{"value":"h","type":"home"}]}}`}, strings.Replace(two, `"2"`, `"h"`, 1)},
		{"null by a key with a value filter", "User", `{"userName":"u","roles":[{"value":"a","type":"t"},{"value":"b"}]}`, []string{`{"op":"replace","value":{"roles[type eq \"t\"]":null}}`}, `{"userName":"u","roles":[{"value":"b"}]}`},
		{"keys with value filters and without", "User", `{"userName":"u"}`, []string{`{"op":"replace","value":{"Active":"False","name.givenName":"G","NAME.FamilyName":"F","phoneNumbers[type eq \"mobile\"].value":"1",` +
			`"addresses[type eq \"work\"].locality":"L","` + enterprise + `:department":"D","` + enterprise + `":{"Manager":{"VALUE":"m"},"costCenter":["C"]},"noSuch[type eq \"x\"].value":"y","emails[type eq \"work\"].noSuch":"y"}}`},
			`{"userName":"u","active":false,"name":{"givenName":"G","familyName":"F"},"phoneNumbers":[{"value":"1","type":"mobile"}],"addresses":[{"locality":"L","type":"work"}],` +
				`"` + enterprise + `":{"department":"D","costCenter":"C","manager":{"value":"m"}}}`},
		{"a key that is a broken path", "User", two, []string{`{"op":"replace","value":{"title":"t","emails[type eq":"x"}}`}, "invalidPath"},
		{"a key with a filter of no sense", "User", two, []string{`{"op":"replace","value":{"emails[primary gt true].value":"x"}}`}, "invalidFilter"},
		{"a key with a filter of what has no elements", "User", two, []string{`{"op":"replace","value":{"title[value eq \"x\"]":"x"}}`}, "invalidPath"},
		{"a key whose filter matches nothing", "User", two, []string{`{"op":"replace","value":{"emails[value co \"none\"].type":"x"}}`}, "noTarget"},
		{"members by a key", "Group", `{"displayName":"g","members":[{"value":"a"},{"value":"b"}]}`, []string{`{"op":"add","value":{"members[value eq \"b\"].display":"B"}}`}, `{"displayName":"g","members":[{"value":"a"},{"value":"b","display":"B"}]}`},

		{"a list of one object without a path", "User", two, []string{`{"op":"replace","value":[{"title":"T","name":{"givenName":"G"}}]}`}, strings.Replace(two, `{`, `{"title":"T","name":{"givenName":"G"},`, 1)},
		{"a list of objects without a path", "User", two, []string{`{"op":"add","value":[{"title":"T"},{"TITLE":"U"}]}`}, strings.Replace(two, `{`, `{"title":"U",`, 1)},
		{"a list of texts without a path", "User", two, []string{`{"op":"add","value":["title"]}`}, "invalidValue"},
		{"an empty list without a path", "User", two, []string{`{"op":"add","value":[]}`}, "invalidValue"},
		{"lists of one", "User", two, []string{`{"op":"replace","path":"title","value":["T"]}`, `{"op":"replace","path":"active","value":[{"$ref":null,"value":"False"}]}`, `{"op":"add","path":"name","value":[{"givenName":["G"]}]}`,
			`{"op":"replace","path":"emails[type eq \"work\"].value","value":["w"]}`, `{"op":"replace","value":{"nickName":["N"],"` + enterprise + `":[{"division":["V"]}]}}`},
			`{"userName":"u","title":"T","active":false,"name":{"givenName":"G"},"nickName":"N","emails":[{"value":"w","type":"work","primary":true},{"value":"2","type":"home"}],"` + enterprise + `":{"division":"V"}}`},
		{"a list of two instead of a single value", "User", two, []string{`{"op":"replace","path":"title","value":["T","U"]}`}, "invalidValue"},
		{"an empty list instead of a single value", "User", two, []string{`{"op":"replace","path":"title","value":[]}`}, "invalidValue"},
		{"userName as a list of nothing", "User", two, []string{`{"op":"replace","path":"userName","value":[null]}`}, "invalidValue"},
		{"manager as a list", "User", `{"userName":"u"}`, []string{`{"op":"Add","path":"` + enterprise + `:manager","value":[{"$ref":"x","value":"m"}]}`}, `{"userName":"u","` + enterprise + `":{"manager":{"value":"m"}}}`},
		{"manager as a list of a text", "User", `{"userName":"u"}`, []string{`{"op":"Add","value":{"` + enterprise + `:manager":["m"]}}`}, `{"userName":"u","` + enterprise + `":{"manager":{"value":"m"}}}`},
		{"manager as a list in its extension", "User", `{"userName":"u"}`, []string{`{"op":"replace","path":"` + enterprise + `","value":{"manager":[{"value":"m"}]}}`}, `{"userName":"u","` + enterprise + `":{"manager":{"value":"m"}}}`},

		{"texts as elements", "User", `{"userName":"u"}`, []string{`{"op":"add","path":"emails","value":["a@x.test"]}`, `{"op":"add","path":"roles","value":"r"}`, `{"op":"add","value":{"phoneNumbers":["1","2"]}}`},
			`{"userName":"u","emails":[{"value":"a@x.test"}],"roles":[{"value":"r"}],"phoneNumbers":[{"value":"1"},{"value":"2"}]}`},
		{"a text as an address", "User", two, []string{`{"op":"add","path":"addresses","value":["x"]}`}, "invalidValue"},
		{"single quotes in a path", "User", two, []string{`{"op":"replace","path":"emails[type eq 'work'].value","value":"x"}`}, "invalidPath"},
		{"single quotes in a key", "User", two, []string{`{"op":"replace","value":{"emails[type eq 'work'].value":"x"}}`}, "invalidPath"},

		{"no operations", "User", two, nil, two},
		{"an unknown path", "User", two, []string{`{"op":"replace","path":"title","value":"x"}`, `{"op":"replace","path":"noSuch.x","value":"y"}`}, "invalidPath"},
		{"an unknown schema", "User", two, []string{`{"op":"replace","path":"urn:x:2.0:User:title","value":"x"}`}, "invalidPath"},
		{"a malformed path", "User", two, []string{`{"op":"replace","path":"emails[type eq","value":"x"}`}, "invalidPath"},
		{"a path that is not a string", "User", two, []string{`{"op":"replace","path":5,"value":"x"}`}, "invalidPath"},
		{"a filter of no sense in a path", "User", two, []string{`{"op":"replace","path":"emails[primary gt true].value","value":"x"}`}, "invalidFilter"},
		{"remove without a path", "User", two, []string{`{"op":"remove"}`}, "noTarget"},
		{"no such operation", "User", two, []string{`{"op":"move","path":"title","value":"x"}`}, "invalidSyntax"},
		{"an operation that is not an object", "User", two, []string{`1`}, "invalidSyntax"},
		{"an addition without a value", "User", two, []string{`{"op":"add","path":"title"}`}, "invalidValue"},
		{"a replacement without a value", "User", two, []string{`{"op":"replace","path":"emails"}`}, "invalidValue"},
		{"no path and no object", "User", two, []string{`{"op":"add","value":"x"}`}, "invalidValue"},
		{"readOnly", "User", two, []string{`{"op":"replace","path":"meta.created","value":"2011-05-13T04:42:34Z"}`}, "mutability"},
		{"readOnly, the same value", "User", two, []string{`{"op":"replace","path":"id","value":"u1"}`, `{"op":"add","path":"schemas","value":["x"]}`}, two},
		{"readOnly removed", "User", two, []string{`{"op":"remove","path":"id"}`}, "mutability"},
		{"groups of a user", "User", two, []string{`{"op":"add","path":"groups","value":[{"value":"g"}]}`}, "mutability"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			before := tree(t, c.before)
			fixed := tree(t, `{"id":"u1","meta":{"created":"2026-11-21T12:00:00.000Z"}}`)
			after, err := patch(c.on, before, fixed, tree(t, message(c.operations...)))
			if diff := cmp.Diff(tree(t, c.before), before); diff != "" {
				t.Errorf("the stored attributes were changed: %s", diff)
			}
			if !strings.HasPrefix(c.after, "{") {
				wantType(t, err, c.after)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tree(t, c.after), after); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestPatchMessages(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"no schemas":    `{"Operations":[]}`,
		"other schemas": `{"schemas":["urn:x"],"Operations":[]}`,
		"no operations": `{"schemas":["urn:ietf:params:scim:api:messages:2.0:PatchOp"]}`,
	} {
		_, err := patch("User", map[string]any{"userName": "u"}, nil, tree(t, body))
		t.Log(name)
		wantType(t, err, "invalidSyntax")
	}
	lower := `{"SCHEMAS":["URN:ietf:params:scim:api:messages:2.0:patchop"],"operations":[{"OP":"ADD","Path":"title","VALUE":"T"}]}`
	after, err := patch("User", map[string]any{"userName": "u"}, nil, tree(t, lower))
	if err != nil || after["title"] != "T" {
		t.Errorf("%v, %v", after, err)
	}
}

func TestElementsAreBounded(t *testing.T) {
	t.Parallel()
	var list []string
	for i := range protocol.MaxElements {
		list = append(list, fmt.Sprintf(`{"value":"%d"}`, i))
	}
	body := tree(t, `{"userName":"u","emails":[`+strings.Join(list, ",")+`]}`)
	stored, err := typeOf("User").Read(body)
	if err != nil {
		t.Fatal(err)
	}
	_, err = patch("User", stored, nil, tree(t, message(`{"op":"add","path":"emails","value":{"value":"x"}}`)))
	wantType(t, err, "invalidValue")
	_, err = patch("User", stored, nil, tree(t, message(`{"op":"add","path":"emails[type eq \"x\"].value","value":"x"}`)))
	wantType(t, err, "invalidValue")
}

// What one PATCH compares is bounded: its operations times the elements times what their filters compare. A thousand
// members removed one by one, as Entra ID does, are far below.
func TestComparisonsOfAPatchAreBounded(t *testing.T) {
	t.Parallel()
	members := func(n int) map[string]any {
		list := make([]any, n)
		for i := range list {
			list[i] = map[string]any{"value": fmt.Sprint("u", i), "display": "Ada"}
		}
		return map[string]any{"displayName": "all", "members": list}
	}
	var oneByOne []string
	for i := range protocol.MaxOperations {
		oneByOne = append(oneByOne, fmt.Sprintf(`{"op":"remove","path":"members[value eq \"u%d\"]"}`, i))
	}
	after, err := patch("Group", members(protocol.MaxOperations), nil, tree(t, message(oneByOne...)))
	if err != nil || after["members"] != nil {
		t.Errorf("members removed one by one: %v, %v", after["members"], err)
	}
	clauses := strings.TrimSuffix(strings.Repeat(`display co \"x\" or `, 400), " or ")
	long := slices.Repeat([]string{`{"op":"remove","path":"members[` + clauses + `]"}`}, 11)
	_, err = patch("Group", members(5000), nil, tree(t, message(long...)))
	var refused *protocol.Error
	if !errors.As(err, &refused) || refused.Status != 413 {
		t.Errorf("11 filters of 400 comparisons on 5,000 members: %v, want 413", err)
	}
}
