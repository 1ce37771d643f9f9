package sdk_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"docent/client"
)

// command returns how to run a program of testkit/clients, named without its ending, in a language: python or
// javascript.
func command(t *testing.T, language, program string) []string {
	t.Helper()
	source := filepath.Join(repositoryRoot(t), "testkit", "clients", program)
	if language == "python" {
		return []string{need(t, "clients", "clients", "bin", "python3"), source + ".py"}
	}
	modules := need(t, "clients", "clients-node", "node_modules", ".package-lock.json")
	node, err := exec.LookPath("node")
	if err != nil {
		missing(t, "node")
	}
	text, err := os.ReadFile(source + ".mjs")
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir() // where Node finds the modules
	if err := os.Symlink(filepath.Dir(modules), filepath.Join(folder, "node_modules")); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(folder, program+".mjs")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return []string{node, file}
}

// fill puts a document, and waits until questions find it.
func (s server) fill(t *testing.T) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), 3*time.Minute)
	defer stop()
	docent, err := client.New(s.base, s.key)
	if err != nil {
		t.Fatal(err)
	}
	c, err := docent.CreateCollection(ctx, "handbook", "How we work.")
	if err != nil {
		t.Fatal(err)
	}
	_, err = docent.PutDocument(ctx, client.Document{CollectionID: c.ID, URI: "https://wiki.example/rollback", Title: "Rolling back",
		Body: "## Rolling back\n\nTo roll back a release, run `deployctl undo` within 24 hours."})
	if err != nil {
		t.Fatal(err)
	}
	for {
		id := uuid.NewString()
		if err := docent.Ask(ctx, id, client.Question{Text: "How do I roll back a release?"}); err != nil {
			t.Fatal(err)
		}
		a, err := docent.Await(ctx, id)
		if err != nil {
			t.Fatal(err)
		}
		if a.Result != nil && len(a.Result.References) > 0 {
			return
		}
	}
}

// TestOpenAIsLibraries asks, with and without a stream, by the libraries that chat programs use.
func TestOpenAIsLibraries(t *testing.T) {
	t.Parallel()
	for _, language := range []string{"python", "javascript"} {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			chat := command(t, language, "chat")
			s := serve(t)
			s.fill(t)
			type citation struct {
				Start int `json:"start_index"`
				End   int `json:"end_index"`
				URL   string
				Title string
			}
			var got struct {
				Models, Finish               []string
				Model, Content, Streamed     string
				Citations, StreamedCitations []citation
				Repeated, Tokens             bool
				Refused                      [][]any
			}
			s.read(t, &got, chat...)
			if !slices.Equal(got.Models, []string{"docent"}) || got.Model != "docent" {
				t.Errorf("models %q, %q", got.Models, got.Model)
			}
			if !strings.Contains(got.Content, "deployctl undo") || got.Streamed != got.Content {
				t.Errorf("content %q, streamed %q", got.Content, got.Streamed)
			}
			if len(got.Citations) != 1 || !reflect.DeepEqual(got.StreamedCitations, got.Citations) {
				t.Fatalf("citations %+v, streamed %+v", got.Citations, got.StreamedCitations)
			}
			c := got.Citations[0]
			if c.URL != "https://wiki.example/rollback" || c.Title != "Rolling back" || !strings.Contains(string([]rune(got.Content)[c.Start:c.End]), c.URL) {
				t.Errorf("citation %+v of %q", c, got.Content)
			}
			if !got.Repeated || !got.Tokens || !slices.Equal(got.Finish, []string{"stop", "stop"}) {
				t.Errorf("repeated %t, tokens %t, finish %q", got.Repeated, got.Tokens, got.Finish)
			}
			want := "[[AuthenticationError 401 unauthorized] [NotFoundError 404 not-found] [BadRequestError 400 invalid-request]]"
			if refused := fmt.Sprint(got.Refused); refused != want {
				t.Errorf("refused %s, want %s", refused, want)
			}
		})
	}
}

// TestOpenAIsLibrariesAskForResponses: as their newer documentation has it.
func TestOpenAIsLibrariesAskForResponses(t *testing.T) {
	t.Parallel()
	for _, language := range []string{"python", "javascript"} {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			responses := command(t, language, "responses")
			s := serve(t)
			s.fill(t)
			type citation struct {
				Type  string
				Start int `json:"start_index"`
				End   int `json:"end_index"`
				URL   string
				Title string
			}
			var got struct {
				Content, Streamed, Final, Cut string
				Citations, StreamedCitations  []citation
				Status, Events                []string
				Metadata                      map[string]string
				Followed                      []bool
				Plain, Tokens                 bool
				Refused                       [][]any
			}
			s.read(t, &got, responses...)
			if !strings.Contains(got.Content, "deployctl undo") || got.Streamed != got.Content || got.Final != got.Content {
				t.Errorf("content %q, streamed %q, in the end %q", got.Content, got.Streamed, got.Final)
			}
			if len(got.Citations) != 1 || !reflect.DeepEqual(got.StreamedCitations, got.Citations) {
				t.Fatalf("citations %+v, streamed %+v", got.Citations, got.StreamedCitations)
			}
			c := got.Citations[0]
			if entry := string([]rune(got.Content)[c.Start:c.End]); c.Type != "url_citation" || c.URL != "https://wiki.example/rollback" || c.Title != "Rolling back" || !strings.Contains(entry, c.URL) || !strings.HasSuffix(got.Cut, entry) {
				t.Errorf("citation %+v of %q, cut %q", c, got.Content, got.Cut)
			}
			if !slices.Equal(got.Status, []string{"completed", "completed", "incomplete", "max_output_tokens"}) || !slices.Equal(got.Followed, []bool{true, true, true}) || !got.Plain || !got.Tokens || got.Metadata["chat"] != "1" {
				t.Errorf("%+v", got)
			}
			if want := []string{"response.created", "response.in_progress", "response.output_item.added", "response.content_part.added", "response.output_text.delta",
				"response.output_text.annotation.added", "response.output_text.done", "response.content_part.done", "response.output_item.done", "response.completed"}; !slices.Equal(got.Events, want) {
				t.Errorf("events %q", got.Events)
			}
			want := "[[NotFoundError 404 not-found <nil>] [BadRequestError 400 invalid-request previous_response_id] [BadRequestError 400 invalid-request text.format] [NotFoundError 404 not-found <nil>]]"
			if refused := fmt.Sprint(got.Refused); refused != want {
				t.Errorf("refused %s, want %s", refused, want)
			}
		})
	}
}

// TestOpenAIsAgentsAsk runs agents whose model is Docent, by each of the two operations, and whose tools are those of its MCP.
func TestOpenAIsAgentsAsk(t *testing.T) {
	t.Parallel()
	program := command(t, "python", "assistant")
	s := serve(t)
	s.fill(t)
	type asked struct {
		Content, Streamed, Deltas, Followed string
		Tokens                              bool
	}
	var got struct {
		Responses, Completions asked
		Tools                  []string
		Used                   string
	}
	s.read(t, &got, program...)
	for name, a := range map[string]asked{"responses": got.Responses, "completions": got.Completions} {
		if !strings.Contains(a.Content, "deployctl undo") || a.Streamed != a.Content || a.Deltas != a.Content || !strings.Contains(a.Followed, "24 hours") || !a.Tokens {
			t.Errorf("%s: %+v", name, a)
		}
	}
	if !slices.Contains(got.Tools, "context_research") || !strings.Contains(got.Used, "deployctl undo") {
		t.Errorf("tools %q, used %q", got.Tools, got.Used)
	}
}

// TestTheAISDKAsksForResponses: with the model that its openai() makes.
func TestTheAISDKAsksForResponses(t *testing.T) {
	t.Parallel()
	program := command(t, "javascript", "aisdk")
	s := serve(t)
	s.fill(t)
	var got struct {
		Content, Streamed, Followed, Refused string
		Sources, StreamedSources             [][]string
		Finish                               []string
		Tokens                               bool
	}
	s.read(t, &got, program...)
	want := [][]string{{"url", "https://wiki.example/rollback", "Rolling back"}}
	if !strings.Contains(got.Content, "deployctl undo") || got.Streamed != got.Content || !reflect.DeepEqual(got.Sources, want) || !reflect.DeepEqual(got.StreamedSources, want) {
		t.Errorf("content %q with %q, streamed %q with %q", got.Content, got.Sources, got.Streamed, got.StreamedSources)
	}
	if !slices.Equal(got.Finish, []string{"stop", "stop"}) || got.Followed != "stop" || !got.Tokens || got.Refused != "There is no such model. The only one is docent." {
		t.Errorf("%+v", got)
	}
}

// TestAgentsConnectByOAuth lets the OAuth clients of the official SDKs of the Model Context Protocol find their way
// from a refusal of the tools to tokens, use them, and refresh them.
func TestAgentsConnectByOAuth(t *testing.T) {
	t.Parallel()
	for _, language := range []string{"python", "javascript"} {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			agent := command(t, language, "agent")
			s := serve(t)
			s.fill(t)
			var got struct {
				Tools, Access, Refresh []string
				Text, Refreshed, Name  string
				Asked                  int
			}
			s.read(t, &got, append(agent, s.base+"/mcp", s.person(t))...)
			if !slices.Contains(got.Tools, "ask") || !strings.Contains(got.Text, "deployctl undo") {
				t.Errorf("tools %q, text %q", got.Tools, got.Text)
			}
			if got.Asked != 1 || !strings.Contains(got.Name, "agent") {
				t.Errorf("%q asked %d times", got.Name, got.Asked)
			}
			if !strings.Contains(got.Refreshed, "deployctl undo") || len(got.Access) != 2 || got.Access[0] == got.Access[1] || got.Refresh[0] == got.Refresh[1] {
				t.Errorf("refreshed %q with %d tokens", got.Refreshed, len(got.Access))
			}
		})
	}
}

// read runs a program, which prints JSON.
func (s server) read(t *testing.T, into any, command ...string) {
	t.Helper()
	out := s.run(t, t.TempDir(), command[0], command[1:]...)
	if err := json.Unmarshal([]byte(out), into); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// person returns the address of a browser in which the team's admin is signed in and gives access to whoever asks.
func (s server) person(t *testing.T) string {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	post := func(path string, body any, into any) error {
		text, err := json.Marshal(body)
		if err != nil {
			return err
		}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.base+path, strings.NewReader(string(text)))
		if err != nil {
			return err
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Sec-Fetch-Site", "same-origin")
		res, err := browser.Do(req)
		if err != nil {
			return err
		}
		defer res.Body.Close()
		reply, err := io.ReadAll(res.Body)
		if err == nil && res.StatusCode >= 300 {
			err = fmt.Errorf("POST %s: %s %s", path, res.Status, reply)
		}
		if err == nil {
			err = json.Unmarshal(reply, into)
		}
		return err
	}
	var session struct{ ID string }
	if err := post("/sessions", map[string]string{"credential": s.team.AdminKey}, &session); err != nil {
		t.Fatal(err)
	}
	desk := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		to, err := decide(browser, post, r.URL.Query().Get("url"))
		if err != nil {
			t.Error(err)
			w.WriteHeader(http.StatusInternalServerError)
		}
		_, _ = io.WriteString(w, to)
	}))
	t.Cleanup(desk.Close)
	return desk.URL
}

// decide opens the address of an authorization request, gives access on the page that it leads to, and returns the
// address that the browser is sent to.
func decide(browser *http.Client, post func(path string, body, into any) error, address string) (string, error) {
	res, err := browser.Get(address)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	_, page, _ := strings.Cut(res.Header.Get("Location"), "/dashboard/#/connect/")
	query, err := url.PathUnescape(page)
	if err != nil {
		return "", err
	}
	values, err := url.ParseQuery(query)
	if err != nil {
		return "", err
	}
	request := map[string]any{}
	for name := range values {
		request[name] = values.Get(name)
	}
	var asked struct{ Name string }
	if err := post("/oauth/consent", request, &asked); err != nil {
		return "", err
	}
	request["allow"] = true
	var decided struct{ RedirectTo string }
	err = post("/oauth/decision", request, &decided)
	return decided.RedirectTo, err
}
