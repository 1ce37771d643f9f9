package saml_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"errors"
	"math/big"
	"strings"
	"testing"
	"time"

	"docent/shared/apierr"
	"docent/shared/app/parts/saml"
	"docent/shared/team"
)

var notAfter = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)

// certificate makes one that signs nothing, in base64.
func certificate(t testing.TB) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "idp.test"}, NotBefore: notAfter.AddDate(-1, 0, 0), NotAfter: notAfter}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(der)
}

func descriptor(use, certificate string) string {
	return `<KeyDescriptor` + use + `><KeyInfo xmlns="http://www.w3.org/2000/09/xmldsig#"><X509Data><X509Certificate>` + certificate + `</X509Certificate></X509Data></KeyInfo></KeyDescriptor>`
}

const (
	head    = `<?xml version="1.0" encoding="UTF-8"?><md:EntityDescriptor xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata" xmlns="urn:oasis:names:tc:SAML:2.0:metadata" entityID="https://idp.test/">`
	idp     = `<md:IDPSSODescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol">`
	post    = `<md:SingleSignOnService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST" Location="https://idp.test/post"/>`
	direct  = `<md:SingleSignOnService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect" Location="https://idp.test/redirect"/>`
	idpEnd  = `</md:IDPSSODescriptor>`
	headEnd = `</md:EntityDescriptor>`
)

func TestParse(t *testing.T) {
	t.Parallel()
	c := certificate(t)
	m, err := saml.Parse([]byte(head + idp + descriptor(` use="encryption"`, "AAAA") + descriptor(` use="signing"`, "\n  "+c[:40]+"\n  "+c[40:]+"\n") + descriptor("", c) + post + direct + idpEnd + headEnd))
	if err != nil || m.EntityID != "https://idp.test/" || m.SingleSignOnURL != "https://idp.test/redirect" || len(m.Certificates) != 2 ||
		m.Certificates[0].Subject != "CN=idp.test" || !m.Certificates[0].NotAfter.Equal(notAfter) || len(m.Certificates[0].SHA256) != 64 {
		t.Errorf("%+v, %v", m, err)
	}
	if m, err = saml.Parse([]byte(head + idp + descriptor("", c) + post + idpEnd + headEnd)); err != nil || m.SingleSignOnURL != "https://idp.test/post" {
		t.Errorf("%+v, %v", m, err)
	}
	if _, err = saml.Parse([]byte("\ufeff" + head + idp + descriptor("", c) + post + idpEnd + headEnd + "\n<!-- end -->\r\n")); err != nil {
		t.Errorf("with a byte order mark, and a comment after it: %v", err)
	}
	deepest := strings.Repeat("<x>", 31) + strings.Repeat("</x>", 31) // in one element, so 32 levels
	if _, err = saml.Parse([]byte(head + deepest + idp + descriptor("", c) + post + idpEnd + headEnd)); err != nil {
		t.Errorf("32 levels: %v", err)
	}
}

func TestWhatIsRefused(t *testing.T) {
	t.Parallel()
	c := certificate(t)
	good := idp + descriptor("", c) + direct + idpEnd + headEnd
	for name, text := range map[string]string{
		"nothing":                  "",
		"no XML":                   "{}",
		"another document":         "<html></html>",
		"no namespace":             `<EntityDescriptor entityID="x"></EntityDescriptor>`,
		"several entities":         `<EntitiesDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata">` + head[38:] + good + `</EntitiesDescriptor>`,
		"no entity id":             strings.Replace(head, `entityID="https://idp.test/"`, "", 1) + good,
		"a service provider":       head + `<md:SPSSODescriptor></md:SPSSODescriptor>` + headEnd,
		"no certificate":           head + idp + direct + idpEnd + headEnd,
		"only for encryption":      head + idp + descriptor(` use="encryption"`, c) + direct + idpEnd + headEnd,
		"a certificate of dirt":    head + idp + descriptor("", "AAAA") + direct + idpEnd + headEnd,
		"no base64":                head + idp + descriptor("", "!") + direct + idpEnd + headEnd,
		"no place to sign on":      head + idp + descriptor("", c) + idpEnd + headEnd,
		"a place that runs":        head + idp + descriptor("", c) + strings.Replace(direct, "https://idp.test/redirect", "javascript:alert(1)", 1) + idpEnd + headEnd,
		"cut off":                  head + idp,
		"an unknown entity":        head + "&x;" + good,
		"a document type":          strings.Replace(head, "?>", "?><!DOCTYPE x>", 1) + good,
		"an external entity":       strings.Replace(head, "?>", `?><!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>`, 1) + "&e;" + good,
		"an expanding entity":      strings.Replace(head, "?>", `?><!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;&a;">]>`, 1) + "&b;" + good,
		"a processing instruction": head + "<?php x?>" + good,
		"too deep":                 head + strings.Repeat("<x>", 32) + strings.Repeat("</x>", 32) + good,
		"another encoding":         strings.Replace(head, "UTF-8", "UTF-16", 1) + good,
		"too many certificates":    head + idp + strings.Repeat(descriptor("", c), 21) + direct + idpEnd + headEnd,
		"text after it":            head + good + "\nSaved from the page of the provider",
		"text before it":           strings.Replace(head, "?>", "?> Metadata:", 1) + good,
		"a CDATA section after it": head + good + "<![CDATA[x]]>",
		"another entity after it":  head + good + "<x/>",
		"an end after it":          head + good + "</x>text<y>",
		"too many attributes":      head + "<x " + strings.Repeat(`a="" `, 65) + "/>" + good,
	} {
		_, err := saml.Parse([]byte(text))
		var e *apierr.Error
		if !errors.As(err, &e) || e.Kind != apierr.Invalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err := saml.Parse([]byte(head + strings.Repeat(" ", team.MaxSAMLBytes) + good))
	if !apierr.IsCode(err, apierr.CodeTooLarge) {
		t.Errorf("a megabyte and more: %v", err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(head + idp + descriptor("", certificate(f)) + direct + idpEnd + headEnd))
	f.Add([]byte(`<!DOCTYPE x [<!ENTITY a "b">]><a>&a;</a>`))
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := saml.Parse(text)
		if err != nil {
			var e *apierr.Error
			if !errors.As(err, &e) {
				t.Fatalf("%v", err)
			}
			return
		}
		if m.EntityID == "" || m.SingleSignOnURL == "" || len(m.Certificates) == 0 {
			t.Fatalf("%+v", m)
		}
	})
}
