package httpapi_test

import (
	"slices"
	"strings"
	"testing"

	"docent/shared/app"
	"docent/shared/deployed"
	"docent/shared/httpapi"
)

// TestPathsLeadToTheFunctionThatServesThem compares the operations with the routes of the stack.
func TestPathsLeadToTheFunctionThatServesThem(t *testing.T) {
	t.Parallel()
	served := map[string][]string{} // roots by area
	for _, area := range httpapi.Areas() {
		for _, path := range httpapi.PathsOf(app.Providers(), area) {
			if f := deployed.FunctionOf(path); f.Name != area.Name {
				t.Errorf("%s leads to %s, %s serves it", path, f.Name, area.Name)
			}
			root, _, _ := strings.Cut(path[1:], "/")
			served[area.Name] = append(served[area.Name], root)
		}
	}
	for _, f := range deployed.Functions {
		if f.HTTP() != (served[f.Name] != nil) {
			t.Errorf("%s is reached by paths: %t, and serves %v", f.Name, f.HTTP(), served[f.Name])
		}
		for _, root := range f.Roots {
			if root != "dashboard" && !slices.Contains(served[f.Name], root) { // it has files instead of operations
				t.Errorf("%s serves nothing at /%s", f.Name, root)
			}
		}
	}
}
