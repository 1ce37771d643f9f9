package scim_test

import (
	"net/url"
	"testing"
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
