package scim_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"docent/shared/access"
)

// TestTheSpellingOfAccentsMakesNoOtherUser has a provider that sends a name once with composed letters and once with accents that
// combine (RFC 7644 section 7.8).
func TestTheSpellingOfAccentsMakesNoOtherUser(t *testing.T) {
	t.Parallel()
	const composed, decomposed = "ren\u00e9@acme.test", "RENE\u0301@acme.test"
	s := newServer(t)
	id := s.user(composed)
	s.do("POST", "/Users", `{"userName":"`+decomposed+`"}`).refuses(t, 409, "uniqueness")
	for filter, want := range map[string]float64{
		`userName eq "` + decomposed + `"`:                      1,
		`userName eq "` + decomposed + `" and title pr`:         0,
		`userName eq "` + decomposed + `" or title pr`:          1,
		`userName sw "RENE` + "\u0301" + `"`:                    1,
		`userName sw "rene@"`:                                   0,
		`not (userName eq "` + decomposed + `")`:                1, // the first admin
		`userName eq "` + composed + `" and id eq "` + id + `"`: 1,
	} {
		if got := s.must(200, "GET", "/Users?filter="+url.QueryEscape(filter), "").body["totalResults"]; got != want {
			t.Errorf("%s: %v, want %v", filter, got, want)
		}
	}
	// Another spelling does not rename an admin, so that a provider may send it.
	admin := s.admin("jos\u00e9")
	s.must(200, "PUT", "/Users/"+admin, `{"userName":"jose`+"\u0301"+`","title":"t"}`)
	s.must(200, "PATCH", "/Users/"+admin, message(`{"op":"replace","path":"userName","value":"JOS`+"\u00c9"+`"}`))
	s.do("PUT", "/Users/"+admin, `{"userName":"jose"}`).refuses(t, 403, "")
}

// TestTheSpellingOfAccentsMakesNoOtherGroup: the same for the displayName of a group, by which rules of documents name it, too.
func TestTheSpellingOfAccentsMakesNoOtherGroup(t *testing.T) {
	t.Parallel()
	const composed, decomposed = "Caf\u00e9", "CAFE\u0301"
	s := newServer(t)
	id := s.must(201, "POST", "/Groups", `{"displayName":"`+composed+`"}`).string("id")
	s.do("POST", "/Groups", `{"displayName":"`+decomposed+`"}`).refuses(t, 409, "uniqueness")
	other := s.must(201, "POST", "/Groups", `{"displayName":"Bakery"}`).string("id")
	s.do("PUT", "/Groups/"+other, `{"displayName":"`+decomposed+`"}`).refuses(t, 409, "uniqueness")
	for filter, want := range map[string]float64{
		`displayName eq "` + decomposed + `"`:                        1,
		`displayName eq "` + decomposed + `" and id eq "` + id + `"`: 1,
		`displayName sw "CAFE` + "\u0301" + `"`:                      1,
		`displayName sw "cafes"`:                                     0,
		`not (displayName eq "` + decomposed + `")`:                  1,
	} {
		if got := s.must(200, "GET", "/Groups?filter="+url.QueryEscape(filter), "").body["totalResults"]; got != want {
			t.Errorf("%s: %v, want %v", filter, got, want)
		}
	}
	rules, err := s.Resolve(t.Context(), s.team.ID, &access.Names{Groups: []string{decomposed, composed, "Bakery", "Cafe"}})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{id, id, other, ""} {
		if got := rules[0].Groups[i].ID; got != want {
			t.Errorf("%s means %q, want %q", rules[0].Groups[i].Name, got, want)
		}
	}
	// A rule that was written before the group was made, in the other spelling.
	for _, name := range []string{composed, decomposed} {
		reader := access.Person("u", "u", []access.Group{{ID: "g", DisplayName: name}})
		for _, rule := range []string{composed, decomposed} {
			if !reader.MayRead(&access.Rule{Groups: []access.Entry{{Name: rule}}}, nil) {
				t.Errorf("a member of %q does not read by %q", name, rule)
			}
		}
	}
	// The group takes its own name in the other spelling, and gives it up in both.
	s.must(200, "PUT", "/Groups/"+id, `{"displayName":"`+decomposed+`"}`)
	s.do("PUT", "/Groups/"+other, `{"displayName":"`+composed+`"}`).refuses(t, 409, "uniqueness")
	s.must(200, "PUT", "/Groups/"+id, `{"displayName":"Tea"}`)
	s.must(200, "PUT", "/Groups/"+other, `{"displayName":"`+composed+`"}`)
}

// TestARenamedGroupWithManyChanges: the largest change in one Write, with a name that has several spellings.
func TestARenamedGroupWithManyChanges(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	var members []string
	for i := range 45 {
		members = append(members, `{"value":"`+s.user(fmt.Sprintf("u%d", i))+`"}`)
	}
	id := s.must(201, "POST", "/Groups", `{"displayName":"Caf\u00e9","externalId":"a","members":[`+strings.Join(members, ",")+`]}`).string("id")
	s.must(200, "PUT", "/Groups/"+id, `{"displayName":"Th\u00e9","externalId":"b"}`)
	s.must(200, "PUT", "/Groups/"+id, `{"displayName":"Caf\u00e9","externalId":"a","members":[`+strings.Join(members[:30], ",")+`]}`)
}
