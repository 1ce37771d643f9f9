package sdk_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// generate writes both SDKs to a folder, once for all tests.
var generate = sync.OnceValues(func() (string, error) {
	folder := filepath.Join(shared, "sdk")
	if out, err := exec.Command(filepath.Join("..", "scripts", "sdk", "generate"), folder).CombinedOutput(); err != nil {
		return "", fmt.Errorf("generate the SDKs: %w\n%s", err, out)
	}
	return folder, nil
})

func generated(t *testing.T) string {
	t.Helper()
	need(t, "sdk-tools", "sdk", "bin", "openapi-python-client")
	need(t, "sdk-tools", "sdk-typescript", "node_modules", ".package-lock.json")
	folder, err := generate()
	if err != nil {
		t.Fatal(err)
	}
	return folder
}

// examples writes the README's code blocks of a language to files, which name returns.
func examples(t *testing.T, folder, language string, name func(i int) string) int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(folder, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```"+language+"\n(.*?)```").FindAllSubmatch(text, -1)
	if len(blocks) < 5 {
		t.Fatalf("the README has %d examples", len(blocks))
	}
	for i, block := range blocks {
		if err := os.WriteFile(filepath.Join(folder, name(i)), block[1], 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return len(blocks)
}

// documents makes a folder with the files of the examples: the folder docs, and report.pdf.
func documents(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	if err := os.Mkdir(filepath.Join(folder, "docs"), 0o750); err != nil {
		t.Fatal(err)
	}
	text := "# Releases\n\nThe release manager approves a release after the tests pass.\n"
	if err := os.WriteFile(filepath.Join(folder, "docs", "release.md"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "report.pdf"), []byte("%PDF-1.7\nThe report of the year.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return folder
}

// checkExamples checks what the examples of a README print.
func checkExamples(t *testing.T, printed []string) {
	t.Helper()
	for i, want := range []string{"release manager", "release manager", "file://", "stored as"} {
		if !strings.Contains(printed[i], want) {
			t.Errorf("example %d prints %q, which lacks %q", i+1, printed[i], want)
		}
	}
}

func TestPython(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(generated(t), "python")
	s := serve(t)
	python := need(t, "sdk-tools", "sdk", "bin", "python3")
	module := func(i int) string { return filepath.Join("tests", fmt.Sprintf("example_%d.py", i)) }
	n := examples(t, folder, "python", module)
	s.run(t, folder, python, "-m", "mypy", "--cache-dir", t.TempDir())
	s.run(t, folder, python, "-m", "unittest")
	work, printed := documents(t), make([]string, n)
	for i := range n {
		printed[i] = s.run(t, work, "env", "PYTHONPATH="+folder, python, filepath.Join(folder, module(i)))
	}
	checkExamples(t, printed)
	wheel := t.TempDir()
	s.run(t, folder, python, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check", "--no-build-isolation", "--no-deps", "--wheel-dir", wheel, ".")
	files, _ := filepath.Glob(filepath.Join(wheel, "docent_client-*.whl"))
	if len(files) != 1 || !strings.Contains(s.run(t, wheel, python, "-m", "zipfile", "-l", files[0]), "docent_client/rest/models/answer.py") {
		t.Errorf("the package lacks what is generated: %q", files)
	}
}

func TestTypeScript(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(generated(t), "typescript")
	s := serve(t)
	node, err := exec.LookPath("node")
	if err != nil {
		missing(t, "node")
	}
	n := examples(t, folder, "ts", func(i int) string { return filepath.Join("test", fmt.Sprintf("example%d.ts", i)) })
	s.run(t, folder, node, filepath.Join("node_modules", "typescript", "bin", "tsc"), "-p", "test")
	tests, _ := filepath.Glob(filepath.Join(folder, "built-tests", "*.test.js"))
	if len(tests) < 3 {
		t.Fatalf("tests %q", tests)
	}
	s.run(t, folder, node, append([]string{"--test"}, tests...)...)
	work, printed := documents(t), make([]string, n)
	for i := range n {
		printed[i] = s.run(t, work, node, filepath.Join(folder, "built-tests", fmt.Sprintf("example%d.js", i)))
	}
	checkExamples(t, printed)
	packed := s.run(t, folder, "npm", "pack", "--dry-run", "--json", "--loglevel=error")
	for _, file := range []string{"dist/index.js", "dist/index.d.ts", "dist/node.js", "dist/rest/sdk.gen.js", "README.md", "LICENSE"} {
		if !strings.Contains(packed, `"`+file+`"`) {
			t.Errorf("the package lacks %s", file)
		}
	}
}

// TestTheTypeScriptSDKLoadsInABrowser follows the imports of the package's main file: none is one of Node.
func TestTheTypeScriptSDKLoadsInABrowser(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(generated(t), "typescript", "dist")
	imports := regexp.MustCompile(`(?m)^(?:import|export)\s[^;]*?from\s+['"]([^'"]+)['"]`)
	seen := map[string]bool{}
	var follow func(file string)
	follow = func(file string) {
		if seen[file] {
			return
		}
		seen[file] = true
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range imports.FindAllSubmatch(text, -1) {
			name := string(found[1])
			if !strings.HasPrefix(name, ".") {
				t.Errorf("%s imports %s", filepath.Base(file), name)
				continue
			}
			follow(filepath.Join(filepath.Dir(file), name))
		}
	}
	follow(filepath.Join(folder, "index.js"))
	if len(seen) < 10 {
		t.Errorf("only %d files are imported", len(seen))
	}
}

func TestEveryOperationIsGenerated(t *testing.T) {
	t.Parallel()
	folder := generated(t)
	contract, err := os.ReadFile(filepath.Join(repositoryRoot(t), "openapi.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	operations := regexp.MustCompile(`(?m)^      operationId: (\w+)$`).FindAllSubmatch(contract, -1)
	typescript, err := os.ReadFile(filepath.Join(folder, "typescript", "src", "rest", "sdk.gen.ts"))
	if err != nil {
		t.Fatal(err)
	}
	for _, operation := range operations {
		if !strings.Contains(string(typescript), "export const "+string(operation[1])+" =") {
			t.Errorf("TypeScript lacks %s", operation[1])
		}
	}
	modules, err := filepath.Glob(filepath.Join(folder, "python", "docent_client", "rest", "api", "*", "[a-z]*.py"))
	if err != nil || len(modules) != len(operations) || len(operations) < 100 {
		t.Errorf("%d Python modules for %d operations: %v", len(modules), len(operations), err)
	}
}
