package dashboard_test

import (
	"regexp"
	"strings"
	"testing"

	"docent/testkit/browser"
)

// TestWebhooks adds an endpoint, whose secret is shown once, and works with its deliveries. The server
// of the test makes no posts, so each attempt fails.
func TestWebhooks(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t)
	open(b, "settings/webhooks")
	b.Wait("No webhook endpoint yet")
	b.Click("Add endpoint")
	b.Fill("Address", "https://hooks.acme.example/docent")
	b.Fill("Description", "Operations")
	b.Click("answer.completed") // beside those that are chosen at first
	b.Click("source.failed")
	browser.Value[bool](b, `document.querySelector("dialog form").requestSubmit() || true`)
	b.Wait("The secret of the endpoint")
	secret := regexp.MustCompile(`whsec_[0-9A-Za-z+/=]+`).FindString(b.Text("dialog"))
	b.Click("Done")
	b.Gone("The secret of the endpoint")
	b.Wait("Operations")
	b.Wait("document.failed, answer.failed, answer.completed")
	if secret == "" || strings.Contains(b.Text("body"), secret) {
		t.Errorf("the secret %q is not shown once", secret)
	}
	b.Click("Open https://hooks.acme.example/docent")
	b.Wait("Nothing was delivered")
	if focused := browser.Value[string](b, "document.activeElement.innerText"); focused != "Close" {
		t.Errorf("the focus is on %q", focused)
	}
	b.Click("Send test")
	b.Wait("connection-failed")
	if browser.Value[bool](b, `(() => { const t = document.querySelector("dialog .table"); return t.scrollWidth > t.clientWidth; })()`) {
		t.Error("the table of deliveries is cut off")
	}
	browser.Value[bool](b, axe(t)+"; true")
	for _, v := range violations(t, b) {
		t.Error(v)
	}
	b.Click("Disable")
	b.Wait("Disabled")
	b.Click("Enable")
	b.Wait("Enabled")
	b.Click("Close")
}
