package httpapi

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"docent/shared/apierr"
	"docent/shared/jsoninput"
	"docent/shared/oauth"
	"docent/shared/team"
)

// The operations of the authorization server that programs and browsers call without a key. The
// addresses of the metadata are those that clients try for an issuer with a path (RFC 8414 section 5,
// OpenID Connect Discovery section 4).
const (
	oauthAuthorize = "GET /oauth/authorize"
	oauthRegister  = "POST /oauth/register"
	oauthToken     = "POST /oauth/token"
	oauthRevoke    = "POST /oauth/revoke"

	serverMetadata      = "GET /.well-known/oauth-authorization-server"
	serverMetadataOIDC  = "GET /.well-known/openid-configuration"
	resourceMetadata    = "GET /.well-known/oauth-protected-resource"
	resourceMetadataMCP = "GET /.well-known/oauth-protected-resource/mcp"
)

var oauthPatterns = []string{oauthAuthorize, oauthRegister, oauthToken, oauthRevoke,
	serverMetadata, serverMetadataOIDC, resourceMetadata, resourceMetadataMCP}

// oauthBody limits the body of a request to the authorization server.
const oauthBody = 16 << 10

// oauths has the operations by which a person gives a program access.
type oauths struct{ Services }

func (h *oauths) server() *oauth.Service {
	return &oauth.Service{Table: h.Teams.Table, Teams: h.Teams, Now: h.Now, Issuer: h.BaseURL, ReadDocument: h.ReadDocument}
}

func (h *oauths) routes(api huma.API, m *mux) {
	for pattern, handle := range map[string]func(http.ResponseWriter, *http.Request) error{
		oauthAuthorize: h.authorize, oauthRegister: h.register, oauthToken: h.token, oauthRevoke: h.revoke,
		serverMetadata: h.metadata, serverMetadataOIDC: h.metadata, resourceMetadata: h.resource, resourceMetadataMCP: h.resource,
	} {
		m.ServeMux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			allowEveryOrigin(w.Header())
			if err := handle(w, r); err != nil {
				h.refuse(w, r, err)
			}
		})
	}
	tags := []string{"Agents"}
	register(api, huma.Operation{OperationID: "showConsent", Method: http.MethodPost, Path: "/oauth/consent",
		Summary: "Show what a program asks for", Tags: tags}, h.consent)
	register(api, huma.Operation{OperationID: "decideConsent", Method: http.MethodPost, Path: "/oauth/decision",
		Summary: "Give a program access, or refuse it", Tags: tags}, h.decide)
	register(api, huma.Operation{OperationID: "listAgents", Method: http.MethodGet, Path: "/agents",
		Summary: "List the programs that have access as the user, newest first", Tags: tags}, h.list)
	register(api, huma.Operation{OperationID: "disconnectAgent", Method: http.MethodDelete, Path: "/agents/{agentId}",
		Summary: "End the access of a program", Tags: tags, DefaultStatus: http.StatusNoContent, Errors: []int{404}}, h.disconnect)
	describeOAuth(api)
}

// allowEveryOrigin lets clients in browsers read replies. No reply depends on a cookie.
func allowEveryOrigin(h http.Header) { h.Set("Access-Control-Allow-Origin", "*") }

// isPreflight reports whether a browser asks if a page of another origin may call the authorization
// server, or one that may call the tools these. It asks so before it sends JSON, and without a key.
func (s Services) isPreflight(r *http.Request) bool {
	return r.Method == http.MethodOptions && (toolsOrigin(s.BaseURL, r) != "" || slices.ContainsFunc(oauthPatterns, func(pattern string) bool {
		_, path, _ := strings.Cut(pattern, " ")
		return path == r.URL.Path
	}))
}

// allowPreflight answers a preflight request of a page of any origin, or of that which h allows already (Fetch standard section 3.2.2).
func allowPreflight(h http.Header, methods string) {
	headers := "Authorization, *" // * leaves the key out
	if h.Get("Access-Control-Allow-Origin") == "" {
		allowEveryOrigin(h)
		headers = "*" // the authorization server takes no key
	}
	h.Set("Access-Control-Allow-Methods", methods)
	h.Set("Access-Control-Allow-Headers", headers)
	h.Set("Access-Control-Max-Age", "86400")
}

// refuse replies with an error of OAuth. Any other error is a problem of the API.
func (h *oauths) refuse(w http.ResponseWriter, r *http.Request, err error) {
	var refused *oauth.Error
	if !errors.As(err, &refused) {
		writeError(w, r, err)
		return
	}
	requestFrom(r.Context()).code = refused.Code
	status := http.StatusBadRequest
	if refused.Code == oauth.InvalidClient {
		status = http.StatusUnauthorized
	}
	writeJSON(w, status, refused)
}

func writeJSON(w http.ResponseWriter, status int, value any) {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err) // made of strings, lists and numbers
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(text, '\n')) // the client may be gone
}

func (h *oauths) metadata(w http.ResponseWriter, _ *http.Request) error {
	writeJSON(w, http.StatusOK, h.server().Metadata())
	return nil
}

func (h *oauths) resource(w http.ResponseWriter, _ *http.Request) error {
	writeJSON(w, http.StatusOK, h.server().ResourceMetadata())
	return nil
}

// authorizeParameters are those of a request for access (RFC 6749 section 4.1.1, RFC 7636, RFC 8707).
var authorizeParameters = []string{"response_type", "client_id", "redirect_uri", "state", "scope", "resource", "code_challenge", "code_challenge_method"}

// authorize leads the browser to the page of the dashboard that asks the person. Nothing is decided
// here: only that page's own requests count as the person's. A parameter has one value (RFC 6749 section 3.1), except
// resource (RFC 8707 section 2). The program is not told, because its address may be what has two.
func (h *oauths) authorize(w http.ResponseWriter, r *http.Request) error {
	once := slices.DeleteFunc(slices.Clone(authorizeParameters), func(name string) bool { return name == "resource" })
	if name := firstRepeated(r.URL.Query(), once); name != "" {
		return apierr.BadField("/query/"+name, oneValue)
	}
	w.Header().Set("Location", h.BaseURL+"/dashboard/#/connect/"+url.PathEscape(r.URL.RawQuery))
	w.WriteHeader(http.StatusFound)
	return nil
}

// register takes the metadata of a client (RFC 7591 section 3.1). Members that do not matter here
// are ignored.
func (h *oauths) register(w http.ResponseWriter, r *http.Request) error {
	var in struct {
		Name         string   `json:"client_name"`
		RedirectURIs []string `json:"redirect_uris"`
		Grants       []string `json:"grant_types"`
		Auth         string   `json:"token_endpoint_auth_method"`
		Scope        string   `json:"scope"` // what a program gets is decided by each request for access
	}
	body, err := h.body(r, "application/json", oauth.InvalidClientMetadata)
	if err != nil {
		return err
	}
	if !json.Valid(body) || jsoninput.RepeatedName(body) != "" || jsoninput.Decode(body, &in) != nil {
		return &oauth.Error{Code: oauth.InvalidClientMetadata, Description: "The body must be the metadata of a client as JSON, each member once and of the type that RFC 7591 gives it."}
	}
	if in.Grants != nil && !slices.Contains(in.Grants, "authorization_code") {
		return &oauth.Error{Code: oauth.InvalidClientMetadata, Description: "grant_types must contain authorization_code."}
	}
	c, err := oauth.Register(in.Name, in.RedirectURIs)
	if err != nil {
		return err
	}
	reply := map[string]any{"client_id": c.ID(), "client_id_issued_at": h.Now().Unix(), "redirect_uris": c.RedirectURIs,
		"grant_types": []string{"authorization_code", "refresh_token"}, "response_types": []string{"code"},
		"token_endpoint_auth_method": "none", "scope": oauth.ScopeText(team.AgentScopes())}
	if c.Name != "" {
		reply["client_name"] = c.Name
	}
	writeJSON(w, http.StatusCreated, reply)
	return nil
}

func (h *oauths) token(w http.ResponseWriter, r *http.Request) error {
	form, err := h.form(r)
	if err != nil {
		return err
	}
	tokens, err := h.server().Exchange(r.Context(), form)
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, tokens)
	return nil
}

// revoke ends the access that a token gives (RFC 7009). It succeeds for every text, but not without one: the program would
// believe that its access has ended.
func (h *oauths) revoke(w http.ResponseWriter, r *http.Request) error {
	form, err := h.form(r)
	if err != nil {
		return err
	}
	if tokens := form["token"]; len(tokens) != 1 || tokens[0] == "" {
		return &oauth.Error{Code: oauth.InvalidRequest, Description: "token is required, once."}
	}
	if err := h.Teams.RevokeToken(r.Context(), form.Get("token")); err != nil {
		return err
	}
	w.WriteHeader(http.StatusOK)
	return nil
}

// form returns the body of r as a form.
func (h *oauths) form(r *http.Request) (url.Values, error) {
	body, err := h.body(r, "application/x-www-form-urlencoded", oauth.InvalidRequest)
	if err != nil {
		return nil, err
	}
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return nil, &oauth.Error{Code: oauth.InvalidRequest, Description: "The body is not a form."}
	}
	return form, nil
}

// body returns the body of r, of at most oauthBody as sent and decompressed, and of the media type.
func (h *oauths) body(r *http.Request, media, code string) ([]byte, error) {
	if got, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || got != media {
		return nil, &oauth.Error{Code: code, Description: "Send " + media + "."}
	}
	from := io.LimitReader(r.Body, oauthBody+1)
	switch codingOf(r) {
	case plainCoding:
	case gzipCoding:
		unpacked, err := gzip.NewReader(from)
		if err != nil {
			return nil, &oauth.Error{Code: code, Description: "The body is not a complete gzip stream."}
		}
		from = io.LimitReader(unpacked, oauthBody+1)
	default:
		return nil, &oauth.Error{Code: code, Description: "Send " + media + ", plain or with Content-Encoding: gzip."}
	}
	text, err := io.ReadAll(from)
	if err != nil {
		return nil, &oauth.Error{Code: code, Description: "The body did not arrive whole."}
	}
	if len(text) > oauthBody {
		return nil, &oauth.Error{Code: code, Description: "The body must have at most 16 KB."}
	}
	return text, nil
}

// browser returns the principal of a session: consent is given by a person in a browser, not by a key.
func browser(ctx context.Context) (team.Principal, error) {
	p, err := caller(ctx)
	if err == nil {
		err = team.RequireKind(p, team.KindSession)
	}
	return p, err
}

type consentInput struct {
	Body struct{ oauth.Request }
}

// ConsentBody is what a person is asked.
type ConsentBody struct {
	Name string `json:"name" doc:"As the program named itself; may be empty. Anybody may choose any name."`
	Host string `json:"host" doc:"Where the answer is sent."`
	// Publisher is empty if the program registered itself.
	Publisher string       `json:"publisher,omitempty" doc:"The host that describes the program, and so vouches for its name. Absent if the program registered itself."`
	Scopes    []team.Scope `json:"scopes" enum:"read,ask" doc:"What the program gets: those that it asks for and the session has."`
}

func (h *oauths) consent(ctx context.Context, in *consentInput) (*struct{ Body ConsentBody }, error) {
	p, err := browser(ctx)
	if err != nil {
		return nil, err
	}
	asked, err := h.server().Ask(ctx, p, in.Body.Request)
	if err != nil {
		return nil, badConsent(err)
	}
	return &struct{ Body ConsentBody }{ConsentBody{asked.Name, asked.Host, asked.Publisher, asked.Scopes}}, nil
}

type decisionInput struct {
	Body struct {
		oauth.Request
		Allow bool `json:"allow" doc:"Whether the program gets access."`
	}
}

// DecisionBody says where the browser continues.
type DecisionBody struct {
	RedirectTo string `json:"redirectTo" doc:"The program's address, with a code or an error."`
}

func (h *oauths) decide(ctx context.Context, in *decisionInput) (*struct{ Body DecisionBody }, error) {
	p, err := browser(ctx)
	if err != nil {
		return nil, err
	}
	var to string
	if in.Body.Allow {
		to, err = h.server().Allow(ctx, p, in.Body.Request)
	} else {
		to, err = h.server().Deny(ctx, in.Body.Request)
	}
	if err != nil {
		return nil, badConsent(err)
	}
	return &struct{ Body DecisionBody }{DecisionBody{to}}, nil
}

// badConsent returns the problem of a request that a program made wrongly.
func badConsent(err error) error {
	var refused *oauth.Error
	if errors.As(err, &refused) {
		return apierr.New(apierr.Invalid, apierr.CodeInvalidRequest, "The program's request cannot be used: %s", refused.Description)
	}
	return err
}

// AgentBody describes a program with access.
type AgentBody struct {
	ID          string       `json:"id"`
	Name        string       `json:"name" doc:"As the program named itself; may be empty."`
	Host        string       `json:"host" doc:"Where the consent was sent."`
	Scopes      []team.Scope `json:"scopes" enum:"read,ask" doc:"What it may do: read by the tools that search and read, ask by the tool that asks."`
	CreatedAt   string       `json:"createdAt" format:"date-time"`
	RefreshedAt *string      `json:"refreshedAt" nullable:"true" format:"date-time" doc:"When it got tokens last."`
}

func (h *oauths) list(ctx context.Context, _ *struct{}) (*struct{ Body []AgentBody }, error) {
	p, err := person(ctx)
	if err != nil {
		return nil, err
	}
	agents, err := h.Teams.Agents(ctx, p.TeamID, p.UserID)
	if err != nil {
		return nil, err
	}
	out := &struct{ Body []AgentBody }{Body: []AgentBody{}}
	for _, a := range agents {
		out.Body = append(out.Body, AgentBody{a.ID, a.Name, a.Host, a.Scopes, formatTime(a.CreatedAt), timeOrNull(a.RefreshedAt)})
	}
	return out, nil
}

// AgentPath is the path of one agent.
type AgentPath struct {
	ID string `path:"agentId"`
}

func (h *oauths) disconnect(ctx context.Context, in *AgentPath) (*struct{}, error) {
	p, err := person(ctx)
	if err != nil {
		return nil, err
	}
	return nil, h.Teams.DisconnectAgent(ctx, p.TeamID, p.UserID, in.ID)
}

// agentMay reports whether an agent's token may call the operation at pattern: the tools, and what
// tells a client who it is.
func agentMay(pattern string) bool {
	return pattern == http.MethodPost+" "+mcpPath || pattern == "GET /me"
}

// challenge returns the WWW-Authenticate header of a refusal at path. At the tools it says where an
// agent asks for access (RFC 9728 section 5.1).
func (s Services) challenge(path string, sent bool) string {
	if path != mcpPath {
		return "Bearer"
	}
	text := `Bearer resource_metadata="` + s.BaseURL + "/.well-known/oauth-protected-resource" + mcpPath + `"`
	if sent {
		text = strings.Replace(text, "Bearer ", `Bearer error="invalid_token", `, 1)
	}
	return text
}
