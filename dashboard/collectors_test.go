package dashboard_test

import (
	"strings"
	"testing"

	"docent/testkit/browser"
)

// TestRecipesForCollectors: security events lead to the request that polls them, which works as it is printed, and to
// the recipe of each collector with the address of this server.
func TestRecipesForCollectors(t *testing.T) {
	t.Parallel()
	b, base := signedIn(t)
	open(b, "events")
	b.Click("Connect a collector")
	b.Wait("docent events follow --cursor-file")
	request := b.Text("dialog .secret code")
	url := strings.Split(request, `"`)[3]
	const audit = `fetch("../api-keys", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ kind: "team", name: "SIEM", scopes: ["audit"] }) }).then((r) => r.json()).then((key) => key.secret)`
	key := browser.Value[string](b, audit)
	const poll = `.then((r) => r.json()).then((page) => page.events.length > 0 && page.nextCursor !== "")`
	if !strings.HasPrefix(request, `curl -H "Authorization: Bearer KEY" `) || !strings.HasPrefix(url, base+"/security-events") ||
		!browser.Value[bool](b, `fetch("`+url+`", { credentials: "omit", headers: { Authorization: "Bearer `+key+`" } })`+poll) {
		t.Errorf("the request %s does not poll the feed", request)
	}
	names := browser.Value[[]string](b, `[...document.querySelectorAll("dialog option")].map((o) => o.value).slice(1)`)
	if len(names) != 7 {
		t.Errorf("the collectors are %q", names)
	}
	withAxe(t, b)
	for _, name := range names {
		b.Select("Collector", name)
		b.Settled()
		text := b.Text("dialog")
		if strings.Contains(text, "HOST/") || strings.Contains(text, "FEED") || strings.Contains(text, "```") || (name != "Splunk" && !strings.Contains(text, strings.TrimSuffix(base, "/v1"))) {
			t.Errorf("the recipe of %s is %s", name, text)
		}
		for _, v := range violations(t, b) {
			t.Errorf("%s: %s", name, v)
		}
	}
	b.Look(360, 800, "dark")
	if browser.Value[bool](b, `(() => { const d = document.querySelector("dialog"); return d.scrollWidth > d.clientWidth; })()`) {
		t.Error("a recipe widens the dialog")
	}
	for _, v := range violations(t, b) {
		t.Errorf("at 360: %s", v)
	}
}
