// Package saml reads the metadata by which a team's SAML identity provider
// describes itself (SAML V2.0 Metadata, section 2), and signs people in there.
package saml

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/xml"
	"errors"
	"io"
	"net/url"
	"strings"
	"unicode"

	"github.com/crewjam/saml"

	"docent/shared/apierr"
	"docent/shared/team"
)

// Bounds of metadata.
const (
	maxDepth        = 32
	maxCertificates = 20
	maxURL          = 2048
)

const (
	metadataSpace = "urn:oasis:names:tc:SAML:2.0:metadata"
	redirect      = "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect"
	post          = "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST"
)

// Parse reads an EntityDescriptor with an IDPSSODescriptor, a sign-on address and a signing
// certificate. It returns an *apierr.Error for anything else. It refuses a text before
// interpreting it if the text has a document type, entities or processing instructions, is
// nested more than 32 levels deep or exceeds team.MaxSAMLBytes.
func Parse(text []byte) (team.SAMLProvider, error) {
	if len(text) > team.MaxSAMLBytes {
		return team.SAMLProvider{}, apierr.New(apierr.TooLarge, apierr.CodeTooLarge, "SAML metadata may have at most %d bytes.", team.MaxSAMLBytes)
	}
	if err := check(text); err != nil {
		return team.SAMLProvider{}, err
	}
	var entity saml.EntityDescriptor
	if err := xml.Unmarshal(text, &entity); err != nil {
		return team.SAMLProvider{}, invalid("The metadata is not well-formed.")
	}
	m := team.SAMLProvider{EntityID: entity.EntityID}
	if n := len(m.EntityID); n == 0 || n > 1024 || strings.ContainsFunc(m.EntityID, unicode.IsControl) {
		return team.SAMLProvider{}, invalid("The EntityDescriptor needs an entityID of at most 1024 characters.")
	}
	if len(entity.IDPSSODescriptors) == 0 {
		return team.SAMLProvider{}, invalid("The metadata describes no identity provider: it has no IDPSSODescriptor.")
	}
	provider := entity.IDPSSODescriptors[0]
	if m.SingleSignOnURL = signOn(provider.SingleSignOnServices); m.SingleSignOnURL == "" {
		return team.SAMLProvider{}, invalid("The identity provider needs a SingleSignOnService with an https or http address.")
	}
	for _, k := range provider.KeyDescriptors {
		if k.Use != "" && k.Use != "signing" {
			continue
		}
		for _, c := range k.KeyInfo.X509Data.X509Certificates {
			certificate, ok := readCertificate(c.Data)
			if !ok {
				return team.SAMLProvider{}, invalid("A signing certificate cannot be read.")
			}
			m.Certificates = append(m.Certificates, certificate)
		}
	}
	if n := len(m.Certificates); n == 0 || n > maxCertificates {
		return team.SAMLProvider{}, invalid("The identity provider needs 1 to 20 signing certificates.")
	}
	return m, nil
}

// byteOrderMark may be in front of the metadata.
var byteOrderMark = []byte("\ufeff")

// check reads the tokens without keeping them.
func check(text []byte) error {
	if start := bytes.TrimSpace(bytes.TrimPrefix(text, byteOrderMark)); !bytes.HasPrefix(start, []byte("<")) {
		return invalid("This is not the metadata of a SAML identity provider (XML).")
	}
	d := xml.NewDecoder(bytes.NewReader(text))
	d.CharsetReader = func(string, io.Reader) (io.Reader, error) { return nil, errors.New("not UTF-8") }
	depth, root := 0, false
	for {
		token, err := d.RawToken()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return invalid("The metadata is not well-formed XML in UTF-8, or uses entities.")
		}
		switch t := token.(type) {
		case xml.Directive:
			return invalid("The metadata must not have a document type.")
		case xml.ProcInst:
			if t.Target != "xml" {
				return invalid("The metadata must not have processing instructions.")
			}
		case xml.StartElement:
			if depth++; depth > maxDepth {
				return invalid("The metadata nests too deep.")
			}
			if len(t.Attr) > 64 {
				return invalid("An element of the metadata has too many attributes.")
			}
			if depth == 1 && (root || t.Name.Local != "EntityDescriptor") {
				return invalid("The metadata must be one EntityDescriptor in the namespace " + metadataSpace + ".")
			}
			root = true
		case xml.CharData:
			if depth == 0 && len(bytes.TrimSpace(bytes.TrimPrefix(t, byteOrderMark))) > 0 {
				return invalid("The metadata has text outside of its EntityDescriptor.")
			}
		case xml.EndElement:
			if depth--; depth < 0 {
				return invalid("The metadata is not well-formed XML.")
			}
		}
	}
	if !root || depth != 0 {
		return invalid("The metadata is not whole.")
	}
	return nil
}

// signOn prefers the binding by redirect.
func signOn(endpoints []saml.Endpoint) string {
	return cmp.Or(destination(endpoints, redirect), destination(endpoints, post))
}

// destination returns the address of the first usable endpoint with the binding, or nothing.
func destination(endpoints []saml.Endpoint, binding string) string {
	for _, e := range endpoints {
		u, err := url.Parse(e.Location)
		if e.Binding == binding && err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != "" && len(e.Location) <= maxURL {
			return e.Location
		}
	}
	return ""
}

func readCertificate(text string) (team.SAMLCertificate, bool) {
	der, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(text), ""))
	if err != nil {
		return team.SAMLCertificate{}, false
	}
	c, err := x509.ParseCertificate(der)
	if err != nil {
		return team.SAMLCertificate{}, false
	}
	sum := sha256.Sum256(der)
	return team.SAMLCertificate{Subject: c.Subject.String(), SHA256: hex.EncodeToString(sum[:]), NotAfter: c.NotAfter.UTC()}, true
}

func invalid(detail string) error {
	return apierr.New(apierr.Invalid, apierr.CodeInvalidRequest, "%s", detail)
}
