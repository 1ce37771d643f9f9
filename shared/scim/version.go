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

// conditions are the fields If-Match and If-None-Match of a request; empty: it has none.
type conditions struct{ match, none string }

// check returns a 412 unless the version may be changed: If-Match names it, and If-None-Match does not.
func (c conditions) check(version int64) error {
	if err := c.checkMatch(version); err != nil {
		return err
	}
	if c.noneNames(version) {
		return protocol.Refuse(http.StatusPreconditionFailed, "", "The resource exists in the version that If-None-Match names.")
	}
	return nil
}

// noneNames reports whether If-None-Match names the version, so that a GET needs not show it.
func (c conditions) noneNames(version int64) bool {
	return c.none != "" && namesTag(c.none, versionTag(version))
}

// checkMatch returns a 412 unless If-Match names the version.
func (c conditions) checkMatch(version int64) error {
	if c.match == "" || namesTag(c.match, versionTag(version)) {
		return nil
	}
	return protocol.Refuse(http.StatusPreconditionFailed, "", "The resource has changed: its version is not the one that If-Match, or version in Bulk, names.")
}

func formatTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }
