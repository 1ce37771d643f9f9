package protocol_test

import (
	"errors"
	"strings"
	"testing"

	"docent/shared/scim/protocol"
)

// tree reads JSON.
func tree(t testing.TB, text string) map[string]any {
	t.Helper()
	out, err := protocol.DecodeObject([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return out
}

// wantType fails unless err is a SCIM error of that scimType.
func wantType(t testing.TB, err error, kind string) {
	t.Helper()
	var e *protocol.Error
	if !errors.As(err, &e) || e.Type != kind {
		t.Errorf("error %v, want %s", err, kind)
	}
}

const ada = `{"id":"u1","userName":"Ada@Example.com","externalId":"Ext-1","displayName":"Ada","active":true,"title":"",
 "name":{"familyName":"Lovelace"},
 "emails":[{"value":"ada@work.test","type":"work","primary":true},{"value":"ada@home.test","type":"home"}],
 "x509Certificates":[{"value":"AbC="}],
 "meta":{"resourceType":"User","created":"2026-11-21T12:00:00.000Z"},
 "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User":{"employeeNumber":"9223372036854775808","manager":{"value":"Boss"}}}`

const enterprise = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User"

const core = "urn:ietf:params:scim:schemas:core:2.0:User"

// message returns the body of a PATCH with these operations.
func message(operations ...string) string {
	return `{"schemas":["urn:ietf:params:scim:api:messages:2.0:PatchOp"],"Operations":[` + strings.Join(operations, ",") + `]}`
}

// jsonText writes a tree as JSON.
func jsonText(tree any) string {
	encoded, err := protocol.Encode(tree)
	if err != nil {
		panic(err)
	}
	return string(encoded)
}

func typeOf(name string) *protocol.ResourceType {
	if name == "Group" {
		return protocol.GroupType
	}
	return protocol.UserType
}

// patch applies the message of a PATCH to stored attributes.
func patch(typeName string, attributes, fixed, message map[string]any) (map[string]any, error) {
	operations, err := protocol.ParsePatch(message)
	if err != nil {
		return nil, err
	}
	return typeOf(typeName).Patch(attributes, fixed, operations)
}

// match reports whether a resource matches a filter.
func match(typeName, filter string, root bool, resource map[string]any) (bool, error) {
	parsed, err := protocol.ParseFilter(filter)
	if err != nil {
		return false, err
	}
	matches, err := (&protocol.Compiler{Type: typeOf(typeName), Root: root}).Compile(parsed)
	if err != nil {
		return false, err
	}
	return matches(resource), nil
}

// less reports whether a comes before b in the order of sortBy.
func less(by, direction string, a, b map[string]any) (bool, error) {
	o, err := protocol.ParseOrder(&protocol.Compiler{Type: protocol.UserType}, by, direction)
	return o.Compare(o.Key(a), o.Key(b)) < 0, err
}

func reprintPath(path string) (string, error) {
	parsed, err := protocol.ParsePath(path)
	return parsed.String(), err
}
