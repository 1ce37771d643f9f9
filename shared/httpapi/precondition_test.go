package httpapi_test

import "testing"

// TestIfNoneMatchForbidsAChange: a condition is never ignored (RFC 9110 section 13.1.2), least of all by a DELETE.
func TestIfNoneMatchForbidsAChange(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	wiki := a.newCollection(acme.key, "wiki")
	document := a.putDocument(acme.key, wiki, "https://x.test/1", "One", "1")
	for _, path := range []string{"/documents/" + document, "/collections/" + wiki} {
		tag := a.do(call{"GET", path, acme.key, nil, nil}).want(t, 200).Header.Get("ETag")
		name := map[string]string{"name": "changed", "title": "changed"}
		for _, match := range []string{"*", tag, "W/" + tag, `"0", ` + tag} {
			header := map[string]string{"If-None-Match": match}
			a.refused(call{"PATCH", path, acme.key, name, header}, 412, "precondition-failed")
			a.refused(call{"DELETE", path, acme.key, nil, header}, 412, "precondition-failed")
		}
		if got := a.do(call{"GET", path, acme.key, nil, nil}).want(t, 200).Header.Get("ETag"); got != tag {
			t.Errorf("%s was changed", path)
		}
		other := map[string]string{"If-None-Match": `"0"`}
		a.do(call{"PATCH", path, acme.key, name, other}).want(t, 200)
		a.do(call{"DELETE", path, acme.key, nil, other}).want(t, 204)
		a.do(call{"DELETE", path, acme.key, nil, map[string]string{"If-None-Match": "*"}}).want(t, 204)
	}
}
