package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// checkout creates a project with only the script and the files it checks, and programs on the PATH that do
// nothing.
func checkout(t *testing.T, built bool) (script, path string) {
	t.Helper()
	root := t.TempDir()
	text, err := os.ReadFile(filepath.Join("..", "..", "localstack", "deploy"))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{"localstack/deploy": string(text), "bin/node": "#!/bin/sh\n"}
	if built {
		for _, name := range []string{".cache/host/docent", ".cache/host/dist/admin/bootstrap", ".cache/cdk/node_modules/.bin/cdk"} {
			files[name] = "#!/bin/sh\n"
		}
		// It is the first program that the script starts after its checks.
		files["bin/go"] = "#!/bin/sh\n[ \"$1\" = env ] && echo riscv64\n"
	}
	for name, text := range files {
		name = filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(root, "localstack", "deploy"), filepath.Join(root, "bin") + string(os.PathListSeparator) + os.Getenv("PATH")
}

func TestDeployRefusesInOneLine(t *testing.T) {
	t.Parallel()
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/_localstack/health" {
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(up.Close)
	down := httptest.NewServer(nil)
	down.Close()
	for name, c := range map[string]struct {
		built    bool
		endpoint string
		want     string
	}{
		"nothing built":              {false, up.URL, "nothing is built: run make localstack-deploy"},
		"no LocalStack":              {true, down.URL, "no LocalStack answers at " + down.URL + ": run docker compose"},
		"an address with a name":     {true, "http://localstack.example:4566", "it must be http:// and an IP address"},
		"https":                      {true, "https://127.0.0.1:4566", "it must be http:// and an IP address"},
		"a processor without Lambda": {true, up.URL, "Lambda has no functions for riscv64"},
		"localhost by name":          {true, strings.Replace(up.URL, "127.0.0.1", "localhost", 1), "Lambda has no functions for riscv64"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			script, path := checkout(t, c.built)
			deploy := exec.CommandContext(t.Context(), script)
			deploy.Env = []string{"PATH=" + path, "AWS_ENDPOINT_URL=" + c.endpoint}
			out, err := deploy.CombinedOutput()
			if err == nil {
				t.Fatalf("it deploys: %s", out)
			}
			if said := string(out); !strings.HasPrefix(said, "localstack/deploy: ") || !strings.Contains(said, c.want) || strings.Count(said, "\n") != 1 {
				t.Errorf("it says %q, want %q in one line", said, c.want)
			}
		})
	}
}

func TestPrintedCommandsAreTheIndentedLines(t *testing.T) {
	t.Parallel()
	const printed = "  progress of the CDK\n\nDocent is at http://127.0.0.1:4566/_aws/execute-api/a/v1\nA first request:\n\n" +
		"  curl -sS http://x\n\nThen:\n\n  docent put x\n"
	got, err := commands(printed)
	if want := []string{"curl -sS http://x", "docent put x"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
	for name, printed := range map[string]string{
		"no address": "  curl -sS http://x\n",
		"no request": "Docent is at http://127.0.0.1:4566/v1\n\n  docent put x\n",
	} {
		if got, err := commands(printed); err == nil {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// TestOtherPropertiesAreFound checks that the check can fail.
func TestOtherPropertiesAreFound(t *testing.T) {
	t.Parallel()
	const program = `
import sys, types
for name in ("boto3", "botocore", "botocore.config", "botocore.exceptions"):
    sys.modules[name] = types.ModuleType(name)
sys.modules["botocore.config"].Config = sys.modules["botocore.exceptions"].ClientError = object
import check
for want, got, paths in [
    ({"A": 1, "B": {"C": "x"}}, {"a": 1.0, "b": {"c": "x", "more": 2}}, []),
    ({"A": 1}, {}, ["A"]),
    ({"B": {"C": True}}, {"B": {"C": False}}, ["B.C"]),
    ({"L": [{"K": 1}, {"K": 2}]}, {"L": [{"K": 2}, {"K": 1}]}, []),
    ({"L": [{"K": 1}]}, {"L": [{"K": 1}, {"K": 2}]}, ["L"]),
    ({"L": [{"K": 1}]}, {"L": [{"K": 3}]}, ["L"]),
]:
    found = list(check.differences(want, got))
    assert found == paths, (want, got, found)
`
	python(t, program)
}

func TestOlderPythonReadsTheSameStatements(t *testing.T) {
	t.Parallel()
	const program = `
import sys, types
module = sys.modules["typing_extensions"] = types.ModuleType("typing_extensions")
import python311
source = '''"""Text."""
from __future__ import annotations
import abc
type Alias = int | str
@abc.abstractmethod
def of[T](value: T) -> T:
    return value
class Box[T: int, U](abc.ABC):
    def get[V](
        self, v: V) -> V:
        return v
class Plain(dict):
    pass
'''
names = {}
exec(compile(python311.without_type_parameters(source), "module", "exec"), names)
assert names["Box"][int, str] and names["of"](3) == 3 and names["Alias"] == int | str, names
plain = "class Plain(dict[str, int]):\n    pass\n"
assert python311.without_type_parameters(plain) == plain
`
	python(t, program)
}

// python runs a program that can import the files in this folder.
func python(t *testing.T, program string) {
	t.Helper()
	interpreter, err := exec.LookPath("python3")
	switch {
	case err != nil && os.Getenv("CI") != "true":
		t.Skip(err)
	case err != nil:
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), interpreter, "-B", "-c", program).CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}
