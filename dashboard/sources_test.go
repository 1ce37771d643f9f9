package dashboard_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"docent/shared/app"
	"docent/shared/app/parts/connectors"
	"docent/shared/app/parts/probe"
	"docent/shared/connect/atlassian/atlassiantest"
	"docent/shared/connect/confluence/confluencetest"
	"docent/shared/connect/connecttest"
	"docent/shared/source"
	"docent/testkit/browser"
)

// shownField is a field of the open dialog.
type shownField struct{ Label, Hint, Kind string }

const shownFields = `[...document.querySelectorAll("dialog[open] .field")].map((f) => { const e = f.querySelector("input, select, textarea"); return { Label: [...e.labels].map((l) => l.textContent).join(), Hint: f.querySelector("#" + (e.getAttribute("aria-describedby") ?? "none"))?.textContent ?? "", Kind: e.tagName === "INPUT" ? e.type : e.tagName } })`

// knowsEveryProvider fails if the bundle is not of the providers in the code: no form can be as they are then.
func knowsEveryProvider(t *testing.T) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("src", "providers.json"))
	if err != nil {
		t.Fatal(err)
	}
	var built []struct {
		Name     source.ProviderName
		Settings []struct{ Name, Help string }
	}
	if err := json.Unmarshal(text, &built); err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, p := range built {
		for _, s := range p.Settings {
			known[string(p.Name)+" "+s.Name+" "+s.Help[1:]] = true
		}
	}
	for _, p := range app.Providers() {
		for _, s := range p.Settings {
			if !known[string(p.Name)+" "+s.Name+" "+s.Help[1:]+"."] {
				t.Fatalf("src/providers.json does not have the setting %s of %s as it is: run make dashboard", s.Name, p.Name)
			}
		}
	}
}

// TestEveryProviderHasItsForm chooses every provider in the form that connects a data source: it
// has a field for each setting, and axe finds nothing.
func TestEveryProviderHasItsForm(t *testing.T) {
	t.Parallel()
	knowsEveryProvider(t)
	b, _ := signedIn(t)
	browser.Value[bool](b, axe(t)+"; true")
	open(b, "sources")
	b.Click("Connect data source")
	for _, p := range app.Providers() {
		if len(p.Settings) == 0 {
			b.Select("Provider", string(p.Name)+" imported")
			continue
		}
		b.Select("Provider", string(p.Name))
		b.Wait(p.Settings[0].Help[1:])
		fields := browser.Value[[]shownField](b, shownFields)
		if len(fields) != len(p.Settings)+2 {
			t.Fatalf("%s has the fields %+v", p.Name, fields)
		}
		for i, s := range p.Settings {
			f, kind := fields[i+2], map[source.SettingKind]string{source.Text: "text", source.URL: "url", source.List: "TEXTAREA", source.Secret: "password"}[s.Kind]
			if s.Choices != nil {
				kind = "SELECT"
			}
			if f.Label == "" || !strings.Contains(f.Hint, s.Help[1:]) || f.Kind != kind {
				t.Errorf("%s: the field of %s is %+v", p.Name, s.Name, f)
			}
		}
		for _, v := range violations(t, b) {
			t.Errorf("%s: %s", p.Name, v)
		}
	}
}

// TestASecretOfAProviderIsTyped: a browser that saved the key of the sign-in must not fill it in, or it would be sent to the provider.
// Only this value of autocomplete prevents that.
func TestASecretOfAProviderIsTyped(t *testing.T) {
	t.Parallel()
	knowsEveryProvider(t)
	b, _ := signedIn(t)
	check := func(where string) {
		t.Helper()
		if found := browser.Value[[]string](b, `[...new Set([...document.querySelectorAll("input[type=password]")].map((e) => e.autocomplete))]`); len(found) != 1 || found[0] != "new-password" {
			t.Errorf("%s: the fields for secrets have autocomplete %q", where, found)
		}
	}
	open(b, "settings/single-sign-on")
	b.Click("OpenID Connect")
	b.Wait("Client secret")
	check("the OpenID provider")
	open(b, "sources")
	b.Click("Connect data source")
	for _, p := range app.Providers() {
		for _, s := range p.Settings {
			if s.Kind == source.Secret {
				b.Select("Provider", string(p.Name))
				b.Wait(s.Help[1:])
				check(string(p.Name))
			}
		}
	}
}

// TestAConfluenceIsConnected connects, changes and shows a source of a provider that the dashboard
// knows from its settings alone. What the provider refuses is said in the form.
func TestAConfluenceIsConnected(t *testing.T) {
	t.Parallel()
	s := confluencetest.New(t, false, time.Now)
	s.Change(func() { s.Spaces = map[string][]confluencetest.Permission{"ENG": nil, "OPS": nil} })
	b, _ := signedInAt(t, serveWith(t, app.Parts{Probe: probe.With(connecttest.Fetcher(s.Server.Server))}))
	open(b, "sources")
	b.Click("Connect data source")
	b.Select("Provider", "confluence")
	b.Fill("Name", "Handbook")
	b.Fill("Base URL", s.URL)
	b.Fill("Spaces", "ENG\n\n OPS ")
	b.Fill("Access token", "wrong")
	b.Select("Access", "source")
	b.Click("Connect")
	b.Wait("does not accept the personal access token")
	b.Fill("Access token", atlassiantest.Token)
	b.Click("Connect")
	b.Wait("ENG, OPS")

	b.Click("Edit Handbook")
	b.Fill("Spaces", "NONE")
	b.Click("Save")
	b.Wait("The space NONE does not exist")
	b.Fill("Spaces", "OPS")
	b.Select("Access", "")
	b.Click("Save") // with the token of before
	b.Gone("ENG, OPS")
	b.Wait("OPS")
	if text := b.Text(".facts"); strings.Contains(text, "Access") || !strings.Contains(text, s.URL) {
		t.Errorf("the settings are shown as %q", text)
	}
}

// TestASourceIsSyncedNow mends a source that its provider refuses, and does not wait for the next sync.
func TestASourceIsSyncedNow(t *testing.T) {
	t.Parallel()
	s := confluencetest.New(t, false, time.Now)
	s.Change(func() { s.Spaces = map[string][]confluencetest.Permission{"ENG": nil} })
	var refuses atomic.Bool
	s.Before(func(_ string, w http.ResponseWriter) bool {
		if refuses.Load() {
			atlassiantest.Refuse(w, http.StatusUnauthorized, "expired")
		}
		return refuses.Load()
	})
	fetcher := connecttest.Fetcher(s.Server.Server)
	b, _ := signedInAt(t, serveWith(t, app.Parts{Probe: probe.With(fetcher), Connect: connectors.With(fetcher)}))
	open(b, "sources")
	b.Click("Connect data source")
	b.Select("Provider", "confluence")
	b.Fill("Name", "Handbook")
	b.Fill("Base URL", s.URL)
	b.Fill("Spaces", "ENG")
	b.Fill("Access token", atlassiantest.Token)
	b.Select("Access", "source")
	b.Click("Connect")
	b.Wait("Ready")

	refuses.Store(true)
	b.Click("Sync now Handbook")
	b.Wait("unauthorized")
	refuses.Store(false)
	b.Click("Sync now Handbook")
	b.Gone("unauthorized")

	b.Click("Pause Handbook")
	b.Wait("Resume")
	b.Gone("Sync now")
}

// TestANewSourceShowsItsWebhook connects sources that deliveries and imports fill.
func TestANewSourceShowsItsWebhook(t *testing.T) {
	t.Parallel()
	b, base := signedIn(t)
	open(b, "sources")
	b.Click("Connect data source")
	b.Select("Provider", "slack")
	b.Fill("Name", "Chat")
	b.Fill("Signing secret", "8f742231b10e8888abcd99yyyzzz85a5")
	b.Click("Connect")
	b.Wait("Chat is connected")
	b.Wait(base + "/webhooks/slack/")
	if strings.Contains(b.Text("dialog[open]"), "secret") {
		t.Error("the dialog shows a secret that the provider makes")
	}
	b.Click("Done")
	b.Click("Connect data source")
	b.Select("Provider", "gitlab imported")
	b.Fill("Name", "Tools")
	b.Click("Connect")
	b.Wait("Its secret, shown this once")
	b.Click("Done")
	b.Click("Edit Tools")
	b.Wait("Save")
	if fields := browser.Value[[]shownField](b, shownFields); len(fields) != 1 {
		t.Errorf("an imported source has the fields %+v", fields)
	}
}
