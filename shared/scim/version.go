package scim

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"docent/shared/scim/protocol"
)

// versionTag returns the weak entity tag of a version.
func versionTag(version int64) string {
	return `W/"` + strconv.FormatInt(version, 10) + `"`
}

// namesTag reports whether a field of entity tags, such as If-Match, contains tag. Tags of SCIM
// are weak, so they are compared weakly; "*" matches every tag.
func namesTag(field, tag string) bool {
	for candidate := range strings.SplitSeq(field, ",") {
		candidate = strings.TrimSpace(candidate)
		if candidate == "*" || strings.TrimPrefix(candidate, "W/") == strings.TrimPrefix(tag, "W/") {
			return true
		}
	}
	return false
}

// checkMatch returns a 412 unless If-Match names the version.
func checkMatch(ifMatch string, version int64) error {
	if ifMatch == "" || namesTag(ifMatch, versionTag(version)) {
		return nil
	}
	return protocol.Refuse(http.StatusPreconditionFailed, "", "The resource has changed: its version is not the one that If-Match names.")
}

func formatTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }
