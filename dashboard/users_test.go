package dashboard_test

import (
	"fmt"
	"testing"

	"docent/shared/scim/scimtest"
	"docent/testkit/browser"
)

// TestMoreUsersThanAPage: the team and the form of a personal key have every user, of whom SCIM lists 200 at a time.
func TestMoreUsersThanAPage(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t)
	set := fmt.Sprintf(`fetch("../team/saml-metadata", { method: "PUT", headers: { "Content-Type": "application/samlmetadata+xml" }, body: %q }).then((r) => r.ok)`, scimtest.Metadata)
	if !browser.Value[bool](b, set) {
		t.Fatal("the metadata is refused")
	}
	browser.Value[bool](b, `(() => {
		const real = window.fetch.bind(window);
		window.fetch = (path, o) => {
			if (!path.includes("/scim/v2/Users")) return real(path, o);
			const query = new URL(path).searchParams, from = Number(query.get("startIndex") ?? 1), last = Math.min(401, from + 199);
			const Resources = Array.from({ length: last - from + 1 }, (_, i) => ({ id: "u" + (from + i), userName: "person" + (from + i) + "@acme.test" }));
			return Promise.resolve(new Response(JSON.stringify({ totalResults: 401, Resources })));
		};
		return true;
	})()`)
	open(b, "settings/team")
	b.Wait("person401@acme.test")
	if rows := browser.Value[float64](b, `document.querySelectorAll("tbody tr").length`); rows != 401 {
		t.Errorf("%v users", rows)
	}
	open(b, "settings/tokens")
	b.Click("Create personal key")
	b.Select("User", "u401")
	if chosen := browser.Value[string](b, `[...document.querySelectorAll("dialog select")][0].selectedOptions[0].text`); chosen != "person401@acme.test" {
		t.Errorf("the key would be of %q", chosen)
	}
}
