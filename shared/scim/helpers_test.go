package scim_test

import (
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

const enterprise = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User"

// message returns the body of a PATCH with these operations.
func message(operations ...string) string {
	return `{"schemas":["urn:ietf:params:scim:api:messages:2.0:PatchOp"],"Operations":[` + strings.Join(operations, ",") + `]}`
}
