package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"docent/shared/team"
)

func (h *administration) keyRoutes(api huma.API, tags []string) {
	register(api, huma.Operation{OperationID: "listApiKeys", Method: http.MethodGet, Path: "/api-keys",
		Summary: "List API keys, newest first", Tags: tags, Errors: []int{400}}, h.listKeys)
	register(api, huma.Operation{OperationID: "createApiKey", Method: http.MethodPost, Path: "/api-keys",
		Summary: "Create an API key; its secret is shown this once", Tags: tags, DefaultStatus: http.StatusCreated}, h.createKey)
	register(api, huma.Operation{OperationID: "rotateApiKey", Method: http.MethodPost, Path: "/api-keys/{keyId}/rotate",
		Summary: "Give an API key a new secret", Tags: tags, Errors: []int{404}}, h.rotateKey)
	register(api, huma.Operation{OperationID: "revokeApiKey", Method: http.MethodDelete, Path: "/api-keys/{keyId}",
		Summary: "Revoke an API key; it is refused within 10 seconds", Tags: tags, DefaultStatus: http.StatusNoContent, Errors: []int{404}}, h.revokeKey)
}

// KeyBody describes a key without its secret. A member that does not apply is null.
type KeyBody struct {
	ID                      string       `json:"id"`
	Kind                    team.Kind    `json:"kind" enum:"personal,team,scim,session,agent"`
	Name                    string       `json:"name"`
	Hint                    *string      `json:"hint" nullable:"true" doc:"The last four characters of the key; null for a key that was made before there were hints, and for a session."`
	CreatedBy               *string      `json:"createdBy" nullable:"true" doc:"The id of the user who made the key; null if the operator did."`
	UserID                  *string      `json:"userId" nullable:"true" doc:"Of a personal key."`
	DataSourceIDs           []string     `json:"dataSourceIds" nullable:"true" doc:"What a restricted key sees."`
	Scopes                  []team.Scope `json:"scopes" nullable:"true" enum:"read,ask,write,manage,audit" doc:"What it may do; null for all that its kind may do."`
	ActFor                  bool         `json:"actFor" doc:"A team key that may act for people, whom the header Docent-User names."`
	CreatedAt               string       `json:"createdAt" format:"date-time"`
	ExpiresAt               *string      `json:"expiresAt" nullable:"true" format:"date-time"`
	LastUsedAt              *string      `json:"lastUsedAt" nullable:"true" format:"date-time" doc:"To the minute."`
	PreviousSecretExpiresAt *string      `json:"previousSecretExpiresAt" nullable:"true" format:"date-time" doc:"While a rotated secret still works."`
}

// SecretKeyBody is a key with its secret; it is exported because huma reads
// embedded members only of exported types.
type SecretKeyBody struct {
	KeyBody
	Secret string `json:"secret" doc:"The whole key. It is kept nowhere."`
}

func keyOf(k team.APIKey) KeyBody {
	return KeyBody{ID: k.ID, Kind: k.Kind, Name: k.Name, Hint: textOrNull(k.Hint), CreatedBy: textOrNull(k.CreatedBy), UserID: k.UserID, DataSourceIDs: k.DataSourceIDs, Scopes: k.Scopes, ActFor: k.ActFor, CreatedAt: formatTime(k.CreatedAt),
		ExpiresAt: timeOrNull(k.ExpiresAt), LastUsedAt: timeOrNull(k.LastUsedAt), PreviousSecretExpiresAt: timeOrNull(k.PreviousSecretExpiresAt)}
}

func textOrNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

type listKeysOutput struct {
	Link string `header:"Link" doc:"RFC 8288 links with rel prev and next, where there are such pages."`
	Body []KeyBody
}

func (h *administration) listKeys(ctx context.Context, in *struct{ PageParams }) (*listKeysOutput, error) {
	p, err := administrator(ctx)
	if err != nil {
		return nil, err
	}
	w, err := in.window(p.TeamID, "api-keys")
	if err != nil {
		return nil, err
	}
	slice, err := h.Teams.Keys(ctx, p.TeamID, w)
	if err != nil {
		return nil, err
	}
	out := &listKeysOutput{Body: make([]KeyBody, 0, len(slice.Entries)),
		Link: linkHeader(h.BaseURL, p.TeamID, "api-keys", in.Limit, nil, slice)}
	for _, e := range slice.Entries {
		out.Body = append(out.Body, keyOf(e.Value))
	}
	return out, nil
}

type createKeyInput struct {
	Body struct{ team.NewKey }
}

type secretOutput struct {
	Body SecretKeyBody
}

func (h *administration) createKey(ctx context.Context, in *createKeyInput) (*secretOutput, error) {
	p, err := administrator(ctx)
	if err != nil {
		return nil, err
	}
	in.Body.UserID = canonicalID(in.Body.UserID)
	canonicalIDs(in.Body.DataSourceIDs)
	k, secret, err := h.Teams.CreateKey(ctx, p.TeamID, in.Body.NewKey)
	if err != nil {
		return nil, err
	}
	return &secretOutput{SecretKeyBody{keyOf(k), secret}}, nil
}

// KeyPath is the path of one key.
type KeyPath struct {
	ID string `path:"keyId"`
}

// defaultOverlap is how long a rotated secret works by default.
const defaultOverlap = 24 * time.Hour

// overlap returns how long the old secret works: for the seconds of a request, or for defaultOverlap if it gives none.
func overlap(seconds *int64) time.Duration {
	if seconds == nil {
		return defaultOverlap
	}
	return time.Duration(*seconds) * time.Second
}

type rotateKeyInput struct {
	KeyPath
	Body *struct {
		OverlapSeconds *int64 `json:"overlapSeconds,omitempty" minimum:"0" maximum:"604800" doc:"How long the old secret works; 86400 when absent."`
	}
}

func (h *administration) rotateKey(ctx context.Context, in *rotateKeyInput) (*secretOutput, error) {
	p, err := administrator(ctx)
	if err != nil {
		return nil, err
	}
	var given *int64
	if in.Body != nil {
		given = in.Body.OverlapSeconds
	}
	k, secret, err := h.Teams.RotateKey(ctx, p.TeamID, in.ID, overlap(given))
	if err != nil {
		return nil, err
	}
	return &secretOutput{SecretKeyBody{keyOf(k), secret}}, nil
}

func (h *administration) revokeKey(ctx context.Context, in *KeyPath) (*struct{}, error) {
	p, err := administrator(ctx)
	if err != nil {
		return nil, err
	}
	return nil, h.Teams.RevokeKey(ctx, p.TeamID, in.ID)
}
