package app

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"docent/shared/oauth"
	"docent/shared/scim/scimtest"
	"docent/shared/signon"
	"docent/shared/table"
	"docent/shared/team"
)

// leaveLink makes a sign-in link and an upload, which expire soon.
func (f *filling) leaveLink() {
	f.t.Helper()
	f.must(201, f.key, "POST", "/uploads", map[string]any{"mediaType": "application/pdf", "size": 9})
	admin, err := f.teams.FirstAdmin(f.t.Context(), f.teamID)
	if err == nil {
		_, _, err = f.teams.Invite(f.t.Context(), f.teamID, admin.ID)
	}
	if err != nil {
		f.t.Fatal(err)
	}
}

// standInProvider authenticates everybody as the team's admin.
type standInProvider struct{ state string }

func (p *standInProvider) Begin(_ context.Context, _ signon.Party, _ *signon.Request, state string) (signon.Redirect, error) {
	p.state = state
	return signon.Redirect{}, nil
}

func (p *standInProvider) Finish(_ context.Context, at signon.Party, _ signon.Request, _ url.Values) (signon.Identity, error) {
	return signon.Identity{Name: "ada@acme.test", Subject: "ada", Issuer: "https://idp.test/", ProofID: "assertion", ProofEnd: at.Now.Add(time.Hour)}, nil
}

// leaveConsent lets a user give a program access, which it has not taken yet.
func (f *filling) leaveConsent() {
	f.t.Helper()
	const redirect = "https://assistant.test/callback"
	client, err := oauth.Register("Assistant", []string{redirect})
	if err != nil {
		f.t.Fatal(err)
	}
	server := oauth.Service{Table: f.engines.table, Teams: f.teams, Now: f.now, Issuer: "https://docent.test/v1"}
	if _, err := server.Allow(f.t.Context(), team.Principal{TeamID: f.teamID, UserID: "ada", UserName: "ada@acme.test"}, oauth.Request{ResponseType: "code",
		ClientID: client.ID(), RedirectURI: redirect, Challenge: strings.Repeat("a", 43), ChallengeKind: "S256"}); err != nil {
		f.t.Fatal(err)
	}
}

// leaveSignOn begins two sign-ins at an identity provider, and finishes one, up to its session.
func (f *filling) leaveSignOn() {
	f.t.Helper()
	ctx, provider := f.t.Context(), &standInProvider{}
	f.signOn.Protocols = map[signon.Method]signon.Protocol{signon.SAML: provider}
	if _, err := f.signOn.Update(ctx, f.teamID, func(s *signon.Fields) { s.Attribute = "mail" }); err != nil {
		f.t.Fatal(err)
	}
	for range 2 {
		if _, err := f.signOn.Begin(ctx, f.teamID, signon.NewSecret(), ""); err != nil {
			f.t.Fatal(err)
		}
	}
	if _, _, err := f.signOn.Finish(ctx, f.teamID, signon.SAML, url.Values{"RelayState": {provider.state}}); err != nil {
		f.t.Fatal(err)
	}
}

// operatorKey makes a key as the command line does, and names it in the manifest.
func (f *filling) operatorKey(teamID, name string, k team.NewKey) string {
	f.t.Helper()
	made, text, err := f.teams.CreateKey(f.t.Context(), teamID, k)
	if err != nil {
		f.t.Fatal(err)
	}
	f.m.Callers[name], f.m.IDs["key "+name] = text, made.ID
	return text
}

func (f *filling) fillIdentities() {
	f.t.Helper()
	f.must(200, f.admin, "PUT", "/team/saml-metadata", []byte(scimtest.Metadata), "Content-Type", "application/samlmetadata+xml")
	f.must(200, f.admin, "PATCH", "/team", map[string]any{"webFetch": true})
	f.key = f.operatorKey(f.teamID, "team", team.NewKey{Kind: team.KindTeam, Name: "team"})
	f.scim = f.operatorKey(f.teamID, "scim", team.NewKey{Kind: team.KindSCIM, Name: "scim"})
	soon := f.clock.Now().Add(time.Hour)
	f.operatorKey(f.teamID, "expired", team.NewKey{Kind: team.KindTeam, Name: "short-lived", ExpiresAt: &soon})
	f.operatorKey(f.teamID, "restricted", team.NewKey{Kind: team.KindTeam, Name: "archive only", DataSourceIDs: []string{f.m.IDs["archive"]}})
	f.operatorKey(f.teamID, "revoked", team.NewKey{Kind: team.KindTeam, Name: "revoked"})
	f.must(200, f.m.Callers["revoked"], "GET", "/me", nil)
	f.must(204, f.admin, "DELETE", "/api-keys/"+f.m.IDs["key revoked"], nil)
	f.operatorKey(f.teamID, "before rotation", team.NewKey{Kind: team.KindTeam, Name: "rotated"})
	var rotated struct{ Secret string }
	decodeStored(f.t, f.must(200, f.admin, "POST", "/api-keys/"+f.m.IDs["key before rotation"]+"/rotate", map[string]any{"overlapSeconds": 604800}), &rotated)
	f.m.Callers["after rotation"] = rotated.Secret
	f.fillUsers()
	f.fillGroups()
}

func (f *filling) user(name string, more map[string]any) string {
	f.t.Helper()
	body := map[string]any{"schemas": []string{coreUser}, "userName": name + "@acme.test", "externalId": "ext-" + name, "displayName": strings.ToUpper(name),
		"emails": []any{map[string]any{"value": name + "@acme.test", "type": "work", "primary": true}}}
	for member, value := range more {
		body[member] = value
	}
	id := f.must(201, f.scim, "POST", "/scim/v2/Users", body).id(f.t)
	f.m.IDs[name] = id
	return id
}

func (f *filling) fillUsers() {
	f.t.Helper()
	grace := f.user("grace", map[string]any{"name": map[string]any{"givenName": "Grace", "familyName": "Hopper"}, "title": "Rear admiral"})
	f.user("linus", map[string]any{"schemas": []string{coreUser, enterpriseUser},
		enterpriseUser: map[string]any{"employeeNumber": "17", "department": "Kernel", "costCenter": "C1", "manager": map[string]any{"value": grace}}})
	f.operatorKey(f.teamID, "member", team.NewKey{Kind: team.KindPersonal, Name: "grace", UserID: grace})
	inactive := f.user("inactive", nil)
	f.operatorKey(f.teamID, "deactivated", team.NewKey{Kind: team.KindPersonal, Name: "inactive", UserID: inactive})
	f.must(200, f.scim, "PATCH", "/scim/v2/Users/"+inactive, map[string]any{"schemas": []string{patchOp},
		"Operations": []any{map[string]any{"op": "replace", "path": "active", "value": false}}})
	f.must(204, f.scim, "DELETE", "/scim/v2/Users/"+f.user("deleted", nil), nil)
	for n := range storedUsers {
		f.user(fmt.Sprintf("crowd%02d", n), nil)
	}
	departed := f.user("departed", nil)
	f.cut(func(op table.Op) bool { return strings.HasSuffix(table.KeyOf(op).Partition, "/departed") }, false, func(h http.Handler) storedReply {
		return f.doAt(h, f.scim, "DELETE", "/scim/v2/Users/"+departed, nil, nil)
	})
}

func (f *filling) members(from, to int) []any {
	var all []any
	for n := from; n < to; n++ {
		all = append(all, map[string]any{"value": f.m.IDs[fmt.Sprintf("crowd%02d", n)]})
	}
	return all
}

func (f *filling) fillGroups() {
	f.t.Helper()
	group := func(name string, members []any) string {
		id := f.must(201, f.scim, "POST", "/scim/v2/Groups", map[string]any{"schemas": []string{coreGroup}, "displayName": name,
			"externalId": "ext-" + name, "members": members}).id(f.t)
		f.m.IDs["group "+name] = id
		return id
	}
	group("small", f.members(0, 3))
	large := group("large", f.members(0, 2))
	// A change of many members stops when it is effective but its marks are still stored.
	f.cut(func(op table.Op) bool {
		put, ok := op.(table.Put)
		return ok && strings.HasSuffix(put.Item.Partition, "/groups") && strings.Contains(string(put.Item.Body), `"changes":[`)
	}, false, func(h http.Handler) storedReply {
		return f.doAt(h, f.scim, "PUT", "/scim/v2/Groups/"+large, encodeStored(f.t, map[string]any{"schemas": []string{coreGroup},
			"displayName": "large", "externalId": "ext-large", "members": f.members(1, storedUsers)}), nil)
	})
	// Another one stops while it is staged: it never becomes effective.
	staged := group("staged", f.members(0, 1))
	f.cut(func(op table.Op) bool {
		put, ok := op.(table.Put)
		return ok && strings.HasSuffix(put.Item.Partition, "/members/"+staged) && strings.HasPrefix(put.Item.Strings["mark"], "+")
	}, false, func(h http.Handler) storedReply {
		return f.doAt(h, f.scim, "PUT", "/scim/v2/Groups/"+staged, encodeStored(f.t, map[string]any{"schemas": []string{coreGroup},
			"displayName": "staged", "members": f.members(0, storedUsers)}), nil)
	})
	departed := group("departed", f.members(0, 2))
	f.cut(func(op table.Op) bool { return strings.HasSuffix(table.KeyOf(op).Partition, "/departedGroups") }, false, func(h http.Handler) storedReply {
		return f.doAt(h, f.scim, "DELETE", "/scim/v2/Groups/"+departed, nil, nil)
	})
}
