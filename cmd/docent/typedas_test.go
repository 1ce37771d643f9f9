package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"

	"docent/client"
	"docent/shared/apierr"
)

func TestErrorsNameWhatWasTyped(t *testing.T) {
	t.Parallel()
	invalid := func(fields ...client.FieldError) *client.Error {
		return &client.Error{Status: 400, Code: "invalid-request", Detail: "The request is not valid: " + fields[0].Pointer + ": " + fields[0].Detail + ".", RequestID: "r", Fields: fields}
	}
	for name, tc := range map[string]struct {
		command string
		err     error
		want    string
	}{
		"an argument":              {"docent search", invalid(client.FieldError{Pointer: "/query", Detail: "must have at most 10000 characters"}), "<query>: must have at most 10000 characters (invalid-request, request r)"},
		"one of several":           {"docent get", invalid(client.FieldError{Pointer: "/urls/1", Detail: "must not be empty"}), "<url> 2: must not be empty (invalid-request, request r)"},
		"a flag, in a longer tale": {"docent events follow", fmt.Errorf("follow the events: %w", invalid(client.FieldError{Pointer: "/query/since", Detail: "must be a time"})), "follow the events: --since: must be a time (invalid-request, request r)"},
		"two faults":               {"docent usage", invalid(client.FieldError{Pointer: "/query/start", Detail: "is late"}, client.FieldError{Pointer: "/x", Detail: "is odd."}), "--start: is late; /x: is odd (invalid-request, request r)"},
		"of another command":       {"docent ask", invalid(client.FieldError{Pointer: "/query", Detail: "is odd"}), "The request is not valid: /query: is odd. (invalid-request, request r)"},
		"the person of --as":       {"docent ask", &client.Error{Status: 403, Code: "user-not-active", Detail: "The header Docent-User must name an active user of this team."}, "--as must name an active user of this team. (user-not-active)"},
		"a key that acts for none": {"docent ask", &client.Error{Status: 403, Code: "acting-not-allowed", Detail: "No."}, "No. (acting-not-allowed)\nLeave --as out, or use a team key that may act for people, which docent key create --act-for makes."},
		"without a server":         {"docent team create", apierr.BadField("/userName", "must not be blank"), "--admin: must not be blank (invalid-request)"},
		"no server":                {"docent ask", &client.NoReplyError{Server: "http://a/v1", Err: errors.New("connection refused")}, "no answer from http://a/v1: connection refused\nCheck that the server runs, and --server or DOCENT_SERVER."},
		"no faulty field":          {"docent key list", apierr.Missing("team"), "There is no such team. (not-found)"},
		"an internal error":        {"docent ask", fmt.Errorf("read: %w", apierr.New(apierr.Internal, apierr.CodeInternal, "Text.")), "read: internal: Text."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := explain(tc.err, time.Now(), tc.command); got != tc.want {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}

// TestTypedWordsExist compares the table with the commands.
func TestTypedWordsExist(t *testing.T) {
	t.Parallel()
	var all commands
	parser, err := kong.New(&all, kong.Name("docent"), kong.Vars{"server": "", "configured": ""})
	if err != nil {
		t.Fatal(err)
	}
	words := map[string][]string{}
	for _, command := range parser.Model.Leaves(true) {
		for _, f := range command.Flags {
			words[command.FullPath()] = append(words[command.FullPath()], "--"+f.Name)
		}
		for _, p := range command.Positional {
			words[command.FullPath()] = append(words[command.FullPath()], "<"+p.Name+">")
		}
	}
	for command, typed := range typedAs {
		for pointer, word := range typed {
			if strings.ContainsAny(word[:1], "-<") && !slices.Contains(words[command], word) {
				t.Errorf("%s has no %s, as %s says", command, word, pointer)
			}
		}
	}
}

// TestAFaultyRequestNamesTheFlag asks a server.
func TestAFaultyRequestNamesTheFlag(t *testing.T) {
	t.Parallel()
	server, key := installation(t)
	long := strings.Repeat("x", 10_001)
	for want, args := range map[string][]string{
		"<question>: must have at most 10000 characters": {"ask", long},
		"This key acts for its own user only.":           {"ask", "--as", "nobody", "why"},
		"<query>: must have at most 10000 characters":    {"search", long},
		"--instruction: must have at most 10000":         {"research", "--instruction", long, "why"},
		"<url>: must have at most 10 items":              append([]string{"get"}, strings.Fields(strings.Repeat("http://a.example ", 11))...),
		"<url> 2: must have 1 to 2048 characters":        {"get", "http://a.example", "http://b.example/" + long},
		"--start: must be":                               {"usage", "--start", "yesterday"},
		"<provider>: must be one of":                     {"source", "add", "nosuch", "--name", "n"},
		"follow the events: --since: must be":            {"events", "follow", "--once", "--since", "x", "--cursor-file", filepath.Join(t.TempDir(), "cursor")},
	} {
		if status, out, errOut := docent(t, append(args, "--server", server, "--key", key)...); status != 1 || out != "" || !strings.HasPrefix(errOut, "docent: "+want) {
			t.Errorf("status %d, errors %q, want %q", status, errOut, want)
		}
	}
}

// TestAFileThatIsRefusedSaysWhatOfItIs puts a file under a URI that no document may have.
func TestAFileThatIsRefusedSaysWhatOfItIs(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir()) // for the cache if XDG is not set
	server, key := installation(t)
	status, out, _ := docent(t, "put", "--server", server, "--key", key, "--collection-name", "wiki", "--base-uri", "nosuchscheme:x/", file(t, "a.md", "# A\n"))
	if status != 1 || !strings.Contains(out, "a.md: its URI: must have the scheme http or https") {
		t.Errorf("status %d: %s", status, out)
	}
}
