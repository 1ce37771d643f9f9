package saml

import (
	"bytes"
	"context"
	"crypto/x509"
	"encoding/base64"
	"encoding/xml"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/crewjam/saml"

	"docent/shared/signon"
)

// Protocol signs people in by SAML 2.0: the Web Browser SSO Profile, begun by this program, with
// the response by HTTP-POST (SAML V2.0 Profiles, section 4.1). Requests are not signed, and
// assertions must not be encrypted: this program has no keys, and TLS protects both.
type Protocol struct{}

var _ signon.Protocol = Protocol{}

// MaxResponse limits a response as sent, in bytes.
const MaxResponse = 256 << 10

const unspecified = "urn:oasis:names:tc:SAML:1.1:nameid-format:unspecified"

// Begin makes an AuthnRequest (SAML V2.0 Core, section 3.4.1).
func (Protocol) Begin(_ context.Context, at signon.Party, r *signon.Request, state string) (signon.Redirect, error) {
	entity, err := read(at.Metadata)
	if err != nil {
		return signon.Redirect{}, err
	}
	r.ID = "id-" + signon.NewSecret() // an xs:ID begins with a letter
	provider := entity.IDPSSODescriptors[0]
	binding := redirect
	if destination(provider.SingleSignOnServices, redirect) == "" {
		binding = post
	}
	to := destination(provider.SingleSignOnServices, binding)
	create, format := true, unspecified
	request := saml.AuthnRequest{ID: r.ID, IssueInstant: at.Now.UTC(), Version: "2.0", Destination: to, ProtocolBinding: post,
		AssertionConsumerServiceURL: at.ACS, Issuer: &saml.Issuer{Value: at.EntityID},
		NameIDPolicy: &saml.NameIDPolicy{AllowCreate: &create, Format: &format}}
	if binding == redirect {
		u, err := request.Redirect(url.QueryEscape(state), &saml.ServiceProvider{})
		if err != nil {
			return signon.Redirect{}, fmt.Errorf("make a SAML request: %w", err)
		}
		return signon.Redirect{URL: u.String()}, nil
	}
	var text bytes.Buffer
	if err := xml.NewEncoder(&text).Encode(&request); err != nil {
		return signon.Redirect{}, fmt.Errorf("make a SAML request: %w", err)
	}
	return signon.Redirect{URL: to, Form: url.Values{"SAMLRequest": {base64.StdEncoding.EncodeToString(text.Bytes())}, "RelayState": {state}}}, nil
}

// Finish verifies a response (SAML V2.0 Profiles, section 4.1.4.3).
func (Protocol) Finish(_ context.Context, at signon.Party, r signon.Request, values url.Values) (signon.Identity, error) {
	entity, err := read(at.Metadata)
	if err != nil {
		return signon.Identity{}, err
	}
	certificates, err := signing(entity)
	if err != nil {
		return signon.Identity{}, err
	}
	encoded := values.Get("SAMLResponse")
	if len(encoded) == 0 || len(encoded) > MaxResponse {
		return signon.Identity{}, malformed("a response of %d bytes", len(encoded))
	}
	text, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(encoded), ""))
	if err != nil {
		return signon.Identity{}, malformed("no base64")
	}
	v := verifier{entityID: entity.EntityID, audience: at.EntityID, acs: at.ACS, request: r.ID, attribute: at.Settings.Attribute,
		certificates: certificates, now: at.Now}
	return v.verify(text)
}

// read reads metadata that Parse has accepted.
func read(text []byte) (saml.EntityDescriptor, error) {
	var entity saml.EntityDescriptor
	if err := xml.Unmarshal(text, &entity); err != nil || len(entity.IDPSSODescriptors) == 0 {
		return entity, fmt.Errorf("read stored SAML metadata: %w", errors.Join(err, errors.New("no provider")))
	}
	return entity, nil
}

// signing returns the certificates with which the provider signs.
func signing(entity saml.EntityDescriptor) ([]*x509.Certificate, error) {
	var all []*x509.Certificate
	for _, k := range entity.IDPSSODescriptors[0].KeyDescriptors {
		if k.Use != "" && k.Use != "signing" {
			continue
		}
		for _, c := range k.KeyInfo.X509Data.X509Certificates {
			der, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(c.Data), ""))
			if err != nil {
				return nil, fmt.Errorf("read stored SAML metadata: %w", err)
			}
			certificate, err := x509.ParseCertificate(der)
			if err != nil {
				return nil, fmt.Errorf("read stored SAML metadata: %w", err)
			}
			all = append(all, certificate)
		}
	}
	return all, nil
}

func malformed(format string, args ...any) error {
	return fail(signon.Malformed, format, args...)
}

func fail(reason signon.Reason, format string, args ...any) error {
	return &signon.Failure{Reason: reason, Cause: fmt.Errorf(format, args...)}
}
