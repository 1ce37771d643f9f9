package saml_test

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"errors"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/beevik/etree"
	dsig "github.com/russellhaering/goxmldsig"

	"docent/shared/app/parts/saml"
	"docent/shared/app/parts/saml/samltest"
	"docent/shared/signon"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// visit is a sign-in of ada@acme.test in progress.
type visit struct {
	idp   *samltest.Provider
	asked samltest.Request
	r     signon.Request
	at    signon.Party
}

func newVisit(t testing.TB) *visit {
	t.Helper()
	v := &visit{idp: samltest.New(t, "https://idp.test/", "https://idp.test/sso?tenant=1", func() time.Time { return noon })}
	v.idp.User = "ada@acme.test"
	v.at = signon.Party{EntityID: "https://docent.test/v1/sso/acme/metadata", ACS: "https://docent.test/v1/sso/acme/acs", Metadata: []byte(v.idp.Metadata()), Now: noon}
	to, err := saml.Protocol{}.Begin(t.Context(), v.at, &v.r, "state")
	if err != nil {
		t.Fatal(err)
	}
	if v.asked, err = samltest.ReadRequest(to.URL); err != nil || v.asked.State != "state" || v.asked.ID != v.r.ID || !strings.Contains(to.URL, "tenant=1&") {
		t.Fatalf("%s: %+v, %v", to.URL, v.asked, err)
	}
	return v
}

// finish returns why the response is refused, and whom it names.
func (v *visit) finish(t testing.TB, encoded string) (signon.Reason, signon.Identity) {
	t.Helper()
	who, err := saml.Protocol{}.Finish(t.Context(), v.at, v.r, url.Values{"SAMLResponse": {encoded}})
	var f *signon.Failure
	if err != nil && !errors.As(err, &f) {
		t.Fatal(err)
	}
	if f != nil {
		return f.Reason, signon.Identity{}
	}
	return "", who
}

func (v *visit) respond(t testing.TB, o samltest.Options) *etree.Document {
	t.Helper()
	d, err := v.idp.Response(v.asked, o)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func encode(t testing.TB, d *etree.Document) string {
	t.Helper()
	text, err := samltest.Encode(d)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestGoodResponses(t *testing.T) {
	t.Parallel()
	until := noon.Add(time.Hour)
	for name, o := range map[string]samltest.Options{
		"signed assertion": {}, "signed response": {SignResponse: true}, "no certificate in the signature": {NoCertificate: true},
		"SHA-512": {Method: dsig.ECDSASHA512SignatureMethod}, "our clock is two minutes late": {Issued: noon.Add(2 * time.Minute)},
		"five minutes on the way": {Issued: noon.Add(-6 * time.Minute)}, "a session that ends": {Session: until},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := newVisit(t)
			reason, who := v.finish(t, encode(t, v.respond(t, o)))
			if reason != "" || who.Name != "ada@acme.test" || who.ProofID == "" || who.ProofEnd.Before(noon) || len(who.SignedBy) != 64 || who.Issuer != "https://idp.test/" {
				t.Errorf("%q, %+v", reason, who)
			}
			if (who.NotAfter != nil) != (name == "a session that ends") || who.NotAfter != nil && !who.NotAfter.Equal(until) {
				t.Errorf("not after %v", who.NotAfter)
			}
		})
	}
}

func TestCertificateRollover(t *testing.T) {
	t.Parallel()
	v := newVisit(t)
	_, first := v.finish(t, encode(t, v.respond(t, samltest.Options{})))
	v.idp.Rotate(t, noon.AddDate(2, 0, 0))
	if reason, _ := v.finish(t, encode(t, v.respond(t, samltest.Options{}))); reason != signon.BadSignature {
		t.Errorf("a new certificate before its metadata: %q", reason)
	}
	v.at.Metadata = []byte(v.idp.Metadata())
	for _, o := range []samltest.Options{{}, {NoCertificate: true}} {
		if reason, second := v.finish(t, encode(t, v.respond(t, o))); reason != "" || second.SignedBy == first.SignedBy {
			t.Errorf("both certificates listed: %q, signed by %s", reason, second.SignedBy)
		}
	}
	v.at.Now = noon.AddDate(3, 0, 0)
	v.idp.Now = func() time.Time { return v.at.Now }
	if reason, _ := v.finish(t, encode(t, v.respond(t, samltest.Options{}))); reason != signon.CertificateExpired {
		t.Errorf("all certificates expired: %q", reason)
	}
}

func TestBadResponses(t *testing.T) {
	t.Parallel()
	other := samltest.New(t, "https://idp.test/", "https://idp.test/sso", func() time.Time { return noon })
	other.User = "ada@acme.test"
	for name, c := range map[string]struct {
		o    samltest.Options
		edit func(t *testing.T, v *visit, d *etree.Document)
		want signon.Reason
	}{
		"wrong signature":              {edit: func(t *testing.T, v *visit, d *etree.Document) { d.FindElement("//NameID").SetText("eve@acme.test") }, want: signon.BadSignature},
		"wrong signature, by response": {o: samltest.Options{SignResponse: true}, edit: func(t *testing.T, v *visit, d *etree.Document) { d.FindElement("//NameID").SetText("eve@acme.test") }, want: signon.BadSignature},
		"signature value changed":      {edit: func(t *testing.T, v *visit, d *etree.Document) { d.FindElement("//SignatureValue").SetText("AAAA") }, want: signon.BadSignature},
		"signed by another key, which it carries": {edit: func(t *testing.T, v *visit, d *etree.Document) {
			forged, err := other.Response(v.asked, samltest.Options{})
			if err != nil {
				t.Fatal(err)
			}
			d.SetRoot(forged.Root())
		}, want: signon.BadSignature},
		"expired":           {o: samltest.Options{Issued: noon.Add(-8 * time.Minute)}, want: signon.Expired},
		"from an hour ago":  {o: samltest.Options{Issued: noon.Add(-time.Hour)}, want: signon.Expired},
		"from the future":   {o: samltest.Options{Issued: noon.Add(2*time.Minute + time.Second)}, want: signon.Expired},
		"session ended":     {o: samltest.Options{Session: noon}, want: signon.Expired},
		"other audience":    {o: samltest.Options{Audience: "https://docent.test/v1/sso/rival/metadata"}, want: signon.OtherAudience},
		"other recipient":   {o: samltest.Options{Recipient: "https://docent.test/v1/sso/rival/acs"}, want: signon.OtherRecipient},
		"other destination": {o: samltest.Options{Destination: "https://evil.test/acs"}, want: signon.OtherRecipient},
		"other issuer":      {o: samltest.Options{Issuer: "https://idp.rival.test/"}, want: signon.OtherIssuer},
		"another request":   {o: samltest.Options{InResponseTo: "id-other"}, want: signon.OtherRequest},
		"unsigned":          {o: samltest.Options{NoSignature: true}, want: signon.Unsigned},
		"signature removed": {edit: func(t *testing.T, v *visit, d *etree.Document) { remove(d, "//Signature") }, want: signon.Unsigned},
		"comment in NameID": {o: samltest.Options{Name: "ada@acme.test.evil.test"}, edit: func(t *testing.T, v *visit, d *etree.Document) {
			name := d.FindElement("//NameID")
			name.SetText("ada@acme.test")
			name.AddChild(etree.NewComment("x"))
			name.AddChild(etree.NewText(".evil.test"))
		}, want: signon.Malformed},
		"comment elsewhere": {edit: func(t *testing.T, v *visit, d *etree.Document) { d.Root().AddChild(etree.NewComment("x")) }, want: signon.Malformed},
		"processing instruction in NameID": {edit: func(t *testing.T, v *visit, d *etree.Document) {
			d.FindElement("//NameID").AddChild(etree.NewProcInst("x", "y"))
		}, want: signon.Malformed},
		"markup in NameID":             {o: samltest.Options{Name: "<b xmlns=\"\">ada@acme.test</b>"}, want: signon.NoName},
		"empty NameID":                 {o: samltest.Options{Name: " "}, want: signon.NoName},
		"refused by the provider":      {o: samltest.Options{Status: "urn:oasis:names:tc:SAML:2.0:status:Responder"}, want: signon.ProviderRefused},
		"refused without an assertion": {o: samltest.Options{Status: "urn:oasis:names:tc:SAML:2.0:status:Requester"}, edit: func(t *testing.T, v *visit, d *etree.Document) { remove(d, "//Assertion") }, want: signon.ProviderRefused},
		"no assertion":                 {edit: func(t *testing.T, v *visit, d *etree.Document) { remove(d, "//Assertion") }, want: signon.Malformed},
		"encrypted": {edit: func(t *testing.T, v *visit, d *etree.Document) {
			remove(d, "//Assertion")
			d.Root().CreateElement("saml:EncryptedAssertion")
		}, want: signon.Encrypted},
		"SHA-1": {o: samltest.Options{Method: dsig.ECDSASHA1SignatureMethod}, want: signon.WeakSignature},
		"another method named": {edit: func(t *testing.T, v *visit, d *etree.Document) {
			d.FindElement("//SignatureMethod").CreateAttr("Algorithm", "http://www.w3.org/2000/09/xmldsig#hmac-sha1")
		}, want: signon.WeakSignature},
		"two references": {edit: func(t *testing.T, v *visit, d *etree.Document) {
			d.FindElement("//SignedInfo").AddChild(d.FindElement("//Reference").Copy())
		}, want: signon.Malformed},
		"reference to everything": {edit: func(t *testing.T, v *visit, d *etree.Document) { d.FindElement("//Reference").CreateAttr("URI", "") }, want: signon.BadSignature},
		"two signatures": {edit: func(t *testing.T, v *visit, d *etree.Document) {
			d.FindElement("//Assertion").AddChild(d.FindElement("//Signature").Copy())
		}, want: signon.Malformed},
		"two assertions":          {edit: func(t *testing.T, v *visit, d *etree.Document) { d.Root().AddChild(evil(d, "evil")) }, want: signon.Malformed},
		"two of one id":           {edit: func(t *testing.T, v *visit, d *etree.Document) { d.Root().AddChild(evil(d, "")) }, want: signon.Malformed},
		"another element as root": {edit: func(t *testing.T, v *visit, d *etree.Document) { d.SetRoot(d.FindElement("//Assertion").Copy()) }, want: signon.Malformed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := newVisit(t)
			d := v.respond(t, c.o)
			if c.edit != nil {
				c.edit(t, v, d)
			}
			if reason, who := v.finish(t, encode(t, d)); reason != c.want {
				t.Errorf("%q, want %q: %+v", reason, c.want, who)
			}
		})
	}
}

func remove(d *etree.Document, path string) {
	el := d.FindElement(path)
	el.Parent().RemoveChild(el)
}

// evil returns a copy of the assertion that names another user, without a signature. An empty id
// is that of the original.
func evil(d *etree.Document, id string) *etree.Element {
	e := d.FindElement("//Assertion").Copy()
	if s := e.FindElement("./Signature"); s != nil {
		e.RemoveChild(s)
	}
	e.FindElement(".//NameID").SetText("eve@acme.test")
	if id != "" {
		e.CreateAttr("ID", id)
	}
	return e
}

// TestSignatureWrapping has the eight attacks of Somorovsky and others, "On Breaking SAML: Be
// Whoever You Want to Be" (2012), figure 3: the signed element is moved to where a signature still
// finds it, and a forged one takes its place.
func TestSignatureWrapping(t *testing.T) {
	t.Parallel()
	// In 1 and 2 the response is signed, otherwise the assertion.
	attacks := map[string]func(d *etree.Document){
		"XSW1": func(d *etree.Document) { // a forged response; the original is in its signature
			original := d.Root().Copy()
			forgeResponse(d)
			signature := d.Root().FindElement("./Signature")
			original.RemoveChild(original.FindElement("./Signature"))
			signature.AddChild(original)
		},
		"XSW2": func(d *etree.Document) { // the same, the original before a detached signature
			original := d.Root().Copy()
			forgeResponse(d)
			original.RemoveChild(original.FindElement("./Signature"))
			d.Root().InsertChildAt(0, original)
		},
		"XSW3": func(d *etree.Document) { d.Root().InsertChildAt(2, evil(d, "evil")) }, // a forged assertion before the original
		"XSW4": func(d *etree.Document) { // the original within the forged one
			forged := evil(d, "evil")
			original := d.FindElement("//Assertion")
			d.Root().RemoveChild(original)
			forged.AddChild(original)
			d.Root().AddChild(forged)
		},
		"XSW5": func(d *etree.Document) { // the forged one has the signature, the original is after it
			original := d.FindElement("//Assertion").Copy()
			original.RemoveChild(original.FindElement("./Signature"))
			forged := d.FindElement("//Assertion")
			forged.FindElement(".//NameID").SetText("eve@acme.test")
			forged.CreateAttr("ID", "evil")
			d.Root().AddChild(original)
		},
		"XSW6": func(d *etree.Document) { // the same, the original within the signature
			original := d.FindElement("//Assertion").Copy()
			original.RemoveChild(original.FindElement("./Signature"))
			forged := d.FindElement("//Assertion")
			forged.FindElement(".//NameID").SetText("eve@acme.test")
			forged.CreateAttr("ID", "evil")
			forged.FindElement("./Signature").AddChild(original)
		},
		"XSW7": func(d *etree.Document) { // the forged one in an element that any schema allows
			d.Root().InsertChildAt(0, wrapped("samlp:Extensions", evil(d, "")))
		},
		"XSW8": func(d *etree.Document) { // the original in an object of the forged one's signature
			original := d.FindElement("//Assertion").Copy()
			original.RemoveChild(original.FindElement("./Signature"))
			forged := d.FindElement("//Assertion")
			forged.FindElement(".//NameID").SetText("eve@acme.test")
			forged.FindElement("./Signature").AddChild(wrapped("ds:Object", original))
		},
	}
	for name, wrap := range attacks {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := newVisit(t)
			d := v.respond(t, samltest.Options{SignResponse: name == "XSW1" || name == "XSW2"})
			if reason, _ := v.finish(t, encode(t, d)); reason != "" {
				t.Fatalf("before the attack: %q", reason)
			}
			wrap(d)
			if reason, who := v.finish(t, encode(t, d)); reason != signon.Malformed && reason != signon.BadSignature {
				t.Errorf("%q, signed in %q", reason, who.Name)
			}
		})
	}
}

// forgeResponse makes the response name another user, under another id.
func forgeResponse(d *etree.Document) {
	d.Root().CreateAttr("ID", "evil")
	d.FindElement("//Assertion").CreateAttr("ID", "evil-assertion")
	d.FindElement("//NameID").SetText("eve@acme.test")
}

func wrapped(name string, el *etree.Element) *etree.Element {
	w := etree.NewElement(name)
	w.AddChild(el)
	return w
}

// TestUnreadableResponses has texts that are refused before a signature is looked at.
func TestUnreadableResponses(t *testing.T) {
	t.Parallel()
	v := newVisit(t)
	good, err := v.respond(t, samltest.Options{}).WriteToString()
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"empty": "", "no XML": "{}", "cut off": good[:len(good)/2], "two documents": good + good,
		"a document type":     `<!DOCTYPE x>` + good,
		"an external entity":  `<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>` + strings.Replace(good, "ada@acme.test", "&e;", 1),
		"an expanding entity": `<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>` + strings.Replace(good, "ada@acme.test", "&b;", 1),
		"another encoding":    `<?xml version="1.0" encoding="UTF-16"?>` + good,
		"too deep":            strings.Replace(good, "<saml:Issuer>", strings.Repeat("<a>", 40)+strings.Repeat("</a>", 40)+"<saml:Issuer>", 1),
		"too many elements":   strings.Replace(good, "<saml:Issuer>", strings.Repeat("<a/>", 5001)+"<saml:Issuer>", 1),
		"too many attributes": strings.Replace(good, "<saml:Issuer>", "<a "+strings.Repeat(`b="" `, 65)+"/><saml:Issuer>", 1),
	} {
		if reason, _ := v.finish(t, base64.StdEncoding.EncodeToString([]byte(text))); reason != signon.Malformed {
			t.Errorf("%s: %q", name, reason)
		}
	}
	if reason, _ := v.finish(t, "!"); reason != signon.Malformed {
		t.Errorf("no base64: %q", reason)
	}
	padded := strings.Replace(good, "<saml:Issuer>", strings.Repeat(" ", saml.MaxResponse)+"<saml:Issuer>", 1)
	if reason, _ := v.finish(t, base64.StdEncoding.EncodeToString([]byte(padded))); reason != signon.Malformed {
		t.Errorf("more than 256 KB: %q", reason)
	}
	if reason, _ := v.finish(t, base64.StdEncoding.EncodeToString([]byte(good))); reason != "" {
		t.Errorf("the same without harm: %q", reason)
	}
}

// TestDeflateBomb sends a response that is compressed as in the binding by redirect. It is not
// inflated: the binding by POST does not compress.
func TestDeflateBomb(t *testing.T) {
	t.Parallel()
	v := newVisit(t)
	if reason, _ := v.finish(t, deflated(t, strings.Repeat("a", 64<<20))); reason != signon.Malformed {
		t.Errorf("%q", reason)
	}
	good, err := v.respond(t, samltest.Options{}).WriteToString()
	if err != nil {
		t.Fatal(err)
	}
	if reason, _ := v.finish(t, deflated(t, good)); reason != signon.Malformed {
		t.Errorf("a good one, compressed: %q", reason)
	}
}

// FuzzFinish sends any response to a sign-in: nobody but ada@acme.test comes in, whom alone the
// provider has signed.
func FuzzFinish(f *testing.F) {
	v := newVisit(f)
	for _, o := range []samltest.Options{{}, {SignResponse: true}, {NoSignature: true}, {Name: "ada@acme.test.evil.test"}, {Status: "x"}} {
		text, err := v.respond(f, o).WriteToBytes()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	v.idp.User = "ada@acme.test"
	f.Fuzz(func(t *testing.T, text []byte) {
		who, err := saml.Protocol{}.Finish(t.Context(), v.at, v.r, url.Values{"SAMLResponse": {base64.StdEncoding.EncodeToString(text)}})
		var refused *signon.Failure
		if err != nil && !errors.As(err, &refused) {
			t.Fatal(err)
		}
		if err == nil && who.Name != "ada@acme.test" && who.Name != "ada@acme.test.evil.test" {
			t.Fatalf("signed in %+v", who)
		}
	})
}

func deflated(t *testing.T, text string) string {
	t.Helper()
	var packed bytes.Buffer
	w, err := flate.NewWriter(&packed, flate.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(packed.Bytes())
}
