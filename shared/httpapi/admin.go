package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"docent/shared/apierr"
	"docent/shared/team"
)

// administration has the operations on the team itself.
type administration struct{ Services }

func (h *administration) routes(api huma.API, m *mux) {
	tags := []string{"Administration"}
	register(api, huma.Operation{OperationID: "getMe", Method: http.MethodGet, Path: "/me",
		Summary: "Who the key is", Tags: tags}, h.me)
	register(api, huma.Operation{OperationID: "getTeam", Method: http.MethodGet, Path: "/team",
		Summary: "Get the team", Tags: tags}, h.getTeam)
	register(api, huma.Operation{OperationID: "updateTeam", Method: http.MethodPatch, Path: "/team",
		Summary: "Change the team", Tags: tags}, h.updateTeam)
	register(api, huma.Operation{OperationID: "getSamlMetadata", Method: http.MethodGet, Path: "/team/saml-metadata",
		Summary: "Get the SAML identity provider", Tags: tags, Errors: []int{404}}, h.getSAML)
	m.ServeMux.HandleFunc(samlPattern, h.setSAML)
	describeSAML(api, tags)
	register(api, huma.Operation{OperationID: "setSamlMetadataUrl", Method: http.MethodPut, Path: "/team/saml-metadata/url",
		Summary: "Set the SAML identity provider by the address of its metadata", Tags: tags, Errors: []int{413}}, h.setSAMLURL)
	register(api, huma.Operation{OperationID: "removeSamlMetadata", Method: http.MethodDelete, Path: "/team/saml-metadata",
		Summary: "Remove the SAML identity provider; SCIM is refused from then on", Tags: tags,
		DefaultStatus: http.StatusNoContent, Errors: []int{404, 409}}, h.removeSAML)
	h.signOnRoutes(api, tags)
	h.keyRoutes(api, tags)
}

// administrator returns the principal of the request if it may administer.
func administrator(ctx context.Context) (team.Principal, error) {
	p, err := caller(ctx)
	if err == nil {
		err = team.RequireAdmin(p)
	}
	return p, err
}

type meOutput struct {
	Body struct {
		Team struct {
			ID   string `json:"id"`
			Name string `json:"name"`
		} `json:"team"`
		User *meUser `json:"user,omitempty" doc:"Of a personal key."`
		Key  KeyBody `json:"key"`
	}
}

type meUser struct {
	ID          string    `json:"id"`
	UserName    string    `json:"userName"`
	DisplayName string    `json:"displayName"`
	Role        team.Role `json:"role" enum:"admin,member"`
}

func (h *administration) me(ctx context.Context, _ *struct{}) (*meOutput, error) {
	p, err := caller(ctx)
	if err != nil {
		return nil, err
	}
	out, err := h.describe(ctx, p)
	if apierr.IsCode(err, apierr.CodeNotFound) { // revoked in the seconds in which a key may still be in memory
		return nil, errKeyGone
	}
	return out, err
}

func (h *administration) describe(ctx context.Context, p team.Principal) (*meOutput, error) {
	t, err := h.Teams.Team(ctx, p.TeamID)
	if err != nil {
		return nil, err
	}
	key, err := h.Teams.Key(ctx, p.TeamID, p.KeyID)
	if err != nil {
		return nil, err
	}
	out := &meOutput{}
	out.Body.Team.ID, out.Body.Team.Name, out.Body.Key = t.ID, t.Name, keyOf(key)
	if p.UserID != "" {
		u, err := h.Teams.User(ctx, p.TeamID, p.UserID)
		if err != nil {
			return nil, err
		}
		out.Body.User = &meUser{u.ID, u.UserName, u.DisplayName, u.Role}
	}
	return out, nil
}

type teamOutput struct {
	Body struct {
		ID string `json:"id"`
		team.Fields
		SAMLConfigured bool   `json:"samlConfigured" doc:"SAML metadata is set, so SCIM may be used."`
		CreatedAt      string `json:"createdAt" format:"date-time"`
	}
}

func (h *administration) teamOf(ctx context.Context, t team.Team) (*teamOutput, error) {
	configured, err := h.Teams.SAMLConfigured(ctx, t.ID)
	out := &teamOutput{}
	out.Body.ID, out.Body.Fields = t.ID, t.Fields
	out.Body.SAMLConfigured, out.Body.CreatedAt = configured, formatTime(t.CreatedAt)
	return out, err
}

func (h *administration) getTeam(ctx context.Context, _ *struct{}) (*teamOutput, error) {
	p, err := caller(ctx)
	if err != nil {
		return nil, err
	}
	t, err := h.Teams.Team(ctx, p.TeamID)
	if err != nil {
		return nil, err
	}
	return h.teamOf(ctx, t)
}

type updateTeamInput struct {
	Body struct{ patch[team.Fields] }
}

func (h *administration) updateTeam(ctx context.Context, in *updateTeamInput) (*teamOutput, error) {
	p, err := administrator(ctx)
	if err != nil {
		return nil, err
	}
	t, err := h.Teams.UpdateTeam(ctx, p.TeamID, in.Body.apply)
	if err != nil {
		return nil, err
	}
	return h.teamOf(ctx, t)
}

// timeOrNull returns t as in replies, nil for none.
func timeOrNull(t *time.Time) *string {
	if t == nil {
		return nil
	}
	text := formatTime(*t)
	return &text
}
