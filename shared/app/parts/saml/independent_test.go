package saml_test

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"docent/shared/signon"
)

// TestAnIndependentProvider verifies responses of Auth0's samlp, which shares no code with the
// verifier. If it is not installed, the test is skipped, or fails in CI.
func TestAnIndependentProvider(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..", "..", "..")
	modules, err := filepath.Abs(filepath.Join(root, ".cache", "samlp"))
	if err != nil {
		t.Fatal(err)
	}
	_, missing := os.Stat(filepath.Join(modules, "node_modules", "samlp"))
	node, err := exec.LookPath("node")
	if missing != nil || err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("samlp is not installed: run make samlp")
		}
		t.Skip("samlp is not installed: run make samlp")
	}
	now := time.Now() // samlp has no other clock
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "samlp"}, NotBefore: now.Add(-time.Hour), NotAfter: now.Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	private := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
	public := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	for name, c := range map[string]struct {
		algorithm, audience, user string
		signResponse              bool
		want                      signon.Reason
	}{
		"signed assertion": {algorithm: "rsa-sha256"}, "signed response": {algorithm: "rsa-sha256", signResponse: true},
		"SHA-1": {algorithm: "rsa-sha1", want: signon.WeakSignature}, "other audience": {algorithm: "rsa-sha256", audience: "https://other.test/", want: signon.OtherAudience},
		"no comment comes in": {algorithm: "rsa-sha256", user: "ada@acme.test<!-- x -->.evil.test"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := newVisit(t)
			v.at.Now = now
			v.at.Metadata = []byte(head + idp + descriptor("", base64.StdEncoding.EncodeToString(der)) + direct + idpEnd + headEnd)
			audience, user := v.asked.Audience, "ada@acme.test"
			if c.audience != "" {
				audience = c.audience
			}
			if c.user != "" {
				user = c.user
			}
			asked, err := json.Marshal(map[string]any{"issuer": "https://idp.test/", "cert": string(public), "key": string(private), "audience": audience,
				"acs": v.asked.ACS, "id": v.asked.ID, "signResponse": c.signResponse, "algorithm": c.algorithm, "user": user})
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.CommandContext(t.Context(), node, filepath.Join(root, "testkit", "samlp", "respond.js"), modules)
			var response, faults bytes.Buffer
			cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(asked), &response, &faults
			if err := cmd.Run(); err != nil {
				t.Fatalf("%v\n%s", err, faults.String())
			}
			reason, who := v.finish(t, response.String())
			if reason != c.want || reason == "" && who.Name != user {
				t.Errorf("%q, %+v", reason, who)
			}
		})
	}
}
