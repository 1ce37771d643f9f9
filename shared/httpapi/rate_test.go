package httpapi_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"docent/shared/app/parts/identity"
	"docent/shared/team"
)

// newLimited is newAPI with a limit of requests per second for each team.
func newLimited(t *testing.T, perSecond int) *api {
	t.Helper()
	parts := partsWith(identity.Providers())
	parts.TeamRate = perSecond
	return newAPIOf(t, parts)
}

// A request that costs the tables as much as several counts as several, and says so with the next reply.
func TestACostlyRequestCountsAsSeveral(t *testing.T) {
	t.Parallel()
	a := newLimited(t, 20)
	acme := a.provisioned("acme")
	remaining := func() int {
		t.Helper()
		var left int
		list := a.raw(call{"GET", "/scim/v2/Users?count=0", acme.scim, nil, nil}).want(t, 200).Header.Get("RateLimit")
		if _, err := fmt.Sscanf(list, `"team-rate";r=%d;`, &left); err != nil {
			t.Fatalf("RateLimit %q: %v", list, err)
		}
		return left
	}
	var operations []string
	for n := range 200 {
		operations = append(operations, fmt.Sprintf(`{"method":"POST","path":"/Users","bulkId":"%d","data":{"userName":"u%d"}}`, n, n))
	}
	before := remaining()
	a.raw(call{"POST", "/scim/v2/Bulk", acme.scim,
		`{"schemas":["urn:ietf:params:scim:api:messages:2.0:BulkRequest"],"Operations":[` + strings.Join(operations, ",") + `]}`, nil}).want(t, 200)
	if after := remaining(); before-after < 4 {
		t.Errorf("creating 200 users took %d of the team's requests", before-after-1)
	}
	for range 3 {
		before = remaining()
	}
	if after := remaining(); before-after != 1 {
		t.Errorf("an ordinary request took %d", before-after)
	}
}

// TestALoudTeamLearnsWhenToRetry: every surface counts and says it in its own form, and the
// others do not notice.
func TestALoudTeamLearnsWhenToRetry(t *testing.T) {
	t.Parallel()
	a := newLimited(t, 2)
	loud, quiet := a.provisioned("loud"), a.newTenant("quiet")
	a.clock.Advance(time.Minute)
	list := func(x tenant) call { return call{"GET", "/collections", x.key, nil, nil} }
	for n := range 10 {
		reply := a.do(list(loud)).want(t, 200)
		if got, want := reply.Header.Get("RateLimit"), fmt.Sprintf(`"team-rate";r=%d;`, 19-n); !strings.HasPrefix(got, want) {
			t.Errorf("RateLimit %q, want %s…", got, want)
		}
		if got, want := reply.Header.Get("RateLimit-Policy"), `"team-rate";q=20;w=10, "key-rate";q=10;w=10`; got != want {
			t.Errorf("RateLimit-Policy %q, want %q", got, want)
		}
	}
	for _, c := range []call{list(loud), {"PUT", "/documents", loud.key, map[string]string{}, nil}, {"POST", "/mcp", loud.key, map[string]string{}, nil},
		{"POST", "/chat/completions", loud.key, map[string]string{}, nil}, {"GET", "/unknown", loud.key, nil, nil}} {
		reply := a.do(c).wantCode(t, 429, "rate-exceeded")
		if got := reply.text(t, "detail"); got != "This key may send 1 requests per second, and 10 at once. Try again in 1 second." {
			t.Errorf("%s: %q", c.path, got)
		}
		for name, want := range map[string]string{"Retry-After": "1", "RateLimit": `"key-rate";r=0;t=10`, "RateLimit-Policy": `"key-rate";q=10;w=10`, "X-RateLimit-Limit": ""} {
			if got := reply.Header.Get(name); got != want {
				t.Errorf("%s: %s %q, want %q", c.path, name, got, want)
			}
		}
	}
	for range 10 {
		a.raw(call{"GET", "/scim/v2/Users", loud.scim, nil, nil}).want(t, 200)
	}
	users := a.raw(call{"GET", "/scim/v2/Users", loud.scim, nil, map[string]string{"Accept": "application/scim+json"}}).want(t, 429)
	if !strings.Contains(string(users.body), "urn:ietf:params:scim:api:messages:2.0:Error") || users.Header.Get("Retry-After") != "1" {
		t.Errorf("SCIM: %s, Retry-After %q", users.body, users.Header.Get("Retry-After"))
	}
	a.do(list(quiet)).want(t, 200)
	a.clock.Advance(time.Second)
	a.do(list(loud)).want(t, 200)
	if log := a.log.String(); strings.Contains(log, `"ERROR"`) || !strings.Contains(log, `"status":429`) {
		t.Errorf("the log:\n%s", log)
	}
	for line := range strings.Lines(a.log.String()) {
		if strings.Contains(line, `"status":429`) && !strings.Contains(line, loud.ID) {
			t.Errorf("the team is not in %s", line)
		}
	}
}

// A refused request is not counted against the daily quota of a personal key.
func TestARefusedRequestIsNotCountedForTheDay(t *testing.T) {
	t.Parallel()
	a := newLimited(t, 2)
	acme := a.newTenant("acme")
	_, text := a.newKey(acme.ID, team.NewKey{Kind: team.KindPersonal, UserID: acme.admin.ID, Name: "laptop"})
	get := call{"GET", "/me", text, nil, nil}
	for range 10 {
		a.do(get).want(t, 200)
	}
	for range 5 {
		a.do(get).wantCode(t, 429, "rate-exceeded")
	}
	a.clock.Advance(time.Second)
	if left := a.do(get).want(t, 200).Header.Get("X-RateLimit-Remaining"); left != "989" {
		t.Errorf("%s calls are left, want 989", left)
	}
}
