// Package samltest has a SAML identity provider for tests, which also makes the responses that a
// provider or an attacker should never send.
package samltest

import (
	"bytes"
	"cmp"
	"compress/flate"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/xml"
	"errors"
	"fmt"
	"html/template"
	"io"
	"math/big"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/beevik/etree"
	dsig "github.com/russellhaering/goxmldsig"
)

// Provider is an identity provider.
type Provider struct {
	EntityID string
	SignOn   string // where it takes requests
	User     string // who signs in
	Now      func() time.Time
	keys     []pair // the first signs; all are in the metadata
}

type pair struct {
	key *ecdsa.PrivateKey
	der []byte
}

// New returns a provider with one certificate.
func New(t testing.TB, entityID, signOn string, now func() time.Time) *Provider {
	t.Helper()
	p, err := Make(entityID, signOn, now)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Make is New outside of tests.
func Make(entityID, signOn string, now func() time.Time) (*Provider, error) {
	p := &Provider{EntityID: entityID, SignOn: signOn, Now: now}
	return p, p.rotate(now().AddDate(1, 0, 0))
}

// Rotate makes a new certificate, which signs from then on. The metadata lists it next to the
// earlier ones.
func (p *Provider) Rotate(t testing.TB, notAfter time.Time) {
	t.Helper()
	if err := p.rotate(notAfter); err != nil {
		t.Fatal(err)
	}
}

func (p *Provider) rotate(notAfter time.Time) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(int64(len(p.keys) + 1)), Subject: pkix.Name{CommonName: "idp.test"},
		NotBefore: p.Now().AddDate(-1, 0, 0), NotAfter: notAfter}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return err
	}
	p.keys = append([]pair{{key, der}}, p.keys...)
	return nil
}

// Metadata returns the provider's metadata.
func (p *Provider) Metadata() string {
	text := `<EntityDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata" entityID="` + p.EntityID + `">` +
		`<IDPSSODescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol">`
	for _, k := range p.keys {
		text += `<KeyDescriptor use="signing"><KeyInfo xmlns="http://www.w3.org/2000/09/xmldsig#"><X509Data><X509Certificate>` +
			base64.StdEncoding.EncodeToString(k.der) + `</X509Certificate></X509Data></KeyInfo></KeyDescriptor>`
	}
	return text + `<SingleSignOnService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect" Location="` + p.SignOn + `"/></IDPSSODescriptor></EntityDescriptor>`
}

// Request is the request of a service provider.
type Request struct {
	ID       string `xml:"ID,attr"`
	ACS      string `xml:"AssertionConsumerServiceURL,attr"`
	Audience string `xml:"Issuer"`
	State    string `xml:"-"`
}

// ReadRequest reads the request in the address to which a browser was sent.
func ReadRequest(address string) (Request, error) {
	u, err := url.Parse(address)
	if err != nil {
		return Request{}, err
	}
	packed, err := base64.StdEncoding.DecodeString(u.Query().Get("SAMLRequest"))
	if err != nil {
		return Request{}, err
	}
	text, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(packed)), 1<<20))
	if err != nil {
		return Request{}, err
	}
	r := Request{State: u.Query().Get("RelayState")}
	err = xml.Unmarshal(text, &r)
	if err == nil && (r.ID == "" || r.ACS == "") {
		err = errors.New("the request lacks an id or an address")
	}
	return r, err
}

// Options changes a response.
type Options struct {
	Issuer, Audience, Recipient, Destination, InResponseTo, ID string // instead of what is right
	Name                                                       string // text of the NameID as XML; empty: User
	Attributes                                                 string // XML of an AttributeStatement's content
	Status                                                     string
	Issued                                                     time.Time // zero: now; all times follow it
	Session                                                    time.Time // SessionNotOnOrAfter
	SignResponse, NoSignature                                  bool      // the assertion is signed otherwise
	Method                                                     string    // of the signature
	NoCertificate                                              bool      // in the signature
}

const success = "urn:oasis:names:tc:SAML:2.0:status:Success"

// Response returns a response to r.
func (p *Provider) Response(r Request, o Options) (*etree.Document, error) {
	issued := o.Issued
	if issued.IsZero() {
		issued = p.Now()
	}
	at := func(d time.Duration) string { return issued.Add(d).UTC().Format("2006-01-02T15:04:05.000Z") }
	session := ""
	if !o.Session.IsZero() {
		session = ` SessionNotOnOrAfter="` + o.Session.UTC().Format(time.RFC3339) + `"`
	}
	attributes := ""
	if o.Attributes != "" {
		attributes = `<saml:AttributeStatement>` + o.Attributes + `</saml:AttributeStatement>`
	}
	issuer, request := cmp.Or(o.Issuer, p.EntityID), cmp.Or(o.InResponseTo, r.ID)
	text := `<samlp:Response xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" ID="response-` + rand.Text() +
		`" Version="2.0" IssueInstant="` + at(0) + `" Destination="` + cmp.Or(o.Destination, r.ACS) + `" InResponseTo="` + request + `">` +
		`<saml:Issuer>` + issuer + `</saml:Issuer><samlp:Status><samlp:StatusCode Value="` + cmp.Or(o.Status, success) + `"/></samlp:Status>` +
		`<saml:Assertion ID="` + cmp.Or(o.ID, "assertion-"+rand.Text()) + `" Version="2.0" IssueInstant="` + at(0) + `"><saml:Issuer>` + issuer + `</saml:Issuer>` +
		`<saml:Subject><saml:NameID Format="urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress">` + cmp.Or(o.Name, p.User) + `</saml:NameID>` +
		`<saml:SubjectConfirmation Method="urn:oasis:names:tc:SAML:2.0:cm:bearer"><saml:SubjectConfirmationData NotOnOrAfter="` + at(5*time.Minute) +
		`" Recipient="` + cmp.Or(o.Recipient, r.ACS) + `" InResponseTo="` + request + `"/></saml:SubjectConfirmation></saml:Subject>` +
		`<saml:Conditions NotBefore="` + at(-time.Minute) + `" NotOnOrAfter="` + at(5*time.Minute) + `"><saml:AudienceRestriction><saml:Audience>` +
		cmp.Or(o.Audience, r.Audience) + `</saml:Audience></saml:AudienceRestriction></saml:Conditions>` +
		`<saml:AuthnStatement AuthnInstant="` + at(0) + `"` + session + `><saml:AuthnContext><saml:AuthnContextClassRef>` +
		`urn:oasis:names:tc:SAML:2.0:ac:classes:Password</saml:AuthnContextClassRef></saml:AuthnContext></saml:AuthnStatement>` + attributes +
		`</saml:Assertion></samlp:Response>`
	d := etree.NewDocument()
	if err := d.ReadFromString(text); err != nil {
		return nil, err
	}
	if o.NoSignature {
		return d, nil
	}
	if o.SignResponse {
		return d, p.sign(d.Root(), o)
	}
	return d, p.sign(d.FindElement("//Assertion"), o)
}

// sign adds a signature to el, after its issuer.
func (p *Provider) sign(el *etree.Element, o Options) error {
	context, err := dsig.NewSigningContext(p.keys[0].key, [][]byte{p.keys[0].der})
	if err != nil {
		return err
	}
	context.Canonicalizer = dsig.MakeC14N10ExclusiveCanonicalizerWithPrefixList("")
	if err := context.SetSignatureMethod(cmp.Or(o.Method, dsig.ECDSASHA256SignatureMethod)); err != nil {
		return err
	}
	signature, err := context.ConstructSignature(detached(el), true)
	if err != nil {
		return err
	}
	if o.NoCertificate {
		signature.RemoveChild(signature.FindElement("./KeyInfo"))
	}
	el.InsertChildAt(1, signature)
	return nil
}

// detached returns a copy of el that declares the namespaces of its parents.
func detached(el *etree.Element) *etree.Element {
	c := el.Copy()
	for parent := el.Parent(); parent != nil; parent = parent.Parent() {
		for _, a := range parent.Attr {
			if a.Space == "xmlns" && c.SelectAttr("xmlns:"+a.Key) == nil {
				c.CreateAttr("xmlns:"+a.Key, a.Value)
			}
		}
	}
	return c
}

// Encode returns a document as a form has it.
func Encode(d *etree.Document) (string, error) {
	text, err := d.WriteToBytes()
	return base64.StdEncoding.EncodeToString(text), err
}

// Form returns the form with which the browser returns to the service provider.
func (p *Provider) Form(r Request, o Options) (url.Values, error) {
	d, err := p.Response(r, o)
	if err != nil {
		return nil, err
	}
	encoded, err := Encode(d)
	return url.Values{"SAMLResponse": {encoded}, "RelayState": {r.State}}, err
}

var page = template.Must(template.New("").Parse(`<!DOCTYPE html><html lang="en"><title>Identity provider</title><form method="post" action="{{.ACS}}">` +
	`{{range $name, $values := .Form}}{{range $values}}<input type="hidden" name="{{$name}}" value="{{.}}">{{end}}{{end}}<button id="sign-in">Sign in as {{.User}}</button></form></html>`))

// ServeHTTP shows a page with a button that signs the User in.
func (p *Provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	asked, err := ReadRequest(r.URL.String())
	if err != nil {
		http.Error(w, fmt.Sprint(err), http.StatusBadRequest)
		return
	}
	form, err := p.Form(asked, Options{})
	if err != nil {
		http.Error(w, fmt.Sprint(err), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html")
	_ = page.Execute(w, map[string]any{"ACS": asked.ACS, "Form": form, "User": p.User})
}
