// Package deployed lists, as data, what a deployment gives the functions: the paths
// that lead to each and the environment that each reads. The functions and the
// stack read the same lists, so that neither drifts from the other.
package deployed

import "strings"

// Function is a folder under functions/.
type Function struct {
	Name string
	// Roots are the first segments of the paths that lead to it, without slashes,
	// each with everything below it; nil: it is called by a queue or a schedule.
	Roots []string
	// CatchAll: it also gets every path that is under no function's root, including "/",
	// and replies that nothing exists there.
	CatchAll bool
	// Streams: the gateway passes on what it replies while it is written.
	Streams bool
}

// HTTP reports whether the function is reached by paths.
func (f Function) HTTP() bool { return len(f.Roots) > 0 }

// Functions lists every function. The roots of a function with CatchAll need no route of their own:
// they are listed so that a test can compare them with the operations.
var Functions = []Function{
	{Name: "collections", Roots: []string{"collections"}},
	{Name: "documents", Roots: []string{"documents", "uploads"}},
	{Name: "answers", Roots: []string{"answers", "chat", "responses", "models"}, Streams: true},
	{Name: "context", Roots: []string{"context", "mcp"}, Streams: true},
	{Name: "scim", Roots: []string{"scim"}},
	{Name: "securityevents", Roots: []string{"security-events"}},
	{Name: "usage", Roots: []string{"usage"}},
	{Name: "admin", Roots: []string{"me", "team", "api-keys", "data-sources", "webhooks", "webhook-endpoints"}, CatchAll: true},
	{Name: "dashboard", Roots: []string{"dashboard", "sessions", "sso", "oauth", "agents", ".well-known"}},
	{Name: "answering"},
	{Name: "delivering"},
	{Name: "embedding"},
	{Name: "extracting"},
	{Name: "indexing"},
	{Name: "sweeping"},
	{Name: "syncing"},
}

// FunctionOf returns the function that serves a path. The path is given without its common prefix /v1.
func FunctionOf(path string) Function {
	root, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	var rest Function
	for _, f := range Functions {
		for _, r := range f.Roots {
			if r == root {
				return f
			}
		}
		if f.CatchAll {
			rest = f
		}
	}
	return rest
}
