package httpapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"

	"docent/shared/app"
	"docent/shared/app/parts/agents"
	"docent/shared/app/parts/clients"
	"docent/shared/app/parts/identity"
	"docent/shared/app/parts/saml"
	"docent/shared/app/parts/web"
	"docent/shared/logtest"
	"docent/shared/team"
)

const baseURL = "https://docent.test/v1"

// api is the whole product on a temporary file, called as a client calls it.
// Every request that its contract allows, and every reply, is checked against
// the OpenAPI document.
type api struct {
	t       testing.TB
	local   *app.Local
	handler http.Handler
	clock   *clock
	log     *logtest.Buffer
	dataDir string
}

// clock is a clock that tests move, or that advances with every look at it.
type clock struct {
	mu    sync.Mutex
	now   time.Time
	step  time.Duration
	looks int
	awake map[int]chan struct{} // closed at that number of looks
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.looks++
	if done, ok := c.awake[c.looks]; ok {
		close(done)
	}
	c.now = c.now.Add(c.step)
	return c.now
}

// Step makes every look at the clock move it by d.
func (c *clock) Step(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.step = d
}

// After returns a channel that is closed after n more looks at the clock.
func (c *clock) After(n int) <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.awake == nil {
		c.awake = map[int]chan struct{}{}
	}
	done := make(chan struct{})
	c.awake[c.looks+n] = done
	return done
}

func (c *clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// fetchSAML reads metadata as saml.Fetcher does, but has its own of a provider that does not exist.
func fetchSAML(ctx context.Context, address string) (team.SAMLProvider, []byte, error) {
	if address != samlAddress {
		return saml.Fetcher()(ctx, address)
	}
	provider, err := saml.Parse([]byte(samlText))
	provider.MetadataURL = address
	return provider, []byte(samlText), err
}

// clientAddress is where a program describes itself, of which only readClient knows.
const clientAddress = "https://program.example/client.json"

// readClient reads descriptions as clients.Reader does, but has its own of a program that does not exist.
func readClient(ctx context.Context, address string) ([]byte, error) {
	if address != clientAddress {
		return clients.Reader()(ctx, address)
	}
	return []byte(`{"client_id":"` + clientAddress + `","client_name":"Program","redirect_uris":["` + redirect + `"],"token_endpoint_auth_method":"none"}`), nil
}

// samlAddress is the address of samlText.
const samlAddress = "https://idp.example/metadata"

func newAPI(t testing.TB) *api {
	t.Helper()
	return newAPIWith(t, identity.Providers())
}

// newAPIWith is newAPI with other protocols of identity providers.
func newAPIWith(t testing.TB, signOn app.SignOn) *api {
	t.Helper()
	return newAPIOf(t, partsWith(signOn))
}

func partsWith(signOn app.SignOn) app.Parts {
	return app.Parts{Fetch: web.Fetcher(), Tools: agents.Tools, ParseSAML: saml.Parse, FetchSAML: fetchSAML, Clients: readClient, SignOn: signOn}
}

func newAPIOf(t testing.TB, parts app.Parts) *api {
	t.Helper()
	a := &api{t: t, clock: &clock{now: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)}, log: &logtest.Buffer{}, dataDir: t.TempDir()}
	var err error
	a.local, err = app.OpenLocal(t.Context(), a.dataDir, app.LocalOptions{
		Log: slog.New(slog.NewJSONHandler(a.log, nil)), Now: a.clock.Now, NoSync: true,
		Parts: parts})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.local.Close(); err != nil {
			t.Error(err)
		}
	})
	a.handler = a.local.Handler(baseURL)
	return a
}

// in returns a for the subtest t.
func (a *api) in(t testing.TB) *api {
	b := *a
	b.t = t
	return &b
}

// tenant is a team with its keys.
type tenant struct {
	team.Team
	admin       team.User
	key         string // team key
	pat         string // personal key of admin
	keyID, scim string
}

func (a *api) newTenant(name string) tenant {
	a.t.Helper()
	t, admin, err := a.local.Teams.CreateTeam(a.t.Context(), name, "admin@"+name+".test")
	if err != nil {
		a.t.Fatal(err)
	}
	x := tenant{Team: t, admin: admin}
	x.keyID, x.key = a.newKey(t.ID, team.NewKey{Kind: team.KindTeam, Name: "team"})
	_, x.pat = a.newKey(t.ID, team.NewKey{Kind: team.KindPersonal, Name: "personal", UserID: admin.ID})
	_, x.scim = a.newKey(t.ID, team.NewKey{Kind: team.KindSCIM, Name: "scim"})
	return x
}

func (a *api) newKey(teamID string, k team.NewKey) (id, secret string) {
	a.t.Helper()
	key, secret, err := a.local.Teams.CreateKey(a.t.Context(), teamID, k)
	if err != nil {
		a.t.Fatal(err)
	}
	return key.ID, secret
}

// call is one request.
type call struct {
	method, path, key string
	body              any // string or []byte as it is, anything else as JSON
	header            map[string]string
}

// response is the reply to a call.
type response struct {
	*http.Response
	body []byte
}

func (a *api) do(c call) response {
	a.t.Helper()
	return a.doContext(a.t.Context(), c)
}

func (a *api) doContext(ctx context.Context, c call) response {
	a.t.Helper()
	var body []byte
	switch b := c.body.(type) {
	case nil:
	case string:
		body = []byte(b)
	case []byte:
		body = b
	default:
		var err error
		if body, err = json.Marshal(b); err != nil {
			a.t.Fatal(err)
		}
	}
	r := httptest.NewRequestWithContext(ctx, c.method, "/v1"+c.path, bytes.NewReader(body))
	if c.body == nil {
		r.Body, r.ContentLength = http.NoBody, 0
	} else {
		r.Header.Set("Content-Type", "application/json")
	}
	if c.key != "" {
		r.Header.Set("Authorization", "Bearer "+c.key)
	}
	for name, value := range c.header {
		r.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	sent := r.Clone(ctx)
	a.handler.ServeHTTP(w, r)
	reply := response{w.Result(), w.Body.Bytes()}
	a.validate(sent, body, reply)
	return reply
}

// validate checks request and reply against the OpenAPI document. Only refused requests may break
// it.
func (a *api) validate(r *http.Request, body []byte, reply response) {
	a.t.Helper()
	if reply.Header.Get("X-Request-Id") == "" {
		a.t.Errorf("%s %s: no X-Request-Id", r.Method, r.URL)
	}
	if !strings.HasPrefix(reply.Header.Get("Cache-Control"), "no-store") || reply.Header.Get("X-Content-Type-Options") != "nosniff" {
		a.t.Errorf("%s %s: %d with the headers %v", r.Method, r.URL, reply.StatusCode, reply.Header)
	}
	oauth := strings.HasPrefix(r.URL.Path, "/v1/oauth/") && strings.HasPrefix(string(reply.body), `{"error":`) // RFC 6749 section 5.2
	if reply.StatusCode >= 400 && !oauth {
		a.isProblem(r, reply)
	}
	route, params, err := router().FindRoute(r)
	if err != nil || r.Method == http.MethodHead || r.Method == http.MethodOptions || r.URL.Path != path.Clean(r.URL.Path) {
		return // unknown paths and methods are not in the document
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	if r.Header.Get("Content-Type") == "" {
		r.Header.Set("Content-Type", "application/json") // the default
	}
	input := &openapi3filter.RequestValidationInput{Request: r, PathParams: params, Route: route,
		Options: &openapi3filter.Options{AuthenticationFunc: openapi3filter.NoopAuthenticationFunc, IncludeResponseStatus: true}}
	if reply.StatusCode < 400 && r.Header.Get("Content-Encoding") == "" {
		if err := openapi3filter.ValidateRequest(r.Context(), input); err != nil {
			a.t.Errorf("%s %s was accepted, which the OpenAPI document does not allow: %v", r.Method, r.URL, err)
		}
	}
	if media := reply.Header.Get("Content-Type"); media == "application/x-ndjson" || media == "text/event-stream" {
		return // the validator reads neither JSON Lines nor events
	}
	output := &openapi3filter.ResponseValidationInput{RequestValidationInput: input, Status: reply.StatusCode, Header: reply.Header, Options: input.Options}
	output.SetBodyBytes(reply.body)
	if err := openapi3filter.ValidateResponse(r.Context(), output); err != nil {
		a.t.Errorf("%s %s: reply %d is not in the OpenAPI document: %v", r.Method, r.URL, reply.StatusCode, err)
	}
}

// isProblem checks the shape that every error has.
func (a *api) isProblem(r *http.Request, reply response) {
	a.t.Helper()
	if r.Method == http.MethodHead {
		return
	}
	var p struct {
		Status                               int
		Type, Title, Detail, Code, RequestID string

		ID *json.RawMessage // of a call of the tools that was read; its error is that of the protocol
	}
	if err := json.Unmarshal(reply.body, &p); err != nil {
		a.t.Errorf("%s %s: error %d is not JSON: %q", r.Method, r.URL, reply.StatusCode, reply.body)
		return
	}
	if p.ID != nil && strings.HasSuffix(r.URL.Path, "/mcp") {
		return
	}
	if p.Status != reply.StatusCode || p.Code == "" || p.Title == "" || p.Type == "" || p.RequestID != reply.Header.Get("X-Request-Id") {
		a.t.Errorf("%s %s: error %d has the shape %s", r.Method, r.URL, reply.StatusCode, reply.body)
	}
	if len(reply.body) > 4096 {
		a.t.Errorf("%s %s: error of %d bytes", r.Method, r.URL, len(reply.body))
	}
}

var router = sync.OnceValue(func() routers.Router {
	text, err := app.OpenAPI()
	if err != nil {
		panic(err)
	}
	doc, err := openapi3.NewLoader().LoadFromData(text)
	if err != nil {
		panic(err)
	}
	if err := doc.Validate(context.Background()); err != nil {
		panic(err)
	}
	r, err := gorillamux.NewRouter(doc)
	if err != nil {
		panic(err)
	}
	return r
})

// want fails the test unless the reply has the status.
func (r response) want(t testing.TB, status int) response {
	t.Helper()
	if r.StatusCode != status {
		t.Fatalf("status %d, want %d: %s", r.StatusCode, status, r.body)
	}
	return r
}

// wantCode fails the test unless the reply is the problem.
func (r response) wantCode(t testing.TB, status int, code string) response {
	t.Helper()
	r.want(t, status)
	if got := r.text(t, "code"); got != code {
		t.Fatalf("code %q, want %q: %s", got, code, r.body)
	}
	return r
}

// json decodes the reply.
func (r response) json(t testing.TB, into any) {
	t.Helper()
	if err := json.Unmarshal(r.body, into); err != nil {
		t.Fatalf("reply %q: %v", r.body, err)
	}
}

// text returns a member of the reply by a path such as "result.answer".
func (r response) text(t testing.TB, path string) string {
	t.Helper()
	text, ok := r.any(t, path).(string)
	if !ok {
		t.Fatalf("%s of %s is not a string", path, r.body)
	}
	return text
}

// any returns a member of any type, as text does.
func (r response) any(t testing.TB, path string) any {
	t.Helper()
	var value any
	r.json(t, &value)
	for name := range strings.SplitSeq(path, ".") {
		object, ok := value.(map[string]any)
		if !ok {
			t.Fatalf("reply %s has no %s", r.body, path)
		}
		value = object[name]
	}
	return value
}

// drain does all waiting work.
func (a *api) drain() {
	a.t.Helper()
	if err := a.local.Drain(a.t.Context()); err != nil {
		a.t.Fatal(err)
	}
}

func (a *api) newCollection(key, name string) string {
	a.t.Helper()
	return a.do(call{"POST", "/collections", key, map[string]any{"name": name, "description": "About " + name}, nil}).
		want(a.t, 201).text(a.t, "id")
}

func (a *api) putDocument(key, collection, uri, title, body string) string {
	a.t.Helper()
	return a.do(call{"PUT", "/documents", key,
		map[string]any{"collectionId": collection, "uri": uri, "title": title, "body": body}, nil}).want(a.t, 200).text(a.t, "id")
}
