package httpapi

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"docent/shared/signon"
)

func (h *administration) signOnRoutes(api huma.API, tags []string) {
	register(api, huma.Operation{OperationID: "getSingleSignOn", Method: http.MethodGet, Path: "/team/single-sign-on",
		Summary: "Get the settings of single sign-on, and what the identity provider must know", Tags: tags}, h.getSignOn)
	register(api, huma.Operation{OperationID: "updateSingleSignOn", Method: http.MethodPatch, Path: "/team/single-sign-on",
		Summary: "Change the settings of single sign-on; it can be required after a test by an admin", Tags: tags, Errors: []int{409}}, h.updateSignOn)
	register(api, huma.Operation{OperationID: "setOpenIdProvider", Method: http.MethodPut, Path: "/team/openid-provider",
		Summary: "Set the OpenID Connect provider", Tags: tags}, h.setClient)
	register(api, huma.Operation{OperationID: "removeOpenIdProvider", Method: http.MethodDelete, Path: "/team/openid-provider",
		Summary: "Remove the OpenID Connect provider", Tags: tags, DefaultStatus: http.StatusNoContent, Errors: []int{404, 409}}, h.removeClient)
}

// SignOnBody are the settings of single sign-on, with the addresses for the provider.
type SignOnBody struct {
	Method    *signon.Method `json:"method,omitempty" enum:"saml,oidc" doc:"How the team signs in; left out: there is no provider."`
	Required  bool           `json:"required" doc:"Everybody signs in at the provider. A link that the operator makes still works."`
	Attribute string         `json:"attribute" doc:"The attribute of a SAML assertion that has the user name; empty: the NameID has it."`
	OIDC      *SignOnClient  `json:"oidc,omitempty" doc:"The OpenID Connect provider."`
	Test      *SignOnTest    `json:"test,omitempty" doc:"The last test that ended well."`
	SignInURL string         `json:"signInUrl" doc:"Where people sign in; also for the provider's tile."`
	EntityID  string         `json:"entityId" doc:"Of this service at a SAML provider; its metadata is there."`
	ACSURL    string         `json:"acsUrl" doc:"Where a SAML provider sends its response."`
	Callback  string         `json:"redirectUrl" doc:"Where an OpenID Connect provider sends its answer."`
}

// SignOnClient is this service at an OpenID Connect provider.
type SignOnClient struct {
	Issuer    string `json:"issuer"`
	ClientID  string `json:"clientId"`
	HasSecret bool   `json:"hasSecret" doc:"A client secret is stored, encrypted. It is never returned."`
}

// SignOnTest is a test of single sign-on.
type SignOnTest struct {
	At       string `json:"at" format:"date-time"`
	UserName string `json:"userName" doc:"Of the admin who came back signed in."`
	Current  bool   `json:"current" doc:"The provider and the settings have not changed since."`
}

type signOnOutput struct{ Body SignOnBody }

func (h *administration) getSignOn(ctx context.Context, _ *struct{}) (*signOnOutput, error) {
	p, err := administrator(ctx)
	if err != nil {
		return nil, err
	}
	settings, err := h.SignOn.Settings(ctx, p.TeamID)
	if err != nil {
		return nil, err
	}
	return h.signOnOf(ctx, p.TeamID, settings)
}

func (h *administration) signOnOf(ctx context.Context, teamID string, settings signon.Settings) (*signOnOutput, error) {
	a := h.SignOn.Addresses(teamID)
	body := SignOnBody{Required: settings.Required, Attribute: settings.Attribute, SignInURL: a.SignIn, EntityID: a.EntityID, ACSURL: a.ACS, Callback: a.Callback}
	if settings.Method != "" {
		body.Method = &settings.Method
	}
	if c := settings.OIDC; c != nil {
		body.OIDC = &SignOnClient{c.Issuer, c.ClientID, len(c.Secret) > 0}
	}
	if t := settings.Test; t != nil {
		current, err := h.SignOn.TestIsCurrent(ctx, teamID, settings)
		if err != nil {
			return nil, err
		}
		body.Test = &SignOnTest{formatTime(t.At), t.UserName, current}
	}
	return &signOnOutput{body}, nil
}

type updateSignOnInput struct {
	Body struct{ patch[signon.Fields] }
}

func (h *administration) updateSignOn(ctx context.Context, in *updateSignOnInput) (*signOnOutput, error) {
	p, err := administrator(ctx)
	if err != nil {
		return nil, err
	}
	settings, err := h.SignOn.Update(ctx, p.TeamID, in.Body.apply)
	if err != nil {
		return nil, err
	}
	return h.signOnOf(ctx, p.TeamID, settings)
}

type setClientInput struct {
	Body struct {
		Issuer       string  `json:"issuer" minLength:"1" maxLength:"1024" doc:"An https address. Its configuration is at /.well-known/openid-configuration below it."`
		ClientID     string  `json:"clientId" minLength:"1" maxLength:"256"`
		ClientSecret *string `json:"clientSecret,omitempty" maxLength:"1024" doc:"Stored encrypted. Without it, the one of the same issuer and client stays; empty: the client has none."`
	}
}

func (h *administration) setClient(ctx context.Context, in *setClientInput) (*signOnOutput, error) {
	p, err := administrator(ctx)
	if err != nil {
		return nil, err
	}
	settings, err := h.SignOn.SetClient(ctx, p.TeamID, in.Body.Issuer, in.Body.ClientID, in.Body.ClientSecret)
	if err != nil {
		return nil, err
	}
	return h.signOnOf(ctx, p.TeamID, settings)
}

func (h *administration) removeClient(ctx context.Context, _ *struct{}) (*struct{}, error) {
	p, err := administrator(ctx)
	if err != nil {
		return nil, err
	}
	return nil, h.SignOn.RemoveClient(ctx, p.TeamID)
}
