package scim_test

import "testing"

// TestUnassignedActiveIsTrue: null, an absent attribute and a removal leave active unassigned, and unassigned is the default,
// true (RFC 7643 section 2.5). So each reactivates a user who is not active, and none creates one who is not.
func TestUnassignedActiveIsTrue(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	if r := s.must(201, "POST", "/Users", `{"userName":"new","active":null}`); r.body["active"] != true {
		t.Errorf("created with null: %s", r.text)
	}
	id := s.user("ada")
	for name, c := range map[string]struct{ method, body string }{
		"null in a PUT":                {"PUT", `{"userName":"ada","active":null}`},
		"a PUT without it":             {"PUT", `{"userName":"ada"}`},
		"null in a PATCH":              {"PATCH", message(`{"op":"replace","path":"active","value":null}`)},
		"null in a PATCH without path": {"PATCH", message(`{"op":"Replace","value":{"active":null}}`)},
		"a removal":                    {"PATCH", message(`{"op":"remove","path":"active"}`)},
	} {
		if r := s.must(200, "PUT", "/Users/"+id, `{"userName":"ada","active":"False"}`); r.body["active"] != false {
			t.Fatalf("deactivated: %s", r.text)
		}
		if r := s.must(200, c.method, "/Users/"+id, c.body); r.body["active"] != true {
			t.Errorf("%s: %s", name, r.text)
		}
		if r := s.must(200, "GET", "/Users?filter=active%20eq%20false", ""); r.body["totalResults"] != 0.0 {
			t.Errorf("%s: inactive users %s", name, r.text)
		}
	}
}
