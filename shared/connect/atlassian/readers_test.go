package atlassian_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"docent/shared/access"
	"docent/shared/connect/atlassian"
)

// An audience of two is exactly those who are in both, if every group is known. Members
// of an unknown group are never in it.
func TestBothAreThoseInBoth(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		groups := map[string]map[string]atlassian.User{}
		for g := range 4 {
			members := map[string]atlassian.User{}
			for p := range 5 {
				if random.IntN(2) == 0 {
					members[fmt.Sprint("p", p)] = atlassian.User{AccountID: fmt.Sprint("p", p)}
				}
			}
			if random.IntN(5) > 0 && len(members) > 0 {
				groups[fmt.Sprint("g", g)] = members
			}
		}
		pick := func() (a atlassian.Audience) {
			for p := range 5 {
				if random.IntN(4) == 0 {
					a.Add(atlassian.User{AccountID: fmt.Sprint("p", p)})
				}
			}
			for g := range 4 {
				if random.IntN(3) == 0 {
					a.AddGroup(fmt.Sprint("g", g))
				}
			}
			return a
		}
		contains := func(a atlassian.Audience, person string) bool {
			n := a.Names()
			return slices.Contains(n.Users, person) || slices.ContainsFunc(n.Groups, func(g string) bool { _, in := groups[g][person]; return in })
		}
		a, b := pick(), pick()
		both := atlassian.Both(a, b, func(g string) map[string]atlassian.User { return groups[g] })
		for p := range 5 {
			person := fmt.Sprint("p", p)
			if got, want := contains(both, person), contains(a, person) && contains(b, person); got != want {
				t.Fatalf("%s of %v and %v with %v: %v is %t", person, a.Names(), b.Names(), groups, both.Names(), got)
			}
		}
		for _, g := range both.Names().Groups { // an unknown one stays only if both name it
			if groups[g] == nil && !(slices.Contains(a.Names().Groups, g) && slices.Contains(b.Names().Groups, g)) {
				t.Fatalf("%s of %v and %v", g, a.Names(), b.Names())
			}
		}
	}
}

func TestNamesKeepTheBoundsOfRules(t *testing.T) {
	t.Parallel()
	if atlassian.Everyone().Names() != nil {
		t.Error("everyone has a rule")
	}
	var nobody atlassian.Audience
	if n := nobody.Names(); n == nil || len(n.Users)+len(n.Groups) > 0 {
		t.Errorf("nobody is %v", n)
	}
	var many, odd atlassian.Audience
	for i := range 300 {
		many.Add(atlassian.User{AccountID: fmt.Sprint(i), Email: fmt.Sprintf("%d@acme.example", i)})
		many.AddGroup(fmt.Sprint("group ", i))
	}
	for _, name := range []string{" ", "a\nb", "\xff", strings.Repeat("é", 300), "good"} {
		odd.AddGroup(name)
		odd.Add(atlassian.User{AccountID: name, Email: name})
	}
	odd.Add(atlassian.User{})
	if n := odd.Names(); !slices.Equal(n.Groups, []string{"good"}) || !slices.Equal(n.Users, []string{"good"}) {
		t.Errorf("%q", n)
	}
	for _, n := range []*access.Names{many.Names(), odd.Names(), nobody.Names()} {
		if err := n.Check(); err != nil {
			t.Error(err)
		}
	}
	if n := many.Names(); len(n.Groups) != access.MaxEntries {
		t.Errorf("%d groups, %d users", len(n.Groups), len(n.Users))
	}
}

func TestBothReadsTheMembersOfAGroupOncePerSide(t *testing.T) {
	t.Parallel()
	var users, groups atlassian.Audience
	for i := range 200 {
		users.Add(atlassian.User{AccountID: fmt.Sprint("user", i)})
	}
	for i := range 50 {
		groups.AddGroup(fmt.Sprint("group", i))
	}
	asked := 0
	members := func(group string) map[string]atlassian.User {
		asked++
		return map[string]atlassian.User{group + "'s": {AccountID: group + "'s"}}
	}
	if both := atlassian.Both(users, groups, members).Names(); len(both.Users)+len(both.Groups) > 0 {
		t.Errorf("in both are %v", both)
	}
	if asked > 3*50 {
		t.Errorf("asked %d times for the members of 50 groups", asked)
	}
}

// TestADeactivatedAccountReadsNothing, as both products write one. A restriction to it alone is still one.
func TestADeactivatedAccountReadsNothing(t *testing.T) {
	t.Parallel()
	for text, reads := range map[string]bool{
		`{"accountId":"a","emailAddress":"ada@acme.test","active":true}`:       true,
		`{"accountId":"a","emailAddress":"ada@acme.test","active":false}`:      false,
		`{"key":"a","name":"ada","active":false}`:                              false,
		`{"accountId":"a","email":"ada@acme.test","accountStatus":"active"}`:   true,
		`{"accountId":"a","email":"ada@acme.test","accountStatus":"unknown"}`:  true,
		`{"accountId":"a","email":"ada@acme.test","accountStatus":"closed"}`:   false,
		`{"accountId":"a","email":"ada@acme.test","accountStatus":"inactive"}`: false,
		`{"userKey":"a","username":"ada"}`:                                     true,
	} {
		var u atlassian.User
		if err := json.Unmarshal([]byte(text), &u); err != nil {
			t.Fatal(err)
		}
		var a atlassian.Audience
		a.Add(u)
		if n := a.Names(); n == nil || (len(n.Users) == 1) != reads {
			t.Errorf("%s: %+v", text, n)
		}
	}
}
