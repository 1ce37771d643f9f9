package client

import (
	"context"
	"encoding/json"
	"net/http"
	"time"
)

// SAML describes the team's SAML identity provider.
type SAML struct {
	EntityID        string `json:"entityId"`
	SingleSignOnURL string `json:"singleSignOnUrl"`
	Certificates    []struct {
		Subject  string    `json:"subject"`
		SHA256   string    `json:"sha256"`
		NotAfter time.Time `json:"notAfter"`
	} `json:"certificates"`
	MetadataURL string    `json:"metadataUrl,omitempty"`
	UpdatedAt   time.Time `json:"updatedAt"`
}

const samlPath = "/team/saml-metadata"

// SAML returns the team's SAML identity provider. If there is none it returns an *Error of status 404.
func (c *Client) SAML(ctx context.Context) (SAML, error) {
	var out SAML
	r, err := c.do(ctx, call{method: http.MethodGet, path: samlPath})
	if err != nil {
		return out, err
	}
	return out, decode(r, &out)
}

// SetSAML sets the team's SAML identity provider from its metadata, XML.
func (c *Client) SetSAML(ctx context.Context, metadata []byte) (SAML, error) {
	var out SAML
	r, err := c.do(ctx, call{method: http.MethodPut, path: samlPath, body: metadata,
		header: http.Header{"Content-Type": {"application/samlmetadata+xml"}}})
	if err != nil {
		return out, err
	}
	return out, decode(r, &out)
}

// SetSAMLURL sets the team's SAML identity provider from the metadata at an address, which the server reads.
func (c *Client) SetSAMLURL(ctx context.Context, address string) (SAML, error) {
	var out SAML
	body, err := json.Marshal(map[string]string{"url": address})
	if err != nil {
		return out, err
	}
	r, err := c.do(ctx, call{method: http.MethodPut, path: samlPath + "/url", body: body})
	if err != nil {
		return out, err
	}
	return out, decode(r, &out)
}

// RemoveSAML removes the team's SAML identity provider.
func (c *Client) RemoveSAML(ctx context.Context) error {
	_, err := c.do(ctx, call{method: http.MethodDelete, path: samlPath})
	return err
}

// Team is the team of the key.
type Team struct {
	ID             string `json:"id"`
	Name           string `json:"name"`
	SAMLConfigured bool   `json:"samlConfigured"`
}

// Team returns the team.
func (c *Client) Team(ctx context.Context) (Team, error) {
	var out Team
	r, err := c.do(ctx, call{method: http.MethodGet, path: "/team"})
	if err != nil {
		return out, err
	}
	return out, decode(r, &out)
}

// CreateSCIMKey creates a key for provisioning and returns its id and its secret. It is sent once: a repeat would
// create another key.
func (c *Client) CreateSCIMKey(ctx context.Context, name string) (id, secret string, err error) {
	body, err := marshal(map[string]string{"kind": "scim", "name": name})
	if err != nil {
		return "", "", err
	}
	r, err := c.once(ctx, call{method: http.MethodPost, path: "/api-keys", body: body})
	if err != nil {
		return "", "", err
	}
	var out struct{ ID, Secret string }
	err = decode(r, &out)
	return out.ID, out.Secret, err
}
