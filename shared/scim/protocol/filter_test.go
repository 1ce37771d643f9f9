package protocol_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	parser "github.com/scim2/filter-parser/v2"
	"pgregory.net/rapid"

	"docent/shared/scim/protocol"
)

func TestFilterSemantics(t *testing.T) {
	t.Parallel()
	resource := tree(t, ada)
	for filter, want := range map[string]bool{
		`userName eq "ADA@example.COM"`:               true,
		`USERNAME EQ "ada@example.com"`:               true,
		`id eq "U1"`:                                  false,
		`externalId eq "ext-1"`:                       false,
		`externalId eq Ext-1`:                         true,
		`displayName ne "ada"`:                        false,
		`displayName gt "a" and displayName le "ADA"`: true,
		`nickName ne "x"`:                             true,
		`nickName eq null`:                            true,
		`nickName ne null`:                            false,
		`displayName ne null`:                         true,
		`title pr`:                                    false,
		`name pr`:                                     true,
		`name.familyName sw "love" and name.familyName ew "LACE"`: true,
		`active eq "True"`:                                true,
		`active eq false`:                                 false,
		`active ne false`:                                 true,
		`emails co "@home"`:                               true,
		`emails eq "ada@work.test"`:                       true,
		`emails.type eq "WORK"`:                           true,
		`emails.value ne "ada@work.test"`:                 true,
		`emails[type eq "work" and value co "home"]`:      false,
		`emails[type eq "work"].value eq "ada@work.test"`: true,
		`emails[type eq "home"].value eq "ada@work.test"`: false,
		`emails[not (type eq "work") and (value co "home" or value co "x")]`: true,
		`emails[primary eq "TRUE"].value sw "ada"`:                           true,
		`emails[primary eq true] pr`:                                         true,
		`emails[primary eq false].value co "@home"`:                          true,
		`emails[primary eq false].value co "@work"`:                          false,
		`emails[primary ne true].value co "@home"`:                           true,
		`emails.primary eq false`:                                            true,
		`emails.primary ne true`:                                             true,
		`emails[primary ne false].value co "@home"`:                          false,
		`emails[primary ne false].value co "@work"`:                          true,
		`emails[value co "@home"].primary ne false`:                          false,
		`phoneNumbers.primary ne false`:                                      true,
		`emails[not (primary pr)].value co "@home"`:                          true,
		`phoneNumbers.primary eq false`:                                      false,
		`phoneNumbers[type eq "work"]`:                                       false,
		`not (userName eq "x")`:                                              true,
		`not(userName eq "x") and active eq true`:                            true,
		`userName eq "x" and userName eq "y" or displayName eq "ada"`:        true,
		`displayName eq "ada" or userName eq "x" and userName eq "y"`:        true,
		`(displayName eq "ada" or userName eq "x") and userName eq "y"`:      false,
		`meta.created gt "2026-11-21T05:00:00.0000001-06:59"`:                true,
		`meta.created eq "2026-11-21T13:00:00+01:00"`:                        true,
		`meta.created lt "2026-11-21T12:00:00"`:                              false,
		`meta.created sw "2026-11"`:                                          true,
		enterprise + `:employeeNumber eq 9223372036854775808`:                true,
		enterprise + `:employeeNumber eq "-9223372036854775808"`:             false,
		strings.ToUpper(enterprise) + `:MANAGER eq "Boss"`:                   true,
		enterprise + `:manager.value eq "boss"`:                              false,
		enterprise + ` pr`:                                                   true,
		`urn:ietf:params:scim:schemas:core:2.0:User:userName co "\u0061DA\"`: false,
		`urn:ietf:params:scim:schemas:core:2.0:User:userName co "\u0061DA"`:  true,
		`x509Certificates.value eq "abc="`:                                   false,
		`  userName   pr  `:                                                  true,
	} {
		got, err := match("User", filter, false, resource)
		if strings.HasSuffix(filter, `\"`) {
			wantType(t, err, "invalidFilter")
		} else if err != nil || got != want {
			t.Errorf("%s: %v, %v, want %v", filter, got, err, want)
		}
	}
}

func TestBadFilterIsNeverEverything(t *testing.T) {
	t.Parallel()
	resource := tree(t, ada)
	for _, filter := range []string{
		"", " ", "userName", "userName eq", `userName zz "a"`, `(userName eq "a"`, `userName eq "a")`, `userName eq "a" and`,
		`and userName pr`, `emails[type eq "work"`, `emails[type eq "work"]]`, `userName eq "a`, `not userName eq "a"`, `not`,
		"active gt true", "active co true", `active eq "maybe"`, `meta.created gt "yesterday"`, `name eq "x"`, `noSuch eq "x"`, `userName.x eq "y"`,
		`emails.noSuch eq "x"`, `emails[noSuch eq "x"]`, `userName[a eq "b"]`, `emails[emails[type eq "x"]]`, `emails[].value eq "x"`,
		`emails[type eq "work"].`, `emails[type eq "work"].a.b eq "x"`, `userName gt null`, `x509Certificates.value gt "A"`,
		enterprise + ` eq "x"`, `"userName" eq "x"`, `userName "eq" "x"`, `userName eq ()`, `userName pr pr`, `a.b.c pr`, `1a pr`, "\xff pr",
		`userName eq "\ud800\uZZZZ"`, `urn:other:2.0:User:userName pr`, "userName eq \"a\nb\"",
		strings.Repeat("(", 33) + "userName pr" + strings.Repeat(")", 33), strings.Repeat("not (", 33) + "userName pr" + strings.Repeat(")", 33),
		`userName eq 'ada'`, `userName eq 'ada lovelace'`, `userName eq o'hara`, `emails[type eq 'work']`, `'userName' eq "x"`,
		`userName eq "` + strings.Repeat("a", 1_000_000) + `"`, strings.Repeat("(", 8192), strings.Repeat("[", 8192),
	} {
		_, err := match("User", filter, false, resource)
		wantType(t, err, "invalidFilter")
	}
	deepest := strings.Repeat("(", 32) + "userName pr" + strings.Repeat(")", 32)
	if got, err := match("User", deepest, false, resource); !got || err != nil {
		t.Errorf("32 levels: %v, %v", got, err)
	}
}

// TestSingleQuotesAreRejected: outside of double quotes they are rejected, with a message that
// names them.
func TestSingleQuotesAreRejected(t *testing.T) {
	t.Parallel()
	resource := tree(t, `{"userName":"O'Hara"}`)
	if got, err := match("User", `userName eq "o'hara"`, false, resource); !got || err != nil {
		t.Errorf("within double quotes: %v, %v", got, err)
	}
	_, err := protocol.ParseFilter(`userName eq 'o"hara'`)
	_, pathErr := reprintPath(`emails[type eq 'work'].value`)
	for _, err := range []error{err, pathErr} {
		if err == nil || !strings.Contains(err.Error(), "double quotes") {
			t.Errorf("%v", err)
		}
	}
}

func TestRootSearchTreatsUnknownAsUnassigned(t *testing.T) {
	t.Parallel()
	group := tree(t, `{"id":"g","displayName":"G","meta":{"resourceType":"Group"}}`)
	for filter, want := range map[string]bool{
		`userName eq "x"`: false, `userName pr`: false, `userName ne "x"`: true, `userName eq null`: true,
		`emails[type eq "work"]`: false, `meta.resourceType eq "Group"`: true, `urn:x:y eq "z" or displayName eq "g"`: true,
	} {
		if got, err := match("Group", filter, true, group); err != nil || got != want {
			t.Errorf("%s: %v, %v, want %v", filter, got, err, want)
		}
	}
}

var names = []string{"userName", "name.familyName", "emails.value", "displayName", "nickName", "title", enterprise + ":department"}

// filters generates filters, some of which match ada.
func filters(depth int) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		kind := rapid.IntRange(0, 5).Draw(t, "kind")
		if depth == 0 {
			kind = min(kind, 2)
		}
		switch kind {
		case 0:
			return rapid.SampledFrom(names).Draw(t, "name") + " pr"
		case 1, 2:
			value := rapid.SampledFrom([]string{"ada", "Ada@Example.com", "a", "love", "ada@work.test", "zz"}).Draw(t, "value")
			return rapid.SampledFrom(names).Draw(t, "name") + " " + rapid.SampledFrom([]string{"eq", "co", "sw", "ew", "gt", "ge", "lt", "le"}).Draw(t, "op") + ` "` + value + `"`
		case 3:
			return "not (" + filters(depth-1).Draw(t, "inner") + ")"
		default:
			word := rapid.SampledFrom([]string{" and ", " or "}).Draw(t, "word")
			return "(" + filters(depth-1).Draw(t, "left") + word + filters(depth-1).Draw(t, "right") + ")"
		}
	})
}

func TestParsePrintParse(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) { reprints(t, filters(4).Draw(t, "filter")) })
	reprints(t, `a eq "x" and (b pr and c pr) or not (emails[type eq "w" or (x pr or y pr)].value ne "q\"\\é") or (d pr or e pr)`)
}

func reprints(t interface{ Fatalf(string, ...any) }, text string) {
	first, err := protocol.ParseFilter(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	again, err := protocol.ParseFilter(first.String())
	if err != nil {
		t.Fatalf("%s printed as %s: %v", text, first, err)
	}
	if diff := cmp.Diff(first.String(), again.String()); diff != "" {
		t.Fatalf("%s: %s", text, diff)
	}
	resource, err := protocol.DecodeObject([]byte(ada))
	if err != nil {
		t.Fatalf("%v", err)
	}
	a, errA := match("User", text, true, resource)
	b, errB := match("User", first.String(), true, resource)
	if a != b || (errA == nil) != (errB == nil) {
		t.Fatalf("%s and %s differ: %v %v, %v %v", text, first, a, errA, b, errB)
	}
}

// TestFiltersAgreeWithOracle compares our filters with those of another parser, within the
// grammar that both support.
func TestFiltersAgreeWithOracle(t *testing.T) {
	t.Parallel()
	resource := tree(t, ada)
	rapid.Check(t, func(t *rapid.T) {
		text := filters(3).Draw(t, "filter")
		expression, err := parser.ParseFilter([]byte(text))
		if err != nil {
			t.Fatalf("the oracle rejects %s: %v", text, err)
		}
		got, err := match("User", text, false, resource)
		if want := oracle(expression, resource); err != nil || got != want {
			t.Fatalf("%s: %v, %v, the oracle says %v", text, got, err, want)
		}
	})
}

// oracle evaluates a tree of the other parser, with each clause evaluated by ours.
func oracle(e parser.Expression, resource map[string]any) bool {
	switch e := e.(type) {
	case *parser.LogicalExpression:
		left, right := oracle(e.Left, resource), oracle(e.Right, resource)
		if e.Operator == parser.AND {
			return left && right
		}
		return left || right
	case *parser.NotExpression:
		return !oracle(e.Expression, resource)
	case *parser.AttributeExpression:
		text := e.AttributePath.String() + " " + string(e.Operator)
		if e.Operator != parser.PR {
			text += ` "` + e.CompareValue.(string) + `"`
		}
		holds, err := match("User", text, false, resource)
		return holds && err == nil
	default:
		panic("unexpected expression")
	}
}

func FuzzFilter(f *testing.F) {
	for _, seed := range []string{`userName eq "a" and not (emails[type eq "work"].value co "x")`, `a pr or b.c ne null`, enterprise + `:x eq 1`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		parsed, err := protocol.ParseFilter(text)
		if err != nil {
			wantType(t, err, "invalidFilter")
			return
		}
		if len(parsed.String()) <= 8<<10 {
			reprints(t, text)
		}
	})
}

func FuzzPath(f *testing.F) {
	for _, seed := range []string{"members", `emails[type eq "work"].value`, enterprise, enterprise + ":manager.value", "a.b"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		printed, err := reprintPath(text)
		if err != nil {
			wantType(t, err, "invalidPath")
			return
		}
		if again, err := reprintPath(printed); len(printed) <= 8<<10 && (err != nil || again != printed) {
			t.Fatalf("%q prints as %q, then as %q, %v", text, printed, again, err)
		}
	})
}

// TestComparingMembersAllocatesNothing: a long filter compares each member of each group many times. Allocations are counted, so
// it does not run in parallel.
func TestComparingMembersAllocatesNothing(t *testing.T) {
	members := []any{}
	for n := range 1000 {
		members = append(members, map[string]any{"value": fmt.Sprint(n)})
	}
	group := map[string]any{"members": members}
	for _, filter := range []string{`members.value co "x"`, `members[value eq "x"]`, `not (members.value pr)`} {
		parsed, err := protocol.ParseFilter(filter)
		if err != nil {
			t.Fatal(err)
		}
		matches, err := (&protocol.Compiler{Type: protocol.GroupType}).Compile(parsed)
		if err != nil {
			t.Fatal(err)
		}
		if allocations := testing.AllocsPerRun(5, func() { matches(group) }); allocations > 0 {
			t.Errorf("%s: %v allocations", filter, allocations)
		}
	}
}
