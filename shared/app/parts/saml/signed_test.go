package saml_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/base64"
	"reflect"
	"testing"

	"github.com/beevik/etree"
	dsig "github.com/russellhaering/goxmldsig"

	"docent/shared/app/parts/saml"
)

// TestSignedMetadata signs metadata as identity providers publish it, with an enveloped
// signature (SAML V2.0 Metadata, section 3). It also requires the signature library
// directly, so that its version is chosen here: versions before 1.6.0 can be misled
// about which element a signature covers.
func TestSignedMetadata(t *testing.T) {
	t.Parallel()
	c := certificate(t)
	plain := head + idp + descriptor("", c) + post + idpEnd + headEnd
	want, err := saml.Parse([]byte(plain))
	if err != nil {
		t.Fatal(err)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := base64.StdEncoding.DecodeString(c)
	if err != nil {
		t.Fatal(err)
	}
	signing, err := dsig.NewSigningContext(key, [][]byte{der})
	if err != nil {
		t.Fatal(err)
	}
	document := etree.NewDocument()
	if err := document.ReadFromString(plain); err != nil {
		t.Fatal(err)
	}
	element, err := signing.SignEnveloped(document.Root())
	if err != nil {
		t.Fatal(err)
	}
	document.SetRoot(element)
	text, err := document.WriteToBytes()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := saml.Parse(text); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v; unsigned: %+v", got, err, want)
	}
}
