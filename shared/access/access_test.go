package access_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"docent/shared/access"
)

var (
	engineering = access.Group{ID: "g-1", DisplayName: "Engineering", ExternalID: "ext-1"}
	ada         = access.Person("u-1", "ada@acme.example", []access.Group{engineering})
)

func rule(users, groups []access.Entry) *access.Rule {
	return &access.Rule{Users: users, Groups: groups}
}

func user(name, id string) *access.Rule  { return rule([]access.Entry{{Name: name, ID: id}}, nil) }
func group(name, id string) *access.Rule { return rule(nil, []access.Entry{{Name: name, ID: id}}) }

func TestMayRead(t *testing.T) {
	t.Parallel()
	nobody := rule(nil, nil)
	for name, test := range map[string]struct {
		reader         access.Reader
		own, byDefault *access.Rule
		want           bool
	}{
		"no rule":                               {ada, nil, nil, true},
		"the zero reader without a rule":        {access.Reader{}, nil, nil, false},
		"a person without an id":                {access.Person("", "ada@acme.example", []access.Group{engineering}), nil, nil, false},
		"the zero reader":                       {access.Reader{}, user("ada@acme.example", "u-1"), nil, false},
		"everything, nobody allowed":            {access.Everything(), nobody, nobody, true},
		"everything, no rule":                   {access.Everything(), nil, nil, true},
		"nobody allowed":                        {ada, nobody, nil, false},
		"nobody allowed by default":             {ada, nil, nobody, false},
		"own opens what the default closes":     {ada, user("x", "u-1"), nobody, true},
		"own closes what the default opens":     {ada, nobody, user("x", "u-1"), false},
		"the default opens":                     {ada, nil, user("x", "u-1"), true},
		"user by id":                            {ada, user("old name", "u-1"), nil, true},
		"another user who has the name now":     {ada, user("ada@acme.example", "u-2"), nil, false},
		"unresolved userName in other case":     {ada, user("ADA@acme.example", ""), nil, true},
		"unresolved user id":                    {ada, user("u-1", ""), nil, true},
		"unresolved stranger":                   {ada, user("eve@acme.example", ""), nil, false},
		"group by id":                           {ada, group("old name", "g-1"), nil, true},
		"another group that has the name now":   {ada, group("Engineering", "g-2"), nil, false},
		"unresolved displayName":                {ada, group("engineering", ""), nil, true},
		"unresolved externalId":                 {ada, group("ext-1", ""), nil, true},
		"unresolved group id":                   {ada, group("g-1", ""), nil, true},
		"a user named like her group":           {ada, user("Engineering", ""), nil, false},
		"a group named like her":                {ada, group("ada@acme.example", ""), nil, false},
		"a user with the id of her group":       {ada, user("x", "g-1"), nil, false},
		"a group with her id":                   {ada, group("x", "u-1"), nil, false},
		"an empty name":                         {ada, user("", ""), nil, false},
		"an empty group name":                   {access.Person("u-1", "", []access.Group{{ID: "g-1"}}), group("", ""), nil, false},
		"an entry whose name looks like an id":  {ada, user("u:u-1", ""), nil, false},
		"one of many entries":                   {ada, rule([]access.Entry{{Name: "eve"}}, []access.Entry{{Name: "x", ID: "g-9"}, {Name: "y", ID: "g-1"}}), nil, true},
		"a member of a group without an id":     {access.Person("u-1", "a", []access.Group{{DisplayName: "Engineering"}}), group("Engineering", ""), nil, false},
		"letters that fold beyond ASCII":        {access.Person("u-1", "ΚΌΣΜΟΣ", nil), user("κόσμος", ""), nil, true},
		"accents that are spelled otherwise":    {access.Person("u-1", "ren\u00e9", nil), user("Rene\u0301", ""), nil, true},
		"accents that the name spells out":      {access.Person("u-1", "rene\u0301", nil), user("Ren\u00e9", ""), nil, true},
		"an accent that is not there":           {access.Person("u-1", "rene", nil), user("ren\u00e9", ""), nil, false},
		"letters that merely look alike":        {access.Person("u-1", "аda@acme.example", nil), user("ada@acme.example", ""), nil, false},
		"a person of no groups, a group's rule": {access.Person("u-1", "a", nil), group("Engineering", "g-1"), nil, false},
	} {
		if got := test.reader.MayRead(test.own, test.byDefault); got != test.want {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}

// An index decides with tokens alone, and must decide the same.
func TestTokensDecideLikeMayRead(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	pick := func(prefix string) string { return fmt.Sprintf("%s%d", prefix, random.IntN(4)) }
	entries := func(prefix string) (all []access.Entry) {
		for range random.IntN(4) {
			e := access.Entry{Name: pick("N" + prefix)}
			if random.IntN(2) == 0 {
				e.ID = pick("i" + prefix)
			}
			all = append(all, e)
		}
		return all
	}
	agreed := map[bool]int{}
	for range 20_000 {
		var groups []access.Group
		for range random.IntN(3) {
			groups = append(groups, access.Group{ID: pick("ig"), DisplayName: pick("ng"), ExternalID: pick("ng")})
		}
		reader := access.Person(pick("iu"), pick("nu"), groups)
		r := rule(entries("u"), entries("g"))
		shared := slices.ContainsFunc(r.Tokens(), func(token access.Token) bool { return slices.Contains(reader.Tokens(), token) })
		if got := reader.MayRead(r, nil); got != shared {
			t.Fatalf("%v of %v: MayRead is %v, common tokens: %v", reader.Tokens(), r.Tokens(), got, shared)
		}
		by := reader.By(r)
		if (len(by.Users)+len(by.Groups) > 0) != shared {
			t.Fatalf("%v of %v: opened by %v", reader.Tokens(), r.Tokens(), by)
		}
		for _, tokens := range [][]access.Token{r.Tokens(), reader.Tokens()} {
			if !slices.IsSorted(tokens) || len(slices.Compact(slices.Clone(tokens))) != len(tokens) {
				t.Fatalf("%v are not sorted and distinct", tokens)
			}
		}
		agreed[shared]++
	}
	if agreed[true] < 1000 || agreed[false] < 1000 {
		t.Fatalf("only %v decisions were compared", agreed)
	}
}

func TestWithin(t *testing.T) {
	t.Parallel()
	all, none := access.Everything(), access.Reader{}
	ada := access.Person("1", "ada", []access.Group{{ID: "a"}})
	more := access.Person("1", "ada", []access.Group{{ID: "a"}, {ID: "b"}})
	eve := access.Person("2", "ada", []access.Group{{ID: "a"}})
	for i, c := range []struct {
		r, other access.Reader
		want     bool
	}{
		{all, all, true}, {none, none, true}, {ada, ada, true}, {ada, more, true}, {none, ada, true}, {ada, all, true},
		{more, ada, false}, {ada, none, false}, {all, ada, false}, {ada, eve, false},
	} {
		if got := c.r.Within(c.other); got != c.want {
			t.Errorf("%d: %t", i, got)
		}
	}
}

func TestTokensDistinguishNoRuleFromNoReaders(t *testing.T) {
	t.Parallel()
	if got := (*access.Rule)(nil).Tokens(); got != nil {
		t.Errorf("no rule has the tokens %v", got)
	}
	if got := rule(nil, nil).Tokens(); got == nil || len(got) != 0 {
		t.Errorf("a rule without entries has the tokens %#v", got)
	}
}

func TestStoredForm(t *testing.T) {
	t.Parallel()
	for stored, want := range map[string]*access.Rule{
		"":                           nil,
		`{"users":null,"groups":[]}`: rule(nil, nil),
		`{"users":[{"name":"ada","id":"u-1"}],"groups":[{"name":"Eng"}]}`: rule([]access.Entry{{Name: "ada", ID: "u-1"}}, []access.Entry{{Name: "Eng"}}),
		`{"users":[{"name":"ada"`: rule(nil, nil), // damaged: nobody, not everybody
		`null `:                   rule(nil, nil),
		`[]`:                      rule(nil, nil),
	} {
		got := access.Decode(stored)
		if !got.Equal(want) {
			t.Errorf("%q is %v, want %v", stored, got, want)
		}
		if again := access.Decode(got.Encode()); !again.Equal(got) {
			t.Errorf("%v is stored as %q", got, got.Encode())
		}
	}
}

func TestWrittenForm(t *testing.T) {
	t.Parallel()
	if (*access.Rule)(nil).Names() != nil {
		t.Error("no rule is written as one")
	}
	r := rule([]access.Entry{{Name: "Ada", ID: "u-1"}, {Name: "eve"}}, []access.Entry{{Name: "Eng"}})
	if names := r.Names(); !slices.Equal(names.Users, []string{"Ada", "eve"}) || !slices.Equal(names.Groups, []string{"Eng"}) {
		t.Errorf("written %v", names)
	}
	if names := rule(nil, nil).Names(); names.Users == nil || names.Groups == nil {
		t.Errorf("an empty list is written as null: %#v", names)
	}
	if unknown := r.Unresolved(); !slices.Equal(unknown.Users, []string{"eve"}) || !slices.Equal(unknown.Groups, []string{"Eng"}) {
		t.Errorf("unknown: %v", unknown)
	}
	if r.Equal(rule([]access.Entry{{Name: "Ada"}, {Name: "eve"}}, r.Groups)) || r.Equal(nil) || (*access.Rule)(nil).Equal(rule(nil, nil)) {
		t.Error("different rules are equal")
	}
	if got := r.String(); got != "2 users, 1 group" {
		t.Errorf("an event shows %q", got)
	}
}

func TestWhichNamesAreRefused(t *testing.T) {
	t.Parallel()
	many := make([]string, 201)
	for i := range many {
		many[i] = fmt.Sprintf("u%d", i)
	}
	long := strings.Repeat("é", 256)
	var big []string
	for range access.MaxBytes / len(long) {
		big = append(big, long)
	}
	for name, test := range map[string]struct {
		names   *access.Names
		pointer string
		ok      bool
	}{
		"no names":             {nil, "", true},
		"nobody":               {&access.Names{}, "", true},
		"some":                 {&access.Names{Users: []string{"ada", long}, Groups: []string{"Eng ineering"}}, "", true},
		"as many as allowed":   {&access.Names{Users: many[:100], Groups: many[:100]}, "", true},
		"one too many":         {&access.Names{Users: many[:100], Groups: many[:101]}, "", false},
		"an empty one":         {&access.Names{Users: []string{"a", ""}}, "/users/1", false},
		"blanks":               {&access.Names{Groups: []string{" \u00a0"}}, "/groups/0", false},
		"one that is too long": {&access.Names{Users: []string{long + "é"}}, "/users/0", false},
		"a control character":  {&access.Names{Groups: []string{"a\nb"}}, "/groups/0", false},
		"not UTF-8":            {&access.Names{Groups: []string{"a\xff"}}, "/groups/0", false},
		"as many bytes":        {&access.Names{Users: big}, "", true},
		"a byte too many":      {&access.Names{Users: big, Groups: []string{"g"}}, "", false},
	} {
		err := test.names.Check()
		var refused *access.NamesError
		if test.ok != (err == nil) || err != nil && (!errors.As(err, &refused) || refused.Pointer != test.pointer) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestNamesAsClientsWriteThem(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]*access.Names{
		`{}`:                               {},
		`{"users":["ada"]}`:                {Users: []string{"ada"}},
		`{"groups":["Eng"]}`:               {Groups: []string{"Eng"}},
		`{"users":["ada"],"groups":["E"]}`: {Users: []string{"ada"}, Groups: []string{"E"}},
		`{"users":["ada"],"user":["ben"]}`: nil,
		`{"Users":["ada"]}`:                nil,
		`{"users":"ada"}`:                  nil,
		`["ada"]`:                          nil,
	} {
		got, err := access.DecodeNames([]byte(text))
		if want == nil {
			if err == nil {
				t.Errorf("%s is read as %v", text, got)
			}
			continue
		}
		if err != nil || !slices.Equal(got.Users, want.Users) || !slices.Equal(got.Groups, want.Groups) {
			t.Errorf("%s is read as %v, %v", text, got, err)
		}
	}
}
