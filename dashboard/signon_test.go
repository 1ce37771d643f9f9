package dashboard_test

import (
	"context"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"docent/shared/apierr"
	"docent/shared/app"
	"docent/shared/app/parts/identity"
	"docent/shared/app/parts/saml"
	"docent/shared/app/parts/saml/samltest"
	"docent/shared/scim/scimtest"
	"docent/shared/signon"
	"docent/shared/team"
	"docent/testkit/browser"
)

// TestSignInBySAML: an admin sets the provider up, tests the sign-in, requires it, and signs in by
// it; a failed sign-in says why.
func TestSignInBySAML(t *testing.T) {
	t.Parallel()
	b, base := signedIn(t)
	idp := samltest.New(t, "https://idp.test/", "", time.Now)
	server := httptest.NewServer(idp)
	defer server.Close()
	idp.SignOn, idp.User = server.URL, "nobody@idp.test"
	open(b, "settings/single-sign-on")
	b.Wait("Base address")
	b.Click("As text or a file")
	b.Fill("The provider’s metadata", idp.Metadata())
	b.Click("Save metadata")
	b.Wait("Replace metadata")
	b.Wait("Our values, for the provider")
	b.Wait(base + "/sso/")
	b.Wait("Not tested yet")

	b.Click("Test sign-in")
	b.Click("Sign in as nobody@idp.test")
	b.Wait("Your team has no user with the name that the provider sent.")
	idp.User = "DEMO@example.com"
	b.Click("Test sign-in")
	b.Click("Sign in as DEMO@example.com")
	b.Wait("The test sign-in worked.")
	b.Click("Require for everyone")
	b.Fill("Type “require” to confirm", "require")
	b.Press(browser.KeyEnter)
	b.Wait("Make optional")

	b.Click("Sign out")
	b.Wait("Sign in to Docent")
	idp.User = "nobody@idp.test"
	b.Click("Sign in with single sign-on")
	b.Click("Sign in as nobody@idp.test")
	b.Wait("Ask an admin to provision you.")
	idp.User = "demo@example.com"
	b.Click("Sign in with single sign-on")
	b.Click("Sign in as demo@example.com")
	b.Wait("Try one of these")
	open(b, "settings/sessions")
	b.Wait("by SAML")

	b.Click("Sign out") // of the menu
	b.Wait("Sign in to Docent")
	open(b, "settings/webhooks")
	b.Click("Sign in with single sign-on")
	b.Click("Sign in as demo@example.com")
	b.Wait("No webhook endpoint yet") // what was to be opened
}

// TestMetadataByAddress: the provider's metadata is read at its address, and again when its
// certificate has changed.
func TestMetadataByAddress(t *testing.T) {
	t.Parallel()
	idp := samltest.New(t, "https://idp.test/", "https://idp.test/sso", time.Now)
	const address = "https://idp.test/metadata"
	b, _ := signedInAt(t, serveWith(t, app.Parts{SignOn: identity.Providers(), FetchSAML: func(_ context.Context, url string) (team.SAMLProvider, []byte, error) {
		if url != address {
			return team.SAMLProvider{}, nil, apierr.BadField("/url", "the server answered with status 404")
		}
		text := []byte(idp.Metadata())
		p, err := saml.Parse(text)
		p.MetadataURL = address
		return p, text, err
	}}))
	open(b, "settings/single-sign-on")
	b.Fill("Address of the metadata", "https://idp.test/metadat")
	b.Click("Read metadata")
	b.Wait("status 404")
	b.Fill("Address of the metadata", address)
	b.Press(browser.KeyEnter)
	b.Wait("Replace metadata")
	b.Wait(address)
	b.Click("Read metadata again")
	b.Wait("The metadata has not changed.")
	idp.Rotate(t, time.Now().AddDate(2, 0, 0))
	b.Click("Read metadata again")
	b.Wait("The metadata has changed.")
}

// TestOpenIDProviderIsSetAndRemoved: a provider that is saved first is used; one that is removed is
// gone with its secret.
func TestOpenIDProviderIsSetAndRemoved(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t)
	open(b, "settings/single-sign-on")
	b.Click("OpenID Connect")
	b.Wait("Not in use")
	b.Fill("Issuer", "https://idp.test")
	b.Fill("Client ID", "docent")
	b.Fill("Client secret", "s")
	b.Press(browser.KeyEnter)
	b.Wait("One is stored, encrypted.")
	b.Wait("In use")
	b.Gone("Not in use")
	b.Click("Remove OpenID Connect")
	b.Fill("Type “remove” to confirm", "remove")
	b.Press(browser.KeyEnter)
	b.Gone("One is stored, encrypted.")
	b.Wait("Not in use")
	if left := browser.Value[string](b, `[...document.querySelectorAll("section[aria-label=Sign-in] input")].map((e) => e.value).join("")`); left != "" {
		t.Errorf("the form keeps %q", left)
	}
}

// TestLastRefusals: what provisioning was refused is shown with its reason and request.
func TestLastRefusals(t *testing.T) {
	t.Parallel()
	b, base := signedIn(t)
	open(b, "settings/single-sign-on")
	b.Wait("No request of the provider was refused lately.")
	b.Click("As text or a file")
	b.Fill("The provider’s metadata", scimtest.Metadata)
	b.Click("Save metadata")
	b.Wait("Accepted")
	b.Click("Create SCIM key")
	b.Fill("Name", "Okta")
	b.Click("Create key")
	b.Wait("Okta is ready")
	key := regexp.MustCompile(`docent_scim_\w+`).FindString(b.Text("dialog"))
	b.Click("I have copied it")
	const user = `{"schemas":["urn:ietf:params:scim:schemas:core:2.0:User"],"userName":"grace@acme.test"}`
	for want, body := range map[int]string{201: user, 400: `{"userName":7}`} {
		if got := send(t, "POST", base+"/scim/v2/Users", "application/scim+json", body, key, nil); got != want {
			t.Fatalf("%s: status %d", body, got)
		}
	}
	if got := send(t, "POST", base+"/scim/v2/Users", "application/scim+json", user, key, nil); got != 409 {
		t.Fatalf("the same user again: status %d", got)
	}
	open(b, "settings/tokens")
	open(b, "settings/single-sign-on")
	b.Wait("uniqueness")
	b.Gone("No request of the provider was refused lately.")
	refused := browser.Value[[]string](b, `[...[...document.querySelectorAll("h3")].find((h) => h.innerText === "Last refusals").parentElement.querySelectorAll("li")].map((e) => e.innerText)`)
	if len(refused) != 2 {
		t.Fatalf("shown: %q", refused)
	}
	for i, want := range []string{"uniqueness", "invalid"} { // newest first
		if !strings.Contains(refused[i], want) || !regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f-]{27}`).MatchString(refused[i]) {
			t.Errorf("refusal %d lacks %q or its request: %s", i, want, refused[i])
		}
	}
}

// TestEveryFailureIsExplained: the dashboard has a sentence for each reason of a failed sign-in.
func TestEveryFailureIsExplained(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("src/pages/signonproblem.tsx")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range signon.Reasons {
		if !strings.Contains(string(text), "\t\""+string(r)+"\": [") && !strings.Contains(string(text), "\t"+string(r)+": [") {
			t.Errorf("%s has no sentence", r)
		}
	}
}
