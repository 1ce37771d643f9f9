package httpapi

import (
	"net/http"
	"regexp"
	"strings"

	"github.com/google/uuid"
)

// canonicalID returns an id in the form in which it is stored. A UUID may be written in upper case (RFC 9562 section
// 4), as some languages do; any other id is returned as it is.
func canonicalID(id string) string {
	if isUUID(id) {
		return strings.ToLower(id)
	}
	return id
}

func canonicalIDs(ids []string) {
	for i := range ids {
		ids[i] = canonicalID(ids[i])
	}
}

// isUUID reports whether id is the usual form of a UUID: 36 characters, in either case.
func isUUID(id string) bool {
	const length = 36 // uuid.Validate knows other forms too
	return len(id) == length && uuid.Validate(id) == nil
}

var pathParameter = regexp.MustCompile(`\{(\w+)\}`)

// canonicalPath returns a function that makes the ids in a path of the pattern canonical.
func canonicalPath(pattern string) func(r *http.Request) {
	parameters := pathParameter.FindAllStringSubmatch(pattern, -1)
	return func(r *http.Request) {
		for _, p := range parameters {
			r.SetPathValue(p[1], canonicalID(r.PathValue(p[1])))
		}
	}
}
