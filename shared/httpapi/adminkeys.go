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
	ID                      string    `json:"id"`
	Kind                    team.Kind `json:"kind" enum:"personal,team,scim,session"`
	Name                    string    `json:"name"`
	UserID                  *string   `json:"userId" nullable:"true" doc:"Of a personal key."`
	DataSourceIDs           []string  `json:"dataSourceIds" nullable:"true" doc:"What a restricted key sees."`
	CreatedAt               string    `json:"createdAt" format:"date-time"`
	ExpiresAt               *string   `json:"expiresAt" nullable:"true" format:"date-time"`
	LastUsedAt              *string   `json:"lastUsedAt" nullable:"true" format:"date-time" doc:"To the minute."`
	PreviousSecretExpiresAt *string   `json:"previousSecretExpiresAt" nullable:"true" format:"date-time" doc:"While a rotated secret still works."`
}

// SecretKeyBody is a key with its secret; it is exported because huma reads
// embedded members only of exported types.
type SecretKeyBody struct {
	KeyBody
	Secret string `json:"secret" doc:"The whole key. It is kept nowhere."`
}

func keyOf(k team.APIKey) KeyBody {
	return KeyBody{ID: k.ID, Kind: k.Kind, Name: k.Name, UserID: k.UserID, DataSourceIDs: k.DataSourceIDs, CreatedAt: formatTime(k.CreatedAt),
		ExpiresAt: timeOrNull(k.ExpiresAt), LastUsedAt: timeOrNull(k.LastUsedAt), PreviousSecretExpiresAt: timeOrNull(k.PreviousSecretExpiresAt)}
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
const defaultOverlap = 86400

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
	overlap := int64(defaultOverlap)
	if in.Body != nil && in.Body.OverlapSeconds != nil {
		overlap = *in.Body.OverlapSeconds
	}
	k, secret, err := h.Teams.RotateKey(ctx, p.TeamID, in.ID, time.Duration(overlap)*time.Second)
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
