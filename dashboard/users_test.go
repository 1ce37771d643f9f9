package dashboard_test

import (
	"fmt"
	"testing"

	"docent/shared/scim/scimtest"
	"docent/testkit/browser"
)

// TestGroupsOfTheTeam: an admin sees the groups that the provider has sent, and who belongs to them.
func TestGroupsOfTheTeam(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t)
	set := fmt.Sprintf(`fetch("../team/saml-metadata", { method: "PUT", headers: { "Content-Type": "application/samlmetadata+xml" }, body: %q }).then((r) => r.ok)`, scimtest.Metadata)
	if !browser.Value[bool](b, set) {
		t.Fatal("the metadata is refused")
	}
	open(b, "settings/team")
	b.Wait("Your identity provider has sent no groups.")
	const provision = `fetch("../api-keys", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ kind: "scim", name: "Okta" }) }).then((r) => r.json()).then((key) => {
		const post = (type, body) => fetch("../scim/v2/" + type, { method: "POST", credentials: "omit", headers: { "Content-Type": "application/scim+json", Authorization: "Bearer " + key.secret }, body: JSON.stringify(body) });
		return post("Users", { schemas: ["urn:ietf:params:scim:schemas:core:2.0:User"], userName: "grace@acme.test", displayName: "Grace" }).then((r) => r.json())
			.then((user) => post("Groups", { schemas: ["urn:ietf:params:scim:schemas:core:2.0:Group"], displayName: "Compilers", members: [{ value: user.id }] }));
	}).then((r) => r.status)`
	if status := browser.Value[int](b, provision); status != 201 {
		t.Fatalf("the group: status %d", status)
	}
	open(b, "settings/tokens")
	open(b, "settings/team")
	b.Click("Compilers")
	becomes(b, `document.querySelector("[aria-label=Groups] details").innerText.includes("grace@acme.test")`)
	for _, v := range violations(t, withAxe(t, b)) {
		t.Error(v)
	}
}

// TestMoreUsersThanAPage: the team and the form of a personal key have every user, of whom SCIM lists 200 at a time.
func TestMoreUsersThanAPage(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t)
	set := fmt.Sprintf(`fetch("../team/saml-metadata", { method: "PUT", headers: { "Content-Type": "application/samlmetadata+xml" }, body: %q }).then((r) => r.ok)`, scimtest.Metadata)
	if !browser.Value[bool](b, set) {
		t.Fatal("the metadata is refused")
	}
	intercept(b, `path.includes("/scim/v2/Users")`, `Response.json({ totalResults: 401, Resources: users(Number(new URL(path).searchParams.get("startIndex") ?? 1)) })`,
		`const users = (from) => Array.from({ length: Math.min(401, from + 199) - from + 1 }, (_, i) => ({ id: "u" + (from + i), userName: "person" + (from + i) + "@acme.test" }));`)
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
