// Package httpapi is the whole HTTP surface of Docent v1: the operations of each
// area with their bounds, authentication, errors, paging and headers. Lambda functions and
// docent serve use the same handler.
package httpapi

import (
	"context"
	"log/slog"
	"net/http"
	"reflect"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"docent/shared/answer"
	"docent/shared/audit"
	"docent/shared/collection"
	"docent/shared/document"
	"docent/shared/filter"
	"docent/shared/memory"
	"docent/shared/rate"
	"docent/shared/scim"
	"docent/shared/signon"
	"docent/shared/source"
	"docent/shared/source/question"
	"docent/shared/team"
	"docent/shared/usage"
	"docent/shared/webhook"
)

// Services has the services that the operations call, and the settings of the API.
type Services struct {
	Teams       *team.Service
	Collections *collection.Service
	Documents   *document.Service
	Originals   Originals
	Uploads     Uploads
	Answers     *answer.Service
	Answering   *answer.Worker // answers questions whose answers are streamed; nil: the queue does
	Sources     *source.Service
	Questions   *question.Service
	Events      *audit.Log     // nil: nothing is recorded
	Usage       *usage.Counter // nil: nothing is counted
	Rates       *rate.Limiter  // the one that Teams asks; nil: nothing is limited
	Webhooks    *webhook.Service
	SCIM        *scim.Service
	SignOn      *signon.Service
	Room        *memory.Room // of the requests, from NewRoom; nil: one of its own
	BaseURL     string       // absolute, ends in /v1; links in replies start with it
	Now         func() time.Time
	Log         *slog.Logger
	// Tools makes the handler of the agents' protocol at /mcp; nil: that path does not
	// exist. It is a value, because few programs serve it and it is a tenth of their
	// binaries.
	Tools func(Services) http.Handler
	// ParseSAML reads the metadata of a SAML identity provider, at most
	// team.MaxSAMLBytes. It refuses with an *apierr.Error. Only the area Admin needs it.
	ParseSAML func(text []byte) (team.SAMLProvider, error)
	// FetchSAML reads the metadata at an address, with its text. It refuses as ParseSAML does.
	FetchSAML func(ctx context.Context, address string) (team.SAMLProvider, []byte, error)
	// ReadDocument is the one of oauth.Service. Only the area Dashboard needs it.
	ReadDocument func(ctx context.Context, address string) ([]byte, error)
	// Metrics returns attributes for the log line of a request; may be nil.
	Metrics func(Served) []slog.Attr
}

// Served is an answered request, for metrics.
type Served struct {
	Arrived time.Time
	Route   string // such as "GET /documents/{documentId}"; empty for an unknown path
	Status  int
	Code    string // of the error, empty for a success
	Took    time.Duration
}

// New returns the handler of the given areas. Paths are relative to BaseURL:
// "/collections", not "/v1/collections".
func New(s Services, areas ...Area) http.Handler {
	if s.Room == nil {
		s.Room = NewRoom()
	}
	m := newMux(s.Room)
	m.register(s, areas)
	return s.edge(m)
}

// OpenAPI returns the OpenAPI 3.1 document of the whole API.
func OpenAPI(providers []source.Provider) *huma.OpenAPI {
	m := newMux(NewRoom())
	doc := m.register(Services{Sources: &source.Service{Providers: providers}}, Areas()).OpenAPI()
	describeNulls(doc)
	describeNotModified(doc)
	describeUnparsed(doc)
	describeFilters(doc)
	describeTimes(doc)
	describeChat(doc)
	describeResponses(doc)
	describeEventTypes(doc)
	describeHeaders(doc)
	shareErrors(doc)
	link(doc)
	describe(doc)
	describeScopes(doc)
	exemplify(doc)
	return doc
}

// mux is a ServeMux that reads, bounds and charges each body before it calls the operation.
type mux struct {
	*http.ServeMux
	*shares
	scim   http.HandlerFunc // the SCIM area, which routes its own paths; nil: not served
	sender findSender       // nil: no webhooks are served
}

func newMux(room *memory.Room) *mux {
	return &mux{ServeMux: http.NewServeMux(), shares: newShares(room)}
}

// HandleFunc registers an operation; huma calls it.
func (m *mux) HandleFunc(pattern string, handler func(http.ResponseWriter, *http.Request)) {
	canonicalize := canonicalPath(pattern)
	m.ServeMux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		canonicalize(r)
		if err := m.serve(w, r, pattern, handler); err != nil {
			writeError(w, r, err)
		}
	})
}

// serve receives the body of r, waits for room to handle it, and calls handler.
func (m *mux) serve(w http.ResponseWriter, r *http.Request, pattern string, handler http.HandlerFunc) error {
	f, account := bodyFormatOf(pattern), requestFrom(r.Context()).account
	if f == untouched {
		if err := m.identify(r, pattern); err != nil {
			w.Header().Set("Connection", "close") // the body is not read
			return err
		}
	}
	in := newIntake(w, r, account)
	defer in.end()
	body, err := receiveBody(r, in, f)
	if err != nil {
		in.discard()
		return err
	}
	work := account.work()
	defer work.End()
	if err := work.Begin(r.Context()); err != nil {
		return err
	}
	r = r.WithContext(memory.WithWork(r.Context(), work))
	if err := openBody(r, body, f); err != nil {
		return err
	}
	ctx, err := withCallerNow(r.Context())
	if err != nil {
		return err
	}
	handler(w, r.WithContext(ctx))
	return nil
}

func (m *mux) register(s Services, areas []Area) huma.API {
	api := humago.New(m, config())
	for _, area := range areas {
		area.routes(s, api, m)
	}
	return api
}

func config() huma.Config {
	c := huma.DefaultConfig("Docent", "v1")
	c.CreateHooks = nil // they add $schema members and describedBy links to replies
	c.OpenAPIPath, c.DocsPath, c.SchemasPath = "", "", ""
	c.AllowAdditionalPropertiesByDefault = true
	c.Formats = map[string]huma.Format{"application/json": jsonFormat, "json": jsonFormat}
	c.DefaultFormat = "application/json"
	c.Info.Description = "Answers questions from a team's own documents and says where each answer comes from.\n\n" +
		"In a JSON body null stands for an optional member that is left out; in a merge patch it removes the member, and is refused " +
		"where the member cannot be removed. 1.0 and 1e2 are integers. Times are those of RFC 3339, where t and z may stand for T and Z. " +
		"An id that is a UUID may be written in upper case, except in SCIM; replies have it in lower case. " +
		"Names of members are exact, except in SCIM. Unknown members and parameters are ignored, except in access and defaultAccess, where unknown " +
		"members are refused, and in the settings of data sources, where names that are nearly those of a setting, such as baseURL, are. In the query of a list, a parameter that takes one value is refused with different ones, such as limit=1&limit=2. " +
		"JSON with half of a surrogate pair, such as \\ud83d alone, is refused, and so is an object with two members of the same name."
	c.Info.Contact = &huma.Contact{Name: "Docent"}
	c.Info.License = &huma.License{Name: "Apache-2.0", Identifier: "Apache-2.0"}
	c.Components.Schemas = huma.NewMapRegistry(schemaPrefix, schemaName)
	c.Components.Schemas.RegisterTypeAlias(reflect.TypeFor[filter.Metadata](), reflect.TypeFor[Metadata]())
	c.Components.Schemas.RegisterTypeAlias(reflect.TypeFor[time.Time](), reflect.TypeFor[Time]())
	c.Components.Schemas.RegisterTypeAlias(reflect.TypeFor[filter.Filter](), reflect.TypeFor[Filter]())
	c.Servers = []*huma.Server{{URL: "/v1"}}
	c.Components.SecuritySchemes = map[string]*huma.SecurityScheme{
		"apiKey": {Type: "http", Scheme: "bearer", Description: "An API key: docent_pat_…, docent_team_… or docent_scim_…"},
	}
	c.Security = []map[string][]string{{"apiKey": {}}}
	c.Tags = []*huma.Tag{
		{Name: "Collections", Description: "Groups of documents. Deleting one removes all its documents."},
		{Name: "Documents", Description: "The content that questions are answered from, each identified by its URI."},
		{Name: "Answers", Description: "Questions, asked by PUT and polled until they are answered."},
		{Name: "Security events", Description: "Who did what: a feed that a SIEM polls and misses nothing of."},
		{Name: "Usage", Description: "What the team did with Docent, by time and by user, and what is left of its quotas."},
		{Name: "SCIM", Description: "Users and groups, provisioned by an identity provider (RFC 7643, RFC 7644, RFC 9865)."},
		{Name: "Administration", Description: "The team, its API keys, and its SAML identity provider."},
		{Name: "Sessions", Description: "Signing in to the dashboard. A session is a cookie that counts only in requests of the dashboard's own pages."},
		{Name: "Agents", Description: "OAuth for programs with tools: a person gives access in the browser, and takes it back in Settings."},
		{Name: "Context", Description: "The right pieces of code, pull requests, issues, messages and documentation, for tools and agents."},
		{Name: "Webhooks", Description: "Addresses of the team's own servers to which events are delivered, signed by the Standard Webhooks specification."},
		{Name: "Data sources", Description: "Where content comes from: collections, and what is connected beside them."},
	}
	c.OnAddOperation = append(c.OnAddOperation, func(_ *huma.OpenAPI, op *huma.Operation) {
		delete(op.Responses, "422") // validation problems are 400
		if isSigned(op.Method + " " + op.Path) {
			describeSigned(op)
		}
		if op.Method == http.MethodPatch {
			op.RequestBody.Content["application/merge-patch+json"] = op.RequestBody.Content["application/json"]
		}
		for _, response := range op.Responses {
			if problem := response.Content[problemType]; problem != nil && response.Content["application/json"] == nil {
				response.Content["application/json"] = problem
			}
		}
	})
	return c
}
