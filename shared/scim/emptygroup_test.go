package scim_test

import "testing"

// authentik reads a group and adds the users that its list of members lacks. If there is no list, it adds nobody.
func TestAGroupWithoutMembersShowsAnEmptyList(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	empty := `"members":[]`
	if made := s.must(201, "POST", "/Groups", `{"displayName":"New"}`); made.body["members"] == nil {
		t.Errorf("a new group: %s", made.text)
	}
	id := s.group("Left", s.people(1)...)
	s.patchGroup(204, id, `{"op":"remove","path":"members"}`)
	s.has("/Groups/"+id, empty)
	s.has("/Groups/"+id+"?attributes=members", empty)
	s.has("/Groups/"+id+"?attributes=members.value", empty)
	s.has("/Groups?filter=displayName%20eq%20%22left%22", empty)
	s.has("/Groups?filter=not%20(members%20pr)", empty, `"totalResults":2`)
	s.has("/Groups?filter=members%20pr", `"totalResults":0`)
	s.has("/Groups/"+id+"?excludedAttributes=members", "!members")
	s.has("/Groups/"+id+"?attributes=displayName", "!members")
	s.has("/Groups?excludedAttributes=members&filter=displayName%20eq%20%22left%22", `"totalResults":1`, "!members")
	if replaced := s.must(200, "PUT", "/Groups/"+id, `{"displayName":"Right"}`); replaced.body["members"] == nil {
		t.Errorf("a replaced group: %s", replaced.text)
	}
}
