// Package shared_test holds the rule of who may import whom, and the test that enforces it.
//
// Arrows point one way:
//
//	cmd, functions -> app -> httpapi, lambdahttp, engines -> areas -> models -> ground
//
// A new package under shared/ is entered in packages below first. The test opens the source files itself: one that
// asked `go list` would be answered from the test cache after a forbidden import was added. The file is long because the rules
// and the cases that try them are read together.
package shared_test

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "docent"

// layer is a row of the drawing above, or something next to it.
type layer string

const (
	ground   layer = "the ground" // every layer may import it
	model    layer = "a model"
	area     layer = "an area"
	part     layer = "a part of an area"
	rest     layer = "the REST surface"
	lambda   layer = "the Lambda adapter"
	engine   layer = "an engine"
	connect  layer = "a connector"
	wiring   layer = "the wiring"
	public   layer = "the Go client"
	command  layer = "a command"
	function layer = "a function"
	stack    layer = "the stack"
	script   layer = "a script"
	pages    layer = "the dashboard"
	support  layer = "test support" // testkit, and a folder whose name ends in "test": only tests and scripts link it
)

// packages are the folders under shared/. A folder below a model or below llm is an engine.
var packages = map[string]layer{
	"pause": ground, "jsoninput": ground, "jsonpost": ground, "memory": ground, "fold": ground, "markup": ground, "plaintext": ground, "rst": ground, "backtick": ground, "raised": ground,
	"apierr": model, "uri": model, "access": model, "table": model, "blob": model, "queue": model, "deployed": model,
	"embed": model, "extract": model,
	"team": area, "signon": area, "oauth": area, "quota": area, "rate": area, "collection": area, "document": area, "answer": area, "source": area,
	"scim": area, "audit": area, "usage": area, "search": area, "pending": area, "filter": area, "webhook": area, "moving": area,
	"httpapi": rest, "lambdahttp": lambda, "llm": engine, "fetch": engine, "connect": connect, "app": wiring,
}

// areaParts are folders below an area that do not depend on the area: of Docent they import the ground only.
var areaParts = []string{"scim/protocol"}

// height orders the areas: one imports only areas below it. Equal heights never meet, so collection and
// document, which need each other in life, are joined in app. A folder inside an area may have a height of its
// own, and is then an area for this rule.
var height = map[string]int{
	"quota": 0, "pending": 0, "filter": 0, "audit": 1, "rate": 1, "moving": 1,
	"search/text": 0, "search/sieve": 0, "search/vectors": 0, "search/segment": 1,
	"team": 2, "usage": 2, "search": 2,
	"collection": 3, "document": 3, "scim": 3, "signon": 3, "oauth": 3, "webhook": 3,
	"answer": 4, "source": 4,
	"source/question": 5,
}

// below says which layers a layer may import. Folders below one package may always import each other.
var below = map[layer][]layer{
	ground:   {},
	model:    {},
	area:     {model, area},
	part:     {},
	rest:     {model, area, part},
	lambda:   {model},
	engine:   {model},
	connect:  {model, area, engine},
	wiring:   {model, area, rest, lambda, engine, connect},
	public:   {area}, // filters, which it sends
	command:  {model, area, wiring, connect, pages, public},
	function: {lambda, wiring, pages},
	pages:    {},
	stack:    {model}, // the tables, and what is deployed: data, not behaviour
	script:   {model, area, rest, lambda, engine, wiring, support},
	support:  {model, area, engine, support},
}

// outside confines packages of other modules, and a few of the standard library, to layers or single packages.
var outside = []struct {
	paths    []string
	layers   []layer
	packages []string
	why      string
}{
	{
		paths:  []string{"net/http"},
		layers: []layer{rest, lambda, engine, connect, wiring, public, command, function, script, support, pages}, packages: []string{"scim", "jsonpost"},
		why: "only scim, whose statuses and media types are its domain, and jsonpost, which engines share, know HTTP below the edges",
	},
	{
		paths:  []string{"testing", "net/http/httptest"},
		layers: []layer{script, support},
		why:    "shipped programs link no test code",
	},
	{
		paths:  []string{"github.com/danielgtaylor/huma"},
		layers: []layer{rest, script}, // a script reads their description
		why:    "operations are declared in httpapi",
	},
	{
		paths:  []string{"github.com/aws/aws-sdk-go-v2", "github.com/aws/smithy-go"},
		layers: []layer{engine, wiring, script, support},
		why:    "only engines, app, scripts and the test support that starts an emulator know AWS",
	},
	{
		paths:  []string{"github.com/aws/aws-lambda-go"},
		layers: []layer{lambda, engine, wiring, function, script, support},
		why:    "only the edges of a function know its events",
	},
	{
		paths:  []string{"github.com/awslabs/aws-lambda-go-api-proxy"},
		layers: []layer{lambda},
		why:    "lambdahttp is the one adapter",
	},
	{
		paths: []string{
			"github.com/aws/aws-cdk-go", "github.com/aws/constructs-go", "github.com/aws/jsii-runtime-go",
			"github.com/cdklabs",
		},
		layers: []layer{stack},
		why:    "resources are declared in infra",
	},
	{
		paths:  []string{"github.com/evanw/esbuild"},
		layers: []layer{script},
		why:    "the dashboard is bundled before the programs are built",
	},
	{
		paths:  []string{"github.com/crewjam/saml", "github.com/russellhaering/goxmldsig", "github.com/coreos/go-oidc", "golang.org/x/oauth2"},
		layers: []layer{wiring, support},
		why:    "only the parts saml and oidc know the protocols of identity providers",
	},
	{
		paths:    []string{"go.etcd.io/bbolt"},
		packages: []string{"table/bolt"},
		why:      "the file has one owner",
	},
	{
		paths:  []string{"github.com/alecthomas/kong", "github.com/schollz/progressbar"},
		layers: []layer{command, script},
		why:    "terminals are the commands' business",
	},
	{
		paths: []string{
			"github.com/chromedp", "github.com/getkin/kin-openapi", "github.com/google/go-cmp", "github.com/johannesboyne/gofakes3",
			"github.com/scim2/filter-parser", "pgregory.net/rapid",
		},
		layers: []layer{support},
		why:    "shipped programs link no test code",
	},
}

// packageOf returns the package and layer of a folder, given as a slash path from the repository root.
func packageOf(folder string) (pkg string, l layer, known bool) {
	parts := strings.Split(folder, "/")
	switch top := parts[0]; {
	case len(parts) > 1 && strings.HasSuffix(parts[len(parts)-1], "test"):
		return folder, support, top == "shared" || top == "cmd" || top == "testkit"
	case len(parts) > 1 && top == "cmd":
		return "cmd/" + parts[1], command, true
	case len(parts) > 1 && top == "functions":
		return "functions/" + parts[1], function, true
	case top == "client":
		return top, public, true
	case top == "dashboard":
		return top, pages, true
	case top == "infra":
		return "infra", stack, true
	case top == "scripts":
		return "scripts", script, true
	case top == "tools":
		return "tools", script, true
	case top == "testkit":
		return "testkit", support, true
	case len(parts) < 2 || top != "shared":
		return "", "", false
	}
	l, known = packages[parts[1]]
	if known && len(parts) > 2 && (l == model || l == engine) {
		return parts[1] + "/" + parts[2], engine, true
	}
	if known && len(parts) > 2 && slices.Contains(areaParts, parts[1]+"/"+parts[2]) {
		return parts[1] + "/" + parts[2], part, true
	}
	if l == area && len(parts) > 2 {
		sub := parts[1] + "/" + parts[2]
		if _, ranked := height[sub]; ranked {
			return sub, l, known
		}
	}
	return parts[1], l, known
}

// forbidden says why a file of folder may not import a path, or nothing when it may. Tests may import what
// they like but programs.
func forbidden(folder string, isTest bool, imported string) string {
	pkg, from, known := packageOf(folder)
	if !known && !isTest {
		return fmt.Sprintf("%s is no known package: enter it in shared/arrows_test.go", folder)
	}
	if rel, ours := strings.CutPrefix(imported, module+"/"); ours {
		return forbiddenInside(pkg, from, isTest, rel)
	}
	if isTest {
		return ""
	}
	for _, o := range outside {
		matches := slices.ContainsFunc(o.paths, func(p string) bool {
			return imported == p || strings.HasPrefix(imported, p+"/")
		})
		if matches && !slices.Contains(o.layers, from) && !slices.Contains(o.packages, pkg) {
			return fmt.Sprintf("%s (%s) imports %s: %s", pkg, from, imported, o.why)
		}
	}
	return ""
}

func forbiddenInside(pkg string, from layer, isTest bool, folder string) string {
	target, to, known := packageOf(folder)
	switch {
	case !known:
		return fmt.Sprintf("%s is no known package: enter it in shared/arrows_test.go", folder)
	case target == pkg:
		return ""
	case to == command || to == function || to == stack || to == script:
		return fmt.Sprintf("%s is %s: nothing imports it", folder, to)
	case isTest || to == ground:
		return ""
	case from == engine && path.Dir(pkg) == target:
		return "" // llm/bedrock serves llm
	case to == part && path.Dir(target) == pkg:
		return ""
	case !slices.Contains(below[from], to):
		return fmt.Sprintf("%s (%s) imports %s (%s), which is not below it", pkg, from, target, to)
	case from == area && to == area && height[pkg] <= height[target]:
		return fmt.Sprintf("%s imports %s: areas import only areas below them", pkg, target)
	}
	return ""
}

// scan reads the import list of every Go file under root. It returns one line, `file:line: rule`, for each
// forbidden import, and the files that it read.
func scan(root string) (violations, files []string, err error) {
	fset := token.NewFileSet()
	err = filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if d.IsDir() {
			ignored := rel != "." && (strings.HasPrefix(d.Name(), ".") || strings.HasPrefix(d.Name(), "_"))
			if ignored || d.Name() == "testdata" || d.Name() == "node_modules" || slices.Contains([]string{"bin", "data", "dist"}, rel) {
				return filepath.SkipDir
			}
			if _, _, known := packageOf(rel); path.Dir(rel) == "shared" && !known {
				violations = append(violations, rel+":1: no known package: enter it in shared/arrows_test.go")
			}
			return nil
		}
		if path.Ext(rel) != ".go" {
			return nil
		}
		f, err := parser.ParseFile(fset, name, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		files = append(files, rel)
		for _, spec := range f.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			if why := forbidden(path.Dir(rel), strings.HasSuffix(rel, "_test.go"), imported); why != "" {
				violations = append(violations, fmt.Sprintf("%s:%d: %s", rel, fset.Position(spec.Pos()).Line, why))
			}
		}
		return nil
	})
	return violations, files, err
}

func TestArrowsPointOneWay(t *testing.T) {
	t.Parallel()
	violations, files, err := scan("..")
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range violations {
		t.Error(v)
	}
	for _, must := range []string{"shared/arrows_test.go", "shared/table/table.go", "shared/apierr/apierr.go"} {
		if !slices.Contains(files, must) {
			t.Errorf("%s was not read", must)
		}
	}
}

func TestEveryAreaHasAHeight(t *testing.T) {
	t.Parallel()
	for pkg, l := range packages {
		if _, ok := height[pkg]; ok != (l == area) {
			t.Errorf("%s is %s, height given: %t", pkg, l, ok)
		}
	}
	for pkg := range height {
		top, _, _ := strings.Cut(pkg, "/")
		if _, ok := packages[top]; !ok {
			t.Errorf("%s has a height and is not a package", pkg)
		}
	}
}

func TestScanNamesFileAndLine(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for name, text := range map[string]string{
		"shared/answer/service.go":      "package answer\n\nimport (\n\t\"context\"\n\t\"net/http\"\n)\n",
		"shared/answer/service_test.go": "package answer\n\nimport \"net/http\"\n",
		"shared/utils/notes.txt":        "no Go here, but a folder with a forbidden name",
		"shared/team/testdata/x.go":     "package x\n\nimport \"net/http\"\n",
		".cache/x.go":                   "package x\n\nimport \"docent/cmd/docent\"\n",
		"extra/x.go":                    "package extra\n\nimport \"fmt\"\n",
	} {
		file := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, _, err := scan(root)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"extra/x.go:3: ", "shared/answer/service.go:5: answer (an area) imports net/http", "shared/utils:1: "}
	if len(got) != len(want) {
		t.Fatalf("got %d violations, want %d:\n%s", len(got), len(want), strings.Join(got, "\n"))
	}
	for i, line := range got {
		if !strings.HasPrefix(line, want[i]) {
			t.Errorf("violation %d is %q, want it to begin with %q", i, line, want[i])
		}
	}
}

func TestForbidden(t *testing.T) {
	t.Parallel()
	const yes, no = true, false
	for _, c := range []struct {
		name, folder, imported string
		allowed                bool
	}{
		{"an area imports a model", "shared/team", "docent/shared/table", yes},
		{"an area imports net/http", "shared/answer", "net/http", no},
		{"an area imports below net/http", "shared/answer", "net/http/httputil", no},
		{"an area imports net/netip", "shared/team", "net/netip", yes},
		{"scim imports net/http", "shared/scim", "net/http", yes},
		{"scim imports huma", "shared/scim", "github.com/danielgtaylor/huma/v2", no},
		{"an area imports AWS", "shared/document", "github.com/aws/aws-sdk-go-v2/service/s3", no},
		{"an area imports an engine", "shared/search", "docent/shared/blob/dir", no},
		{"an area imports the model package of llm", "shared/answer", "docent/shared/llm", no},
		{"an area imports httpapi", "shared/usage", "docent/shared/httpapi", no},
		{"an area imports app", "shared/collection", "docent/shared/app", no},
		{"an area's folder imports net/http", "shared/search/inner", "net/http", no},
		{"an area imports its own folder", "shared/search", "docent/shared/search/inner", yes},
		{"an area imports its part", "shared/scim", "docent/shared/scim/protocol", yes},
		{"an area imports a part of another", "shared/team", "docent/shared/scim/protocol", no},
		{"httpapi imports a part", "shared/httpapi", "docent/shared/scim/protocol", yes},
		{"a part imports its area", "shared/scim/protocol", "docent/shared/scim", no},
		{"a part imports a model", "shared/scim/protocol", "docent/shared/apierr", no},
		{"a part imports the ground", "shared/scim/protocol", "docent/shared/fold", yes},
		{"a part imports net/http", "shared/scim/protocol", "net/http", no},
		{"search imports segments", "shared/search", "docent/shared/search/segment", yes},
		{"search imports texts", "shared/search", "docent/shared/search/text", yes},
		{"segments import texts", "shared/search/segment", "docent/shared/search/text", yes},
		{"segments import search", "shared/search/segment", "docent/shared/search", no},
		{"texts import segments", "shared/search/text", "docent/shared/search/segment", no},
		{"texts import search", "shared/search/text", "docent/shared/search", no},
		{"document imports texts", "shared/document", "docent/shared/search/text", yes},
		{"team imports quota", "shared/team", "docent/shared/quota", yes},
		{"quota imports team", "shared/quota", "docent/shared/team", no},
		{"document imports search", "shared/document", "docent/shared/search", yes},
		{"search imports document", "shared/search", "docent/shared/document", no},
		{"search imports team", "shared/search", "docent/shared/team", no},
		{"collection imports document", "shared/collection", "docent/shared/document", no},
		{"document imports collection", "shared/document", "docent/shared/collection", no},
		{"answer imports search", "shared/answer", "docent/shared/search", yes},
		{"an area imports answer", "shared/source", "docent/shared/answer", no},
		{"question imports source", "shared/source/question", "docent/shared/source", yes},
		{"source imports question", "shared/source", "docent/shared/source/question", no},
		{"httpapi imports answer", "shared/httpapi", "docent/shared/answer", yes},
		{"pending imports an area", "shared/pending", "docent/shared/team", no},
		{"a model imports a model", "shared/table", "docent/shared/apierr", no},
		{"a model imports the ground", "shared/queue", "docent/shared/pause", yes},
		{"the ground imports a model", "shared/pause", "docent/shared/apierr", no},
		{"a model imports its engine", "shared/table", "docent/shared/table/bolt", no},
		{"a model imports net/http", "shared/blob", "net/http", no},
		{"httpapi imports huma", "shared/httpapi", "github.com/danielgtaylor/huma/v2/adapters/humago", yes},
		{"httpapi imports an engine", "shared/httpapi", "docent/shared/table/bolt", no},
		{"httpapi imports AWS", "shared/httpapi", "github.com/aws/smithy-go", no},
		{"httpapi imports app", "shared/httpapi", "docent/shared/app", no},
		{"httpapi imports test code", "shared/httpapi", "net/http/httptest", no},
		{"lambdahttp imports an area", "shared/lambdahttp", "docent/shared/team", no},
		{"lambdahttp imports its adapter", "shared/lambdahttp", "github.com/awslabs/aws-lambda-go-api-proxy/core", yes},
		{"lambdahttp imports huma", "shared/lambdahttp", "github.com/danielgtaylor/huma/v2", no},
		{"an engine imports its model", "shared/queue/sqs", "docent/shared/queue", yes},
		{"an engine imports another model", "shared/queue/local", "docent/shared/table", yes},
		{"an engine imports AWS", "shared/queue/sqs", "github.com/aws/aws-sdk-go-v2/service/sqs", yes},
		{"an engine imports another engine", "shared/queue/local", "docent/shared/table/bolt", no},
		{"an engine imports an area", "shared/table/dynamo", "docent/shared/team", no},
		{"an engine imports httpapi", "shared/llm/openai", "docent/shared/httpapi", no},
		{"an engine of llm imports llm", "shared/llm/bedrock", "docent/shared/llm", yes},
		{"table/bolt imports bbolt", "shared/table/bolt", "go.etcd.io/bbolt/errors", yes},
		{"another engine imports bbolt", "shared/queue/local", "go.etcd.io/bbolt", no},
		{"app imports bbolt", "shared/app", "go.etcd.io/bbolt", no},
		{"app imports an engine", "shared/app", "docent/shared/blob/s3", yes},
		{"app imports AWS", "shared/app", "github.com/aws/aws-sdk-go-v2/config", yes},
		{"app imports the CDK", "shared/app", "github.com/aws/aws-cdk-go/awscdk/v2", no},
		{"app imports a test library", "shared/app", "pgregory.net/rapid", no},
		{"app imports test support", "shared/app", "docent/shared/table/bolt/bolttest", no},
		{"app imports the test kit", "shared/app", "docent/testkit/moto", no},
		{"a script imports the test kit", "scripts/e2e", "docent/testkit/ministack", yes},
		{"the test kit imports a model", "testkit/lambdarun", "docent/shared/queue", yes},
		{"the test kit imports AWS", "testkit/moto", "github.com/aws/aws-sdk-go-v2/aws", yes},
		{"the test kit imports a script", "testkit/moto", "docent/scripts/e2e", no},
		{"app imports a command", "shared/app", "docent/cmd/docent/internal/put", no},
		{"test support imports a test library", "shared/table/tabletest", "github.com/google/go-cmp/cmp", yes},
		{"test support imports its engine", "shared/table/bolt/bolttest", "docent/shared/table/bolt", yes},
		{"test support imports testing", "shared/table/bolt/bolttest", "testing", yes},
		{"an engine imports testing", "shared/table/bolt", "testing", no},
		{"a connector imports the area that it serves", "shared/connect/github", "docent/shared/source", yes},
		{"a connector imports net/http", "shared/connect/github", "net/http", yes},
		{"a connector imports httpapi", "shared/connect/web", "docent/shared/httpapi", no},
		{"an area imports a connector", "shared/source", "docent/shared/connect/github", no},
		{"a command imports app", "cmd/docent", "docent/shared/app", yes},
		{"a command imports the client", "cmd/docent", "docent/client", yes},
		{"the client imports filters", "client", "docent/shared/filter", yes},
		{"the client imports the wiring", "client", "docent/shared/app", no},
		{"the client imports a model", "client", "docent/shared/table", no},
		{"an area imports the client", "shared/answer", "docent/client", no},
		{"a command imports its own folder", "cmd/docent", "docent/cmd/docent/internal/put", yes},
		{"a command imports an engine", "cmd/docent", "docent/shared/table/bolt", no},
		{"a command imports another command", "cmd/docent", "docent/cmd/other", no},
		{"a command imports kong", "cmd/docent", "github.com/alecthomas/kong", yes},
		{"app imports kong", "shared/app", "github.com/alecthomas/kong", no},
		{"a function imports app", "functions/answers", "docent/shared/app", yes},
		{"a function imports an area", "functions/answers", "docent/shared/answer", no},
		{"a function imports another", "functions/answers", "docent/functions/usage", no},
		{"the stack imports the table list", "infra", "docent/shared/table", yes},
		{"the stack imports an area", "infra", "docent/shared/team", no},
		{"an unknown package imports anything", "shared/utils", "fmt", no},
		{"an unknown top folder imports anything", "pkg", "fmt", no},
		{"app imports an unknown package", "shared/app", "docent/shared/utils", no},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if why := forbidden(c.folder, false, c.imported); (why == "") != c.allowed {
				t.Errorf("%s importing %s: %q, want allowed %t", c.folder, c.imported, why, c.allowed)
			}
		})
	}
}

func TestForbiddenInTests(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, folder, imported string
		allowed                bool
	}{
		{"an area's test imports test support", "shared/team", "docent/shared/table/bolt/bolttest", true},
		{"an area's test imports net/http", "shared/answer", "net/http/httptest", true},
		{"an engine's test imports the test kit", "shared/table/dynamo", "docent/testkit/moto", true},
		{"a test imports a script", "shared/app", "docent/scripts/e2e", false},
		{"a test beside go.mod imports app", ".", "docent/shared/app", true},
		{"a test imports a command", "shared/app", "docent/cmd/docent/internal/put", false},
		{"a test imports an unknown package", "shared/app", "docent/shared/utils", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if why := forbidden(c.folder, true, c.imported); (why == "") != c.allowed {
				t.Errorf("%s importing %s: %q, want allowed %t", c.folder, c.imported, why, c.allowed)
			}
		})
	}
}
