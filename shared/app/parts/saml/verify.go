package saml

import (
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/beevik/etree"
	dsig "github.com/russellhaering/goxmldsig"
	"github.com/russellhaering/goxmldsig/etreeutils"

	"docent/shared/signon"
)

const (
	protocolSpace  = "urn:oasis:names:tc:SAML:2.0:protocol"
	assertionSpace = "urn:oasis:names:tc:SAML:2.0:assertion"
	signatureSpace = "http://www.w3.org/2000/09/xmldsig#"
	success        = "urn:oasis:names:tc:SAML:2.0:status:Success"
	bearer         = "urn:oasis:names:tc:SAML:2.0:cm:bearer"
)

// verifier verifies one response. The library's own verification is not used, for four reasons. It reads the assertion
// from the text as sent instead of the text that the signature covers. It accepts several assertions, and SHA-1. It
// cannot be given a clock. If the provider has two certificates, it requires one in every signature.
type verifier struct {
	entityID     string // of the provider
	audience     string // our entity id
	acs          string // our address
	request      string // id of our request
	attribute    string // with the user name; empty: the NameID
	certificates []*x509.Certificate
	now          time.Time
}

// verify returns whom the response names. Its shape is checked first, so that a signature covers exactly what is read:
// there is one response, with one assertion as its child, and signatures are children of these two and refer to them. What is read then is the canonical
// text that a signature covers.
func (v verifier) verify(text []byte) (signon.Identity, error) {
	response, err := parseResponse(text)
	if err != nil {
		return signon.Identity{}, err
	}
	assertion, err := shape(response)
	if err != nil {
		// A response without an assertion says why.
		if status := v.status(response); status != nil {
			return signon.Identity{}, status
		}
		return signon.Identity{}, err
	}
	verifiedResponse, byResponse, err := v.signed(response)
	if err != nil {
		return signon.Identity{}, err
	}
	verified, by, err := v.signed(assertion)
	if err != nil {
		return signon.Identity{}, err
	}
	if verified == nil { // then the response is signed, or shape would have failed
		if verified, err = only(verifiedResponse, assertionSpace, "Assertion"); err != nil {
			return signon.Identity{}, err
		}
		by = byResponse
	}
	if verifiedResponse != nil {
		response = verifiedResponse
	}
	if err := v.response(response, verifiedResponse != nil); err != nil {
		return signon.Identity{}, err
	}
	who, err := v.assertion(verified)
	who.SignedBy = by
	return who, err
}

// signatureMethods and digestMethods are the algorithms that are accepted: none with SHA-1.
var (
	signatureMethods = []string{dsig.RSASHA256SignatureMethod, dsig.RSASHA384SignatureMethod, dsig.RSASHA512SignatureMethod,
		dsig.ECDSASHA256SignatureMethod, dsig.ECDSASHA384SignatureMethod, dsig.ECDSASHA512SignatureMethod}
	digestMethods = []string{"http://www.w3.org/2001/04/xmlenc#sha256", "http://www.w3.org/2001/04/xmldsig-more#sha384", "http://www.w3.org/2001/04/xmlenc#sha512"}
)

// signed verifies the signature of el, if it has one, and returns what it covers and the SHA-256
// of the certificate. Every certificate is tried, so that a provider may change its own: it lists
// the next one next to the current one. What the signature says about its key is ignored.
func (v verifier) signed(el *etree.Element) (*etree.Element, string, error) {
	signature := child(el, signatureSpace, "Signature")
	if signature == nil {
		return nil, "", nil
	}
	if err := checkSignature(signature, el.SelectAttrValue("ID", "")); err != nil {
		return nil, "", err
	}
	detached, err := detach(el)
	if err != nil {
		return nil, "", malformed("%w", err)
	}
	own := child(detached, signatureSpace, "Signature")
	if key := child(own, signatureSpace, "KeyInfo"); key != nil {
		own.RemoveChild(key)
	}
	failures, expired := []error{errors.New("no certificate verifies the signature")}, 0
	for _, c := range v.certificates {
		if v.now.After(c.NotAfter) || v.now.Before(c.NotBefore) {
			expired++
			continue
		}
		context := dsig.NewDefaultValidationContext(&dsig.MemoryX509CertificateStore{Roots: []*x509.Certificate{c}})
		context.IdAttribute, context.Clock = "ID", dsig.NewFakeClockAt(v.now)
		covered, err := context.Validate(detached)
		if err != nil {
			failures = append(failures, err)
			continue
		}
		if covered == nil || covered.Tag != el.Tag || covered.NamespaceURI() != el.NamespaceURI() || covered.SelectAttrValue("ID", "") != el.SelectAttrValue("ID", "") {
			return nil, "", fail(signon.BadSignature, "the signature covers another element")
		}
		sum := sha256.Sum256(c.Raw)
		return covered, hex.EncodeToString(sum[:]), nil
	}
	if expired == len(v.certificates) {
		return nil, "", &signon.Failure{Reason: signon.CertificateExpired}
	}
	return nil, "", &signon.Failure{Reason: signon.BadSignature, Cause: errors.Join(failures...)}
}

// checkSignature returns an error unless the signature has one reference, which is to id, and
// strong algorithms.
func checkSignature(signature *etree.Element, id string) error {
	info, err := only(signature, signatureSpace, "SignedInfo")
	if err != nil {
		return err
	}
	reference, err := only(info, signatureSpace, "Reference")
	if err != nil {
		return err
	}
	if id == "" || reference.SelectAttrValue("URI", "") != "#"+id {
		return fail(signon.BadSignature, "the signature refers to another element")
	}
	method, err := only(info, signatureSpace, "SignatureMethod")
	if err != nil {
		return err
	}
	digest, err := only(reference, signatureSpace, "DigestMethod")
	if err != nil {
		return err
	}
	for _, a := range []struct {
		el      *etree.Element
		allowed []string
	}{{method, signatureMethods}, {digest, digestMethods}} {
		if name := a.el.SelectAttrValue("Algorithm", ""); !slices.Contains(a.allowed, name) {
			return fail(signon.WeakSignature, "algorithm %.100q", name)
		}
	}
	return nil
}

// detach returns a copy of el with the namespaces that its parents declare.
func detach(el *etree.Element) (*etree.Element, error) {
	context, err := etreeutils.NSBuildParentContext(el)
	if err != nil {
		return nil, err
	}
	return etreeutils.NSDetatch(context, el)
}

// status returns a Failure if the response says that the sign-in failed (section 3.2.2).
func (v verifier) status(response *etree.Element) error {
	code := child(child(response, protocolSpace, "Status"), protocolSpace, "StatusCode")
	if code == nil {
		return malformed("no status")
	}
	if value := code.SelectAttrValue("Value", ""); value != success {
		inner := child(code, protocolSpace, "StatusCode")
		detail := ""
		if inner != nil {
			detail = inner.SelectAttrValue("Value", "")
		}
		return fail(signon.ProviderRefused, "status %.100q %.100q", value, detail)
	}
	return nil
}

// response checks what a response says about itself (section 3.2.2).
func (v verifier) response(el *etree.Element, signed bool) error {
	if err := v.status(el); err != nil {
		return err
	}
	if el.SelectAttrValue("Version", "") != "2.0" {
		return malformed("the response has another version")
	}
	if to := el.SelectAttr("Destination"); to == nil && signed || to != nil && to.Value != v.acs {
		return fail(signon.OtherRecipient, "the destination is not %s", v.acs)
	}
	if el.SelectAttrValue("InResponseTo", "") != v.request {
		return fail(signon.OtherRequest, "the response is to another request")
	}
	if issuer := child(el, assertionSpace, "Issuer"); issuer != nil && text(issuer) != v.entityID {
		return fail(signon.OtherIssuer, "the response is of %.100q", text(issuer))
	}
	return v.issued(el)
}

// issued checks IssueInstant: an instant of the future is as wrong as one before the request
// could be made.
func (v verifier) issued(el *etree.Element) error {
	at, ok := instant(el, "IssueInstant")
	if !ok {
		return malformed("%s has no IssueInstant", el.Tag)
	}
	if at.After(v.now.Add(signon.Skew)) || at.Before(v.now.Add(-signon.RequestLife-signon.Skew)) {
		return fail(signon.Expired, "%s is of %s, now is %s", el.Tag, at, v.now)
	}
	return nil
}

// child returns the first child of el with the name, nil without one. el may be nil.
func child(el *etree.Element, space, tag string) *etree.Element {
	if el == nil {
		return nil
	}
	for _, c := range el.ChildElements() {
		if c.Tag == tag && c.NamespaceURI() == space {
			return c
		}
	}
	return nil
}

// children returns all children of el with the name.
func children(el *etree.Element, space, tag string) (all []*etree.Element) {
	for _, c := range el.ChildElements() {
		if c.Tag == tag && c.NamespaceURI() == space {
			all = append(all, c)
		}
	}
	return all
}

// only returns the child of el with the name, of which there must be one.
func only(el *etree.Element, space, tag string) (*etree.Element, error) {
	if all := children(el, space, tag); len(all) == 1 {
		return all[0], nil
	}
	return nil, malformed("%s needs one %s", el.Tag, tag)
}

// text returns the text of an element that has nothing else.
func text(el *etree.Element) string {
	if len(el.ChildElements()) > 0 {
		return ""
	}
	return strings.TrimSpace(el.Text())
}

// instant reads a time (section 1.3.3).
func instant(el *etree.Element, name string) (time.Time, bool) {
	at, err := time.Parse(time.RFC3339Nano, el.SelectAttrValue(name, ""))
	return at, err == nil
}
