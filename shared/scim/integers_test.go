package scim_test

import (
	"fmt"
	"testing"
)

// TestWholeNumbers: 1.0 and 1e0 are integers, in bodies and in the query.
func TestWholeNumbers(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	for _, one := range []string{"1", "1.0", "1e0", "10e-1"} {
		s.must(200, "GET", "/Users?count="+one+"&startIndex="+one, "")
		s.must(200, "POST", "/.search", fmt.Sprintf(`{"schemas":["urn:ietf:params:scim:api:messages:2.0:SearchRequest"],"count":%s,"startIndex":%s}`, one, one))
		s.must(200, "POST", "/Bulk", fmt.Sprintf(`{"schemas":["urn:ietf:params:scim:api:messages:2.0:BulkRequest"],"failOnErrors":%s,"Operations":[]}`, one))
	}
	s.must(400, "GET", "/Users?count=1.5", "")
	s.must(400, "POST", "/.search", `{"schemas":["urn:ietf:params:scim:api:messages:2.0:SearchRequest"],"count":1.5}`)
	s.must(400, "POST", "/Bulk", `{"schemas":["urn:ietf:params:scim:api:messages:2.0:BulkRequest"],"failOnErrors":0.5,"Operations":[]}`)
}
