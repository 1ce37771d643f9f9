package deployed_test

import (
	"path/filepath"
	"slices"
	"testing"

	"docent/shared/deployed"
)

func TestFunctionsAreTheFolders(t *testing.T) {
	t.Parallel()
	mains, err := filepath.Glob("../../functions/*/main.go")
	if err != nil || len(mains) == 0 {
		t.Fatal(mains, err)
	}
	var folders, listed []string
	for _, main := range mains {
		folders = append(folders, filepath.Base(filepath.Dir(main)))
	}
	for _, f := range deployed.Functions {
		listed = append(listed, f.Name)
	}
	slices.Sort(listed)
	if !slices.Equal(folders, listed) {
		t.Errorf("folders %v, listed %v", folders, listed)
	}
}

func TestEveryPathHasOneFunction(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	rest := 0
	for _, f := range deployed.Functions {
		for _, root := range f.Roots {
			if other, taken := seen[root]; taken {
				t.Errorf("%s leads to %s and to %s", root, other, f.Name)
			}
			seen[root] = f.Name
		}
		if f.CatchAll {
			rest++
		}
	}
	if rest != 1 {
		t.Errorf("%d functions take the rest", rest)
	}
	for path, want := range map[string]string{
		"/collections": "collections", "/collections/1/2": "collections", "/mcp": "context", "/context/search/code": "context",
		"/scim/v2/Users": "scim", "/security-events": "securityevents", "/securityevents": "admin", "/me": "admin",
		"/webhooks/1": "admin", "/": "admin", "": "admin", "/unknown/collections": "admin", "/answering": "admin",
	} {
		if got := deployed.FunctionOf(path).Name; got != want {
			t.Errorf("%q leads to %s, want %s", path, got, want)
		}
	}
}

func TestVariablesNameFunctionsThatThereAre(t *testing.T) {
	t.Parallel()
	for _, v := range deployed.Environment {
		for _, name := range v.Functions {
			if !slices.ContainsFunc(deployed.Functions, func(f deployed.Function) bool { return f.Name == name }) {
				t.Errorf("%s is read by %s, which is no function", v.Name, name)
			}
		}
		if v.Required && v.Functions != nil {
			t.Errorf("%s is required, so every function reads it", v.Name)
		}
	}
}
