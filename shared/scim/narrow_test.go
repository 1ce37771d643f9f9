package scim_test

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"docent/shared/scim/protocol"
	"docent/shared/table"
)

// filtersOfRelated returns filters that an index answers, alone or in parts, of users and of groups. A team has users and groups
// with these ids.
func filtersOfRelated(users, groups []string) (ofUsers, ofGroups []string) {
	expand := func(filters ...string) (out []string) {
		for _, f := range filters {
			out = append(out, strings.NewReplacer("U0", users[0], "U1", users[1], "U2", users[2], "G0", groups[0], "G1", groups[1]).Replace(f))
		}
		return out
	}
	return expand(
			`groups.value eq "G0"`, `groups eq "G0"`, core+`:groups eq "G0"`, `groups[value eq "G0"]`, `groups[value eq "G0" and display eq "ODD"]`, `groups[value eq "G0" and display eq "even"]`,
			`groups eq "G0" or groups eq "G1"`, `groups[value eq "G0" or value eq "G1"]`, `groups eq "G0" and groups eq "G1"`, `groups[value eq "G0" and value eq "G1"]`,
			`not (groups eq "G0")`, `not (groups eq "G0") and not (groups eq "G1")`, `groups[not (value eq "G0")]`, `groups ne "G0"`, `groups[value eq "G0"].display eq "odd"`, `groups[value eq "G0"].display ne null`,
			`groups.display eq "odd"`, `groups[display eq "ODD"]`, `groups.display eq "odd" or groups.display eq "even"`, `groups.display eq "odd" and groups.display eq "even"`, `groups.display eq "nobody"`,
			`groups.display eq "none"`, `not (groups.display eq "odd")`, `groups.display ne "odd"`, `groups.display eq null`, `groups[display eq "odd" and value eq "G1"]`, `groups.display eq "odd" or id eq "U0"`,
			`groups eq "G0" and not (groups pr)`, `groups eq "G0" or userName sw "z"`, `groups eq "G0" and userName sw "b"`, `groups eq "none"`, `groups eq "U0"`, `groups eq null`, `groups[value eq "G0"] eq null`, `not (groups[value eq "G0"])`,
			`id eq "U0" or id eq "U2" or id eq "U0"`, `userName eq "ann00" or emails.value eq "e7@x.test" or externalId eq "X4"`, `(id eq "U0" or id eq "U1") and groups eq "G0"`, `userName eq "ann00" or userName co "7"`,
			`active eq false or groups eq "G1"`, `active eq false or active eq true`, `emails[value eq "e7@x.test" or value eq "e14@x.test"]`, `emails[value eq "e7@x.test" or type eq "work"]`,
			enterprise+`:manager.value eq "U0"`, enterprise+`:manager eq "U0"`, enterprise+`:manager pr`, enterprise+`:manager.displayName co "a"`, enterprise+`:manager.$ref ew "U0"`,
		), expand(
			`members eq "U0"`, `members.value eq "U0" or members.value eq "U1"`, `members[value eq "U0" or value eq "U2"]`, `members eq "U0" and members eq "U2"`, `not (members eq "U0")`, `not (members eq "U0") and displayName sw "e"`,
			`members ne "U0"`, `members[not (value eq "U0")]`, `members pr`, `not (members pr)`, `members.value pr`, `members eq null`, `members ne null`, `members pr and not (members eq "U0")`, `members pr and members.display pr`, `id eq "G1" and members pr`, `not (members pr) or members eq "U1"`, `members[value eq "U0" and display eq "x"]`, `members.display pr`, `members eq "none"`, `members eq "G0"`,
			`id eq "G0" or id eq "G1"`, `id eq "G0" and members eq "U0"`, `id eq "G0" and members eq "U1"`, `(id eq "G0" or id eq "G1") and (members eq "U0" or members eq "U1")`, `displayName eq "odd" or members eq "U1"`, `displayName eq "odd" or displayName co "v"`)
}

// TestFiltersFindWhatTheResourcesSay: whichever index answers a filter, and whatever is read of related resources, a list has what
// the filter matches of the whole resources.
func TestFiltersFindWhatTheResourcesSay(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.crowd(40)
	s.must(201, "POST", "/Groups", `{"displayName":"nobody"}`)
	all := func(path string) (out []map[string]any) {
		for _, r := range s.must(200, "GET", path+"?count=200", "").body["Resources"].([]any) {
			out = append(out, r.(map[string]any))
		}
		return out
	}
	users, groups := all("/Users"), all("/Groups")
	member := func(n int) string { return users[n]["id"].(string) }
	ofUsers, ofGroups := filtersOfRelated([]string{member(1), member(2), member(3)}, []string{groups[0]["id"].(string), groups[1]["id"].(string)})
	for _, test := range []struct {
		path    string
		t       *protocol.ResourceType
		all     []map[string]any
		filters []string
	}{{"/Users", protocol.UserType, users, ofUsers}, {"/Groups", protocol.GroupType, groups, ofGroups}} {
		for _, filter := range test.filters {
			parsed, err := protocol.ParseFilter(filter)
			if err != nil {
				t.Fatal(filter, err)
			}
			matches, err := (&protocol.Compiler{Type: test.t}).Compile(parsed)
			if err != nil {
				t.Fatal(filter, err)
			}
			var want []any
			for _, r := range test.all {
				if matches(r) {
					want = append(want, r)
				}
			}
			got := s.must(200, "GET", test.path+"?count=200&filter="+url.QueryEscape(filter), "").body["Resources"].([]any)
			if !slices.EqualFunc(got, want, protocol.Equal) {
				t.Errorf("%s of %s: %d resources, want %d as they are", filter, test.path, len(got), len(want))
			}
		}
	}
}

// TestAFilterReadsTheResourcesThatItNames: what a filter by eq reads does not grow with the team, also if it has several of them.
func TestAFilterReadsTheResourcesThatItNames(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	ids := s.people(30)
	group := s.group("one", ids[:5]...)
	second := s.group("two", ids[5:8]...)
	filters := map[string]string{
		"the members of a group":                "/Users?filter=" + url.QueryEscape(`groups.value eq "`+group+`"`),
		"the members of two groups":             "/Users?filter=" + url.QueryEscape(`groups[value eq "`+group+`" or value eq "`+second+`"]`),
		"the members of a group by its name":    "/Users?filter=" + url.QueryEscape(`groups.display eq "ONE"`),
		"the members of groups by their names":  "/Users?attributes=id&filter=" + url.QueryEscape(`groups[display eq "one" or display eq "two"]`),
		"several names":                         "/Users?filter=" + url.QueryEscape(`userName eq "p000003" or userName eq "p000004" or emails eq "x@y.test"`),
		"the groups of several users":           "/Groups?attributes=id&filter=" + url.QueryEscape(`members eq "`+ids[0]+`" or members eq "`+ids[6]+`"`),
		"a group or the groups of another user": "/Groups?attributes=id&filter=" + url.QueryEscape(`displayName eq "two" or members.value eq "`+ids[0]+`"`),
	}
	cost := func(path string) table.Cost {
		ctx, meter := table.WithMeter(t.Context())
		if r := s.within(ctx, "GET", path); r.StatusCode != 200 || r.body["totalResults"] == 0.0 {
			t.Fatalf("%s: %s", path, r.text)
		}
		return meter.Read()
	}
	before := map[string]table.Cost{}
	for name, path := range filters {
		before[name] = cost(path)
	}
	for n := range 20 {
		s.group(fmt.Sprintf("other %d", n), ids[10:]...)
	}
	for n := range 200 {
		s.user(fmt.Sprintf("other %d", n))
	}
	for name, path := range filters {
		if got := cost(path); got.Calls > before[name].Calls || got.ReadUnits > before[name].ReadUnits {
			t.Errorf("%s: %+v in a larger team, %+v before", name, got, before[name])
		}
	}
}

// TestAFilterOfGroupsWithMembersReadsAFewOfThem: whether a group has members is told by one of them.
func TestAFilterOfGroupsWithMembersReadsAFewOfThem(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	group := s.group("many", s.people(500)...)
	read := func(path string) float64 {
		ctx, meter := table.WithMeter(t.Context())
		if r := s.within(ctx, "GET", path); r.StatusCode != 200 {
			t.Fatalf("%s: %s", path, r.text)
		}
		return meter.Read().ReadUnits
	}
	few, all := read("/Groups?attributes=id&filter="+url.QueryEscape("members pr")), read("/Groups/"+group)
	if few > all/2 {
		t.Errorf("%v units are read, and %v for all members", few, all)
	}
}

// TestManyComparedMembersAreReadByUser: a filter of members that no index answers reads what these users are members of, and does
// not look for each of them in each group.
func TestManyComparedMembersAreReadByUser(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	ids := s.people(40)
	for n := range 40 {
		s.group(fmt.Sprintf("g%d", n), ids[n])
	}
	var filter []string
	for _, id := range ids {
		filter = append(filter, `not (members eq "`+id+`")`)
	}
	ctx, meter := table.WithMeter(t.Context())
	if r := s.within(ctx, "GET", "/Groups?attributes=id&filter="+url.QueryEscape(strings.Join(filter, " and "))); r.body["totalResults"] != 0.0 {
		t.Fatal(r.text)
	}
	if got := meter.Read(); got.ReadUnits > 100 {
		t.Errorf("%+v for 40 users in 40 groups", got)
	}
}

// TestAFilterThatComparesTooMuchIsRefused: what a filter compares is bounded over all resources and their elements, whichever of its
// parts are true.
func TestAFilterThatComparesTooMuchIsRefused(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	ids := s.people(9) // ten users with the first admin
	s.group("one", ids...)
	s.group("two", ids...)
	for path, compared := range map[string]int64{
		`/Users?filter=userName co "x"`:                                            10,
		`/Users?filter=userName co "p" or userName co "x"`:                         20,
		`/Users?filter=groups.display co "x"`:                                      19, // nine users in two groups, one in none
		`/Users?filter=groups[type co "x" or not (display eq "y")]`:                57,
		`/Users?filter=not (groups.display co "x") and userName pr`:                29,
		`/Users?filter=userName co "x"&sortBy=userName`:                            20,
		`/Groups?filter=members.display co "x" or members co "y"`:                  36,
		`/Groups?filter=members[display co "x"] or displayName sw "t"`:             38,
		`/Groups?filter=displayName eq "one" and members.type eq "User"`:           10, // one group, by its name
		`/Users?filter=groups.display co "x" and ` + enterprise + `:department pr`: 29,
	} {
		s.SetMaxCompared(compared)
		s.must(200, "GET", path, "")
		s.SetMaxCompared(compared - 1)
		s.must(400, "GET", path, "").refuses(t, 400, "tooMany")
	}
}
