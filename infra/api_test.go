package main

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"docent/shared/app"
	"docent/shared/deployed"
	"docent/shared/httpapi"
)

// gateway finds the function of a path as the gateway does: an element by its name before {proxy+}.
type gateway struct {
	children map[string]map[string]string // of a resource: its children by path part
	answers  map[string]string            // function by resource
}

const root = ""

func newGateway(m template) gateway {
	g := gateway{map[string]map[string]string{}, map[string]string{}}
	name := func(v any) string {
		if get, ok := v.(map[string]any)["Fn::GetAtt"].([]any); ok && get[1] == "RootResourceId" {
			return root
		}
		return target(v)
	}
	for n, r := range m.of("AWS::ApiGateway::Resource") {
		parent := name(r.at("ParentId"))
		if g.children[parent] == nil {
			g.children[parent] = map[string]string{}
		}
		g.children[parent][r.at("PathPart").(string)] = n
	}
	for _, r := range m.of("AWS::ApiGateway::Method") {
		if r.at("HttpMethod") == "ANY" && r.at("Integration", "Type") == "AWS_PROXY" {
			for _, f := range functions {
				if strings.Contains(words(r.at("Integration", "Uri")), "${"+*functionID(f.name)+"}/") {
					g.answers[name(r.at("ResourceId"))] = f.name
				}
			}
		}
	}
	return g
}

func (g gateway) function(path string) string {
	at := root
	for part := range strings.SplitSeq(strings.Trim(path, "/"), "/") {
		if part == "" {
			break
		}
		next, ok := g.children[at][part]
		if !ok {
			next, ok = g.children[at]["{proxy+}"]
			if !ok {
				return ""
			}
			return g.answers[next]
		}
		at = next
	}
	return g.answers[at]
}

func TestEveryPathReachesItsFunction(t *testing.T) {
	t.Parallel()
	g := newGateway(plain(t))
	for path, want := range map[string]string{
		"/": "admin", "/me": "admin", "/team": "admin", "/team/saml-metadata": "admin", "/api-keys/x/rotate": "admin",
		"/data-sources/x/items": "admin", "/webhooks/github/x": "admin", "/no/such/path": "admin", "/collectionsx": "admin",
		"/collections": "collections", "/collections/x": "collections", "/collections/x/y/z": "collections",
		"/documents": "documents", "/documents/x": "documents", "/answers": "answers", "/answers/x": "answers",
		"/context/search": "context", "/context/query/prs": "context", "/mcp": "context",
		"/scim/v2/Users/x": "scim", "/scim": "scim", "/security-events": "securityevents", "/security-events/types": "securityevents",
		"/usage": "usage", "/usage/quotas": "usage",
	} {
		if got := g.function(path); got != want {
			t.Errorf("%s reaches %q, want %q", path, got, want)
		}
	}
}

func TestEveryOperationReachesOneFunction(t *testing.T) {
	t.Parallel()
	g := newGateway(plain(t))
	var areas []string
	for _, a := range httpapi.Areas() {
		areas = append(areas, a.Name)
	}
	reached := map[string]bool{}
	for path := range httpapi.OpenAPI(app.Providers()).Paths {
		f := g.function(path)
		if !slices.Contains(areas, f) {
			t.Errorf("%s reaches %q, which is not an area", path, f)
		}
		reached[f] = true
		for _, reserved := range []string{"/ping", "/sping"} {
			if path == reserved || strings.HasPrefix(path, reserved+"/") {
				t.Errorf("the gateway reserves %s", path)
			}
		}
	}
	slices.Sort(areas)
	if got := slices.Sorted(maps.Keys(reached)); !slices.Equal(got, areas) {
		t.Errorf("operations reach %v, areas are %v", got, areas)
	}
}

func TestOneFunctionAnswersEachResource(t *testing.T) {
	t.Parallel()
	m := plain(t)
	methods := map[string]int{}
	for _, r := range m.of("AWS::ApiGateway::Method") {
		methods[words(r.at("ResourceId"))]++
		if r.at("ApiKeyRequired") == true || r.at("RequestValidatorId") != nil {
			t.Errorf("the gateway validates what the functions validate: %v", r.Properties)
		}
	}
	if want := len(m.of("AWS::ApiGateway::Resource")) + 1; len(methods) != want {
		t.Errorf("%d resources answer, want %d", len(methods), want)
	}
	for name, n := range methods {
		if n != 1 {
			t.Errorf("%s has %d methods", name, n)
		}
	}
}

// TestFunctionsThatStreamHaveStreams: the gateway passes on their replies while they are written, and says so to
// them; LocalStack's does not.
func TestFunctionsThatStreamHaveStreams(t *testing.T) {
	t.Parallel()
	check := func(t *testing.T, m template, want string) {
		t.Helper()
		seen := map[string]bool{}
		for _, r := range m.of("AWS::ApiGateway::Method") {
			uri := words(r.at("Integration", "Uri"))
			for _, f := range deployed.Functions {
				if !strings.Contains(uri, "${"+*functionID(f.Name)+"}/") {
					continue
				}
				seen[f.Name] = true
				streams := r.at("Integration", "ResponseTransferMode") == "STREAM" && strings.Contains(uri, "/response-streaming-invocations")
				if streams != (f.Streams && want == streamed) {
					t.Errorf("%s: %v %s", f.Name, r.at("Integration", "ResponseTransferMode"), uri)
				}
			}
		}
		for _, f := range deployed.Functions {
			if f.HTTP() && !seen[f.Name] {
				t.Errorf("%s is reached by no method", f.Name)
			}
			if mode := m.of("AWS::Lambda::Function")[*functionID(f.Name)].at("Environment", "Variables", deployed.Transfer); f.Streams && mode != want || !f.Streams && mode != nil {
				t.Errorf("%s is told %v", f.Name, mode)
			}
		}
	}
	check(t, plain(t), streamed)
	check(t, compatible(t), buffered)
}
