package saml

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"

	"github.com/beevik/etree"
	xrv "github.com/mattermost/xml-roundtrip-validator"

	"docent/shared/signon"
)

// Bounds of a response. Responses of providers nest about ten levels deep.
const (
	maxElements   = 5000
	maxAttributes = 64
)

// parseResponse returns the root of a response, which must be plain: no document type, entities,
// comments or processing instructions. Parsers differ in how they read these; a comment, which
// signatures do not cover, may split a name in two.
func parseResponse(text []byte) (*etree.Element, error) {
	if err := checkPlain(text); err != nil {
		return nil, err
	}
	if err := xrv.Validate(bytes.NewReader(text)); err != nil {
		return nil, malformed("the response reads differently when written again: %w", err)
	}
	document := etree.NewDocument()
	if err := document.ReadFromBytes(text); err != nil {
		return nil, malformed("%w", err)
	}
	root := document.Root()
	if root == nil || root.Tag != "Response" || root.NamespaceURI() != protocolSpace {
		return nil, malformed("no response")
	}
	return root, nil
}

// checkPlain reads the tokens of a response without keeping them.
func checkPlain(text []byte) error {
	d := xml.NewDecoder(bytes.NewReader(text)) //nolint:gosec // only tokens are read, and counted
	d.CharsetReader = func(string, io.Reader) (io.Reader, error) { return nil, errors.New("not UTF-8") }
	depth, elements := 0, 0
	for {
		token, err := d.RawToken()
		if errors.Is(err, io.EOF) {
			if depth != 0 || elements == 0 {
				return malformed("the response is not whole")
			}
			return nil
		}
		if err != nil {
			return malformed("no XML in UTF-8: %w", err)
		}
		switch t := token.(type) {
		case xml.Directive:
			return malformed("a document type")
		case xml.Comment:
			return malformed("a comment")
		case xml.ProcInst:
			if t.Target != "xml" || elements > 0 {
				return malformed("a processing instruction")
			}
		case xml.StartElement:
			if depth == 0 && elements > 0 {
				return malformed("two documents")
			}
			depth++
			elements++
			if depth > maxDepth || elements > maxElements || len(t.Attr) > maxAttributes {
				return malformed("too many elements or attributes")
			}
		case xml.EndElement:
			depth--
		}
	}
}

// shape returns the only assertion of the response. It returns an error for a response in which
// a signature could cover something else than what is read: with another assertion anywhere, with
// signatures elsewhere, or with two elements of one id.
func shape(response *etree.Element) (*etree.Element, error) {
	ids, signatures := map[string]bool{}, 0
	var assertion *etree.Element
	var visit func(el *etree.Element) error
	visit = func(el *etree.Element) error {
		for _, a := range el.Attr {
			if !strings.EqualFold(a.Key, "id") {
				continue
			}
			if ids[a.Value] {
				return malformed("two elements have one id")
			}
			ids[a.Value] = true
		}
		parent := el.Parent()
		switch el.Tag {
		case "EncryptedAssertion":
			return &signon.Failure{Reason: signon.Encrypted}
		case "Assertion":
			if assertion != nil || parent != response || el.NamespaceURI() != assertionSpace {
				return malformed("an assertion that is not the only child of its kind")
			}
			assertion = el
		case "Response":
			if el != response {
				return malformed("a response within another")
			}
		case "Signature":
			if parent != response && parent != assertion || el.NamespaceURI() != signatureSpace || len(children(parent, signatureSpace, "Signature")) != 1 {
				return malformed("a signature that is not of the response or the assertion")
			}
			signatures++
		case "Object", "Manifest", "SignatureProperties":
			if el.NamespaceURI() == signatureSpace {
				return malformed("a signature with content of its own")
			}
		}
		for _, c := range el.ChildElements() {
			if err := visit(c); err != nil {
				return err
			}
		}
		return nil
	}
	if err := visit(response); err != nil {
		return nil, err
	}
	if assertion == nil {
		return nil, malformed("no assertion")
	}
	if signatures == 0 {
		return nil, &signon.Failure{Reason: signon.Unsigned}
	}
	return assertion, nil
}
