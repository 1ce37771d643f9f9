package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"docent/testkit/apitest"
)

// docent runs the program and returns its exit status and both outputs.
func docent(t testing.TB, args ...string) (status int, out, errOut string) {
	t.Helper()
	var o, e bytes.Buffer
	status = run(t.Context(), args, &o, &e)
	return status, o.String(), e.String()
}

func TestHelpAndMistakes(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name   string
		args   string
		status int
		out    string // somewhere in the output
		err    string // somewhere in the errors
	}{
		{"nothing", "", 0, "Using a server:", ""},
		{"help", "--help", 0, "key revoke", ""},
		{"exit statuses", "--help", 0, "The exit status is 0", ""},
		{"the word help", "help", 0, "Using a server:", ""},
		{"the word help, of a command", "help source add", 0, "Usage: docent source add <provider>", ""},
		{"the word help, twice", "help help", 0, "Using a server:", ""},
		{"the word help, of nothing known", "help nosuch", 2, "", "unexpected argument nosuch"},
		{"the flag of other programs for the version", "--version", 0, "docent ", ""},
		{"not a number", "search --key k --limit many q", 2, "", "--limit: must be a whole number, not \"many\"\n"},
		{"a time without a unit", "ask --key k --timeout 5 why", 2, "", "--timeout: must be a time such as 30s or 5m, not \"5\"\n"},
		{"a missing argument", "backup", 2, "", "docent: <to> is missing\n"},
		{"a missing flag", "key list", 2, "", "docent: missing: --team=ID\n"},
		{"help of a command with examples", "put --help", 0, "docent put --collection-name handbook docs", ""},
		{"what put requires", "put --help", 0, "docent put (--collection=ID | --collection-name=NAME) <path>", ""},
		{"a mistake in a command", "put --key k --nonsense docs", 2, "", "Run \"docent put --help\" for help."},
		{"a mistake in a command of a group", "key create --team t", 2, "", "Run \"docent key create --help\" for help."},
		{"a mistake before any command", "--nonsense", 2, "", "Run \"docent --help\" for help."},
		{"put with an empty name", "put --key k --collection-name= docs", 2, "", "give --collection or --collection-name"},
		{"put without a collection", "put --key k docs", 2, "", "give --collection or --collection-name"},
		{"serve on a port that no address has", "serve --addr 127.0.0.1:99999", 2, "", "--addr=127.0.0.1:99999 has no port from 0 to 65535"},
		{"search for nothing", "search --key k --limit 0 q", 2, "", "--limit must be 1 to 50"},
		{"help of serve", "serve --help", 0, "docent serve --data /var/lib/docent", ""},
		{"version", "version", 0, "docent ", ""},
		{"a question without quotes", "ask --key k who may read", 2, "", "docent: unexpected argument may; put a text of several words in quotes\n"},
		{"unknown command", "frobnicate", 2, "", "unexpected argument frobnicate\n"},
		{"put with two collections", "put --key k --collection a --collection-name b docs", 2, "", "can't be used together"},
		{"put without a path", "put --key k --collection a", 2, "", "<path>"},
		{"too parallel", "put --key k --collection a --parallel 65 docs", 2, "", "--parallel must be 1 to 64"},
		{"long name", "put --key k --collection-name " + strings.Repeat("x", 33) + " docs", 2, "", "1 to 32 characters"},
		{"id that is none", "ask --key k --id 7 why", 2, "", "--id must be a UUID"},
		{"no key", "ask --key= why", 2, "", "DOCENT_API_KEY\nRun \"docent ask --help\" for help."},
		{"not a key", "ask --key=ключ why", 2, "", "a character that no key has"},
		{"bad server", "ask --key k --server docent why", 2, "", "not an http or https URL"},
		{"a server at no port", "ask --key k --server http://127.0.0.1:99999/v1 why", 2, "", "has no port from 1 to 65535"},
		{"metadata without a value", "put --key k --collection a --metadata product docs", 2, "", "docent: --metadata: must be NAME=VALUE, not \"product\"\n"},
		{"questions in a folder", "eval --key k testdata", 2, "", "testdata is a folder, not a file\n"},
		{"questions nowhere", "eval --key k testdata/none", 2, "", "testdata/none: no such file or directory"},
		{"questions and a report in one input", "eval --key k --compare - -", 2, "", "<file> and --compare cannot both be standard input"},
		{"metadata of an identity provider over http", "team saml set --key k http://idp.test/", 2, "", "only https addresses are read"},
		{"unknown kind", "key create --team t --kind root --name n", 2, "", "--kind must be one of"},
		{"personal key without a user", "key create --team t --kind personal --name n", 2, "", "--user is for --kind personal"},
		{"team key of a user", "key create --team t --kind team --user ada --name n", 2, "", "--user is for --kind personal"},
		{"bad expiry", "key create --team t --kind team --name n --expires soon", 2, "", "days or hours"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			status, out, errOut := docent(t, strings.Fields(tc.args)...)
			if status != tc.status || !strings.Contains(out, tc.out) || !strings.Contains(errOut, tc.err) {
				t.Fatalf("status %d, want %d\noutput %s\nerrors %s", status, tc.status, out, errOut)
			}
		})
	}
}

// TestREADMENamesEveryCommand compares the row of cmd/docent in "Where things live" with the tree of commands.
func TestREADMENamesEveryCommand(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, row, _ := strings.Cut(string(text), "| `cmd/docent` | ")
	row, _, _ = strings.Cut(row, "\n")
	named := regexp.MustCompile(`\w+`).FindAllString(row, -1)
	for command := range reflect.TypeFor[commands]().Fields() {
		if name := strings.ToLower(command.Name); !slices.Contains(named, name) {
			t.Errorf("the row of cmd/docent in README.md does not name %q: %s", name, row)
		}
	}
}

func TestAValueThatIsGivenIsNotEmpty(t *testing.T) {
	t.Parallel()
	key := []string{"key", "create", "--team", "t", "--kind", "team", "--name", "n"}
	for want, args := range map[string][]string{
		"--scope is empty; leave it out for all scopes":                              append(key[:8:8], "--scope", ""),
		"--data-source is empty; leave it out for all data sources":                  append(key[:8:8], "--data-source="),
		"--access-user is empty\n":                                                   {"put", "--key", "k", "--collection", "c", "--access-user", "", "docs"},
		"<path> is empty\n":                                                          {"put", "--key", "k", "--collection", "c", ""},
		"docent: <path> is empty":                                                    {"put", "--key", "k", "--collection", "c", "docs", ""},
		"docent: <file> is empty\n":                                                  {"eval", "--key", "k", ""},
		"docent: <file> is empty\nRun \"docent source import":                        {"source", "import", "--key", "k", "i", ""},
		"--compare is empty; leave it out for no comparison":                         {"eval", "--key", "k", "--compare", "", "-"},
		"<url> is empty\n":                                                           {"get", "--key", "k", ""},
		"<id> is empty\n":                                                            {"source", "remove", "--key", "k", ""},
		"docent: <id> is empty":                                                      {"source", "sync", ""},
		"--as is empty; leave it out for the rights of the key":                      {"ask", "--key", "k", "--as", "", "why"},
		"--as is empty; leave it out for the rights of the key\nRun \"docent search": {"search", "--key", "k", "--as=", "why"},
		"--team is empty; leave it out for every team":                               {"index", "rebuild", "--team", ""},
		"--base-uri is empty; leave it out for file: URIs":                           {"put", "--key", "k", "--collection", "c", "--base-uri", "", "docs"},
		"--data is empty; leave it out for ./data":                                   {"backup", "--data", "", "-"},
		"--stack is empty; leave it out for docent":                                  {"team", "create", "--aws", "--stack", "", "--name", "Acme", "--admin", "ada"},
		"--stack is empty; leave it out for docent\nRun \"docent import":             {"import", "--stack=", "--finish"},
		"--stack is empty; leave it out for docent\nRun \"docent queue":              {"queue", "redrive", "--stack", "", "questions"},
		"--stack is empty; leave it out for the stack":                               {"serve", "--engine", "aws", "--stack", ""},
		"--to is empty; leave it out for the user's cache":                           {"model", "fetch", "--to", ""},
		"--in is empty; leave it out for the user's cache":                           {"model", "show", "--in", ""},
		"--since is empty; leave it out for the oldest event":                        {"events", "follow", "--key", "k", "--cursor-file", "c", "--since", ""},
		"--start is empty; leave it out for the usual length":                        {"usage", "--key", "k", "--start", ""},
		"--end is empty; leave it out for now":                                       {"usage", "--key", "k", "--end", ""},
		"--feature is empty; leave it out for every feature":                         {"usage", "--key", "k", "--feature", ""},
		"--id is empty; leave it out for a new one":                                  {"ask", "--key", "k", "--id", "", "why"},
	} {
		if status, out, errOut := docent(t, args...); status != 2 || out != "" || !strings.Contains(errOut, want) {
			t.Errorf("%q: status %d, output %q, errors %q", args, status, out, errOut)
		}
	}
}

func TestHelpDoesNotShowTheKey(t *testing.T) {
	t.Setenv("DOCENT_API_KEY", "docent_team_hidden")
	for _, command := range []string{"ask", "put"} {
		if _, out, errOut := docent(t, command, "--help"); strings.Contains(out+errOut, "hidden") {
			t.Fatalf("the help of %s shows the key", command)
		}
	}
}

func TestPutAndItsExitStatus(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir()) // for the cache if XDG is not set
	api := apitest.New(t)
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("a.md", "# A\n")
	put := func(more ...string) (int, string, string) {
		return docent(t, append([]string{"put", "--server", api.URL, "--key", apitest.Key, "--collection-name", "wiki", dir}, more...)...)
	}
	if status, out, errOut := put(); status != 0 || !strings.HasPrefix(out, "1 put, 0 unchanged, 0 skipped, 0 failed in ") || errOut != "" {
		t.Fatalf("status %d, output %q, errors %q", status, out, errOut)
	}
	write("b.md", "caf\xe9")
	status, out, _ := put("--json")
	var sum struct{ Put, Unchanged, Failed int }
	if err := json.Unmarshal([]byte(out), &sum); err != nil || status != 1 || sum.Unchanged != 1 || sum.Failed != 1 {
		t.Fatalf("status %d, output %s, %v", status, out, err)
	}
	if status, out, errOut := put("--key", "wrong"); status != 1 || out != "" || !strings.Contains(errOut, "Check --key") {
		t.Fatalf("status %d, output %q, errors %q", status, out, errOut)
	}
}

// TestPutTakesNamesAsTheSystemHasThem names a file as a shell does for *.md, in a folder of a system before UTF-8.
func TestPutTakesNamesAsTheSystemHasThem(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir()) // for the cache if XDG is not set
	api := apitest.New(t)
	file := filepath.Join(t.TempDir(), "caf\xe9.md")
	if err := os.WriteFile(file, []byte("# Coffee\n"), 0o600); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("CI must run where a file may have any name: ", err)
		}
		t.Skip("this system has no such names: ", err)
	}
	status, out, errOut := docent(t, "put", "--server", api.URL, "--key", apitest.Key, "--collection-name", "wiki", file)
	if status != 0 || !strings.HasPrefix(out, "1 put, 0 unchanged, 0 skipped, 0 failed in ") || errOut != "" {
		t.Errorf("status %d, output %q, errors %q", status, out, errOut)
	}
}
