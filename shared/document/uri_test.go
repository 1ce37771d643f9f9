package document_test

import (
	"strings"
	"testing"

	"github.com/google/uuid"

	"docent/shared/document"
)

func TestCheckURI(t *testing.T) {
	t.Parallel()
	longest := "https://docs.example/"
	longest += strings.Repeat("ü", document.MaxURI-len(longest))
	cases := []struct {
		name, uri string
		ok        bool
	}{
		{"a web page", "https://docs.example/a?b#c", true},
		{"a wiki", "wiki:Rolling_back", true},
		{"an own scheme with a domain name", "com.acme.wiki:Rolling_back", true},
		{"a urn", "urn:uuid:6e8bc430-9c3a-11d9-9669-0800200c9a66", true},
		{"a file", "file:///srv/docs/a.md", true},
		{"the longest, in characters", longest, true},
		{"one character more", longest + "ü", false},
		{"nothing", "", false},
		{"a path", "docs/a.md", false},
		{"a host without a scheme", "//docs.example/a", false},
		{"a scheme alone", "wiki:", false},
		{"a scheme that is not listed", "unheard-of:x", false},
		{"a blank", "https://docs.example/a b", false},
		{"a quote", `https://docs.example/"`, false},
		{"a character that reverses the text", "https://docs.example/\u202egpj", false},
		{"a line break", "https://docs.example/a\nb", false},
		{"a script", "javascript:alert(1)", false},
		{"a script in capitals", "JavaScript:alert(1)", false},
		{"content", "data:text/html,hello", false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if err := document.CheckURI(c.uri); (err == nil) != c.ok {
				t.Errorf("%q: %v", c.uri, err)
			}
		})
	}
}

// Clients may compute the id of a document: the UUIDv5 of its uri, byte for byte, in
// the team's namespace.
func TestTheIDDependsOnTheTeamAndTheURI(t *testing.T) {
	t.Parallel()
	// RFC 9562, appendix A.4: www.example.com in the namespace of DNS.
	id, err := document.ID(uuid.NameSpaceDNS.String(), "www.example.com")
	if want := "2ed6657d-e927-568b-95e1-2665a8aea6a2"; err != nil || id != want {
		t.Errorf("%s, %v, want %s", id, err, want)
	}
	for _, other := range [][2]string{{uuid.NameSpaceURL.String(), "www.example.com"}, {uuid.NameSpaceDNS.String(), "www.example.com/"}} {
		if same, err := document.ID(other[0], other[1]); err != nil || same == id {
			t.Errorf("%v has the same id (%v)", other, err)
		}
	}
	if _, err := document.ID("acme", "www.example.com"); err == nil {
		t.Error("a team without a UUID has ids")
	}
}
