package protocol_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"docent/shared/scim/protocol"
)

func TestReadOfRequests(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, on, body, want string }{
		{"names in any case", "User", `{"UserName":"u","Active":"True","emails":[{"Primary":"true","VALUE":"e"}],"` + strings.ToUpper(enterprise) + `":{"Department":"d","Manager":{"Value":"m"}}}`,
			`{"userName":"u","active":true,"emails":[{"primary":true,"value":"e"}],"` + enterprise + `":{"department":"d","manager":{"value":"m"}}}`},
		{"what is unassigned, unknown, readOnly or secret", "User", `{"schemas":["urn:x"],"id":"mine","meta":{"version":"x"},"userName":"u","title":null,"nickName":"","emails":null,"groups":[],
			"password":"p","addresses":[{"locality":"","region":""}],"roles":[],"adreses":[{}],"` + enterprise + `":{"division":"","manager":{"value":"","displayName":" "}}}`, `{"userName":"u"}`},
		{"manager as a string", "User", `{"userName":"u","` + enterprise + `":{"manager":"m"}}`, `{"userName":"u","` + enterprise + `":{"manager":{"value":"m"}}}`},
		{"repeated values", "User", `{"userName":"u","emails":[{"value":"a"},{"value":"A"},{"value":"b","primary":true},{"value":"c","primary":true}]}`,
			`{"userName":"u","emails":[{"value":"A"},{"value":"b"},{"value":"c","primary":true}]}`},
		{"members", "Group", `{"displayName":"g","members":[{"value":"a","$ref":null,"type":"User"},{"value":"a"},{"value":"b","display":"B"}]}`,
			`{"displayName":"g","members":[{"value":"a"},{"value":"b","display":"B"}]}`},
		{"a member of an address alone", "Group", `{"displayName":"g","members":[{"$ref":"../Users/a"}]}`, "invalidValue"},
		{"no userName", "User", `{"displayName":"x"}`, "invalidValue"},
		{"a blank userName", "User", `{"userName":" \t "}`, "invalidValue"},
		{"a userName that is an object", "User", `{"userName":{"a":1}}`, "invalidValue"},
		{"a userName that is a number", "User", `{"userName":1}`, "invalidValue"},
		{"emails that are numbers", "User", `{"userName":"u","emails":[1]}`, "invalidValue"},
		{"emails that are an object of something else", "User", `{"userName":"u","emails":{"x":"y"}}`, "invalidValue"},
		{"emails with an object of something else", "User", `{"userName":"u","emails":[{"value":"a"},{"x":"y"}]}`, "invalidValue"},
		{"emails that are a list in a list", "User", `{"userName":"u","emails":[[]]}`, "invalidValue"},
		{"emails that are false", "User", `{"userName":"u","emails":false}`, "invalidValue"},
		{"addresses that are an object of something else", "User", `{"userName":"u","addresses":{"emails":[]}}`, "invalidValue"},
		{"a name that is an object of something else", "User", `{"userName":"u","name":{"first":"U"}}`, "invalidValue"},
		{"a name that is a text", "User", `{"userName":"u","name":"U"}`, "invalidValue"},
		{"a name that is a list", "User", `{"userName":"u","name":[]}`, "invalidValue"},
		{"a manager that is an object of something else", "User", `{"userName":"u","` + enterprise + `":{"manager":{"id":"m"}}}`, "invalidValue"},
		{"a manager that is a list", "User", `{"userName":"u","` + enterprise + `":{"manager":[]}}`, "invalidValue"},
		{"a title that is an object", "User", `{"userName":"u","title":{}}`, "invalidValue"},
		{"a title that is a list", "User", `{"userName":"u","title":[]}`, "invalidValue"},
		{"active that is a list", "User", `{"userName":"u","active":[]}`, "invalidValue"},
		{"active that is empty", "User", `{"userName":"u","active":""}`, "invalidValue"},
		{"an object next to what it does not know", "User", `{"userName":"u","emails":[{"value":"a","x":"y"}],"name":{"givenName":"G","first":"U"}}`,
			`{"userName":"u","emails":[{"value":"a"}],"name":{"givenName":"G"}}`},
		{"objects without members", "User", `{"userName":"u","emails":[{}],"name":{},"` + enterprise + `":{}}`, `{"userName":"u"}`},
		{"active that is null", "User", `{"userName":"u","active":null}`, `{"userName":"u"}`},
		{"members that are an object of something else", "Group", `{"displayName":"g","members":{"x":"y"}}`, "invalidValue"},
		{"addresses that are texts", "User", `{"userName":"u","addresses":["a"]}`, "invalidValue"},
		{"an extension that is a text", "User", `{"userName":"u","` + enterprise + `":"x"}`, "invalidValue"},
		{"no displayName", "Group", `{"members":[]}`, "invalidValue"},
		{"one name in two cases", "User", `{"userName":"u","USERNAME":"v"}`, "invalidSyntax"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := typeOf(c.on).Read(tree(t, c.body))
			if !strings.HasPrefix(c.want, "{") {
				wantType(t, err, c.want)
				return
			}
			if diff := cmp.Diff(tree(t, c.want), got); err != nil || diff != "" {
				t.Error(err, diff)
			}
		})
	}
}

func TestBadJSON(t *testing.T) {
	t.Parallel()
	for _, body := range []string{"", " ", "[1]", `"x"`, "null", `{"a":`, `{"a":1}{}`, `{"a":1} x`, `{"a":1,"a":2}`, `{"x":{"a":1,"a":2}}`, "{\"a\":\"\xff\"}", `{a:1}`,
		strings.Repeat(`{"a":`, 33) + "1" + strings.Repeat("}", 33), strings.Repeat("[", 100_000)} {
		_, err := protocol.DecodeObject([]byte(body))
		wantType(t, err, "invalidSyntax")
	}
	if _, err := protocol.DecodeObject([]byte(strings.Repeat(`{"a":`, 32) + "1" + strings.Repeat("}", 32))); err != nil {
		t.Errorf("32 levels: %v", err)
	}
}

// TestBadJSONSaysWhere: a body of an identity provider's mapping has thousands of characters.
func TestBadJSONSaysWhere(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		" \n":                           "The request needs a JSON body.",
		`{"userName":"a",}`:             "The request body is not well-formed JSON at column 17.",
		"{\"userName\":\"a\",\n 'x':1}": "The request body is not well-formed JSON at line 2, column 2: strings are in double quotes.",
		`{"emails":[{"value":"a"`:       "The request body is not well-formed JSON: it ends too early.",
		`{"emails":[1 2]}`:              "The request body is not well-formed JSON at column 14.",
		`{"userName":"a"} {}`:           "The request body continues after its JSON object.",
		"\ufeff{}":                      "The request body is not well-formed JSON: it begins with a byte order mark, which JSON must not have.",
	} {
		var refused *protocol.Error
		if _, err := protocol.DecodeObject([]byte(body)); !errors.As(err, &refused) || refused.Detail != want {
			t.Errorf("%q: %v, want %s", body, err, want)
		}
	}
}

// FuzzDecodeObject: every body is an object in JSON or refused for its syntax.
func FuzzDecodeObject(f *testing.F) {
	for _, seed := range []string{`{"a":[1,{"b":null}]}`, `{"a":1,}`, `{"a" 1}`, `{"\ud83d":1}`, `[{}]`, `{}x`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		_, err := protocol.DecodeObject(body)
		var refused *protocol.Error
		if err == nil && !json.Valid(body) || err != nil && !(errors.As(err, &refused) && refused.Type == protocol.InvalidSyntax) {
			t.Errorf("%q: %v", body, err)
		}
	})
}

func TestProjection(t *testing.T) {
	t.Parallel()
	const whole = `{"schemas":["s"],"id":"u1","userName":"u","displayName":"d","name":{"givenName":"G","familyName":"F"},
		"emails":[{"value":"1","type":"work"},{"type":"home"}],"` + enterprise + `":{"department":"D","manager":{"value":"m","displayName":"M"}}}`
	for _, c := range []struct{ attributes, excluded, want string }{
		{"", "", whole},
		{"userName,name.familyName", "", `{"schemas":["s"],"id":"u1","userName":"u","name":{"familyName":"F"}}`},
		{"emails.VALUE", "userName", `{"schemas":["s"],"id":"u1","emails":[{"value":"1"},{}]}`},
		{"emails.value, emails.type", "", `{"schemas":["s"],"id":"u1","emails":[{"value":"1","type":"work"},{"type":"home"}]}`},
		{strings.ToUpper(enterprise) + ":Department", "", `{"schemas":["s"],"id":"u1","` + enterprise + `":{"department":"D"}}`},
		{enterprise, "", `{"schemas":["s"],"id":"u1","` + enterprise + `":{"department":"D","manager":{"value":"m","displayName":"M"}}}`},
		{enterprise + ":manager.value", "", `{"schemas":["s"],"id":"u1","` + enterprise + `":{"manager":{"value":"m"}}}`},
		{"noSuch,!", "", `{"schemas":["s"],"id":"u1"}`},
		{"", "id,schemas,name,emails.type,displayName,noSuch," + enterprise + ":manager",
			`{"schemas":["s"],"id":"u1","userName":"u","emails":[{"value":"1"},{}],"` + enterprise + `":{"department":"D"}}`},
		{"", "userName,displayName,emails,name.familyName," + enterprise, `{"schemas":["s"],"id":"u1","name":{"givenName":"G"}}`},
	} {
		resource := tree(t, whole)
		if diff := cmp.Diff(tree(t, c.want), protocol.ParseProjection([]string{c.attributes}, []string{c.excluded}).Apply(protocol.UserType, resource)); diff != "" {
			t.Errorf("attributes %q, excluded %q: %s", c.attributes, c.excluded, diff)
		}
		if diff := cmp.Diff(tree(t, whole), resource); diff != "" {
			t.Errorf("attributes %q, excluded %q changed the resource: %s", c.attributes, c.excluded, diff)
		}
	}
}

func TestOrder(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ by, direction, first, second string }{
		{"", "", `{"id":"1","userName":"z"}`, `{"id":"2","userName":"a"}`},
		{"userName", "", `{"id":"2","userName":"ada"}`, `{"id":"1","userName":"Bob"}`},
		{"userName", "Descending", `{"id":"1","userName":"Bob"}`, `{"id":"2","userName":"ada"}`},
		{"externalId", "", `{"id":"2","externalId":"Bob"}`, `{"id":"1","externalId":"ada"}`},
		{"title", "", `{"id":"2","title":"x"}`, `{"id":"1"}`},
		{"title", "descending", `{"id":"2"}`, `{"id":"1","title":"x"}`},
		{"title", "descending", `{"id":"1","title":"X"}`, `{"id":"2","title":"x"}`},
		{"emails", "", `{"id":"2","emails":[{"value":"z"},{"value":"a","primary":true}]}`, `{"id":"1","emails":[{"value":"b"},{"value":"a"}]}`},
		{"emails.type", "", `{"id":"2","emails":[{"value":"z","type":"home"}]}`, `{"id":"1","emails":[{"value":"b","type":"work"}]}`},
		{"name.familyName", "", `{"id":"2","name":{"familyName":"a"}}`, `{"id":"1","name":{"familyName":"b"}}`},
		{"active", "", `{"id":"2","active":false}`, `{"id":"1","active":true}`},
		{"meta.created", "", `{"id":"2","meta":{"created":"2026-01-01T00:00:00.5Z"}}`, `{"id":"1","meta":{"created":"2026-01-01T01:00:00.500001+01:00"}}`},
		{enterprise + ":department", "", `{"id":"2","` + enterprise + `":{"department":"a"}}`, `{"id":"1","` + enterprise + `":{"department":"b"}}`},
	} {
		a, b := tree(t, c.first), tree(t, c.second)
		if less, err := less(c.by, c.direction, a, b); err != nil || !less {
			t.Errorf("by %s %s: %s does not come before %s, %v", c.by, c.direction, c.first, c.second, err)
		}
		if less, err := less(c.by, c.direction, b, a); err != nil || less {
			t.Errorf("by %s %s: %s comes before %s, %v", c.by, c.direction, c.second, c.first, err)
		}
	}
	for by, direction := range map[string]string{"noSuch": "", "name": "", "emails[": "", "emails[type eq \"x\"]": "", enterprise: "", "title": "up"} {
		_, err := less(by, direction, nil, nil)
		wantType(t, err, "invalidValue")
	}
}

// TestARepeatedNameCostsNothing: a query has room for thousands of names.
func TestARepeatedNameCostsNothing(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"members.value", "userName", protocol.EnterpriseURN + ":manager"} {
		once := protocol.ParseProjection([]string{name}, nil)
		many := protocol.ParseProjection([]string{strings.Repeat(name+", ", 1000) + strings.ToLower(name), strings.ToUpper(name)}, nil)
		if !reflect.DeepEqual(once, many) {
			t.Errorf("%s: %v, want %v", name, many, once)
		}
	}
}
