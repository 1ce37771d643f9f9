package httpapi

import (
	"fmt"
	"strings"

	"docent/shared/apierr"
)

// etag returns the strong entity tag (RFC 9110 section 8.8.3) of a version.
func etag(version int64) string { return fmt.Sprintf(`"%x"`, version) }

// Conditions are the headers on which a change depends. It is exported because huma reads embedded parameters only
// from exported types.
type Conditions struct {
	IfMatch     string `header:"If-Match" minLength:"1"`
	IfNoneMatch string `header:"If-None-Match" hidden:"true"` // of use only to create, but it must not be ignored
}

func (c Conditions) check() func(version int64) error { return preconditions(c.IfMatch, c.IfNoneMatch) }

var errStale = apierr.New(apierr.Stale, apierr.CodePreconditionFailed, "The resource does not match If-Match or If-None-Match.")

// preconditions returns the check of If-Match and If-None-Match against the
// current version of a resource, 0 when it does not exist (RFC 9110 section 13.1).
func preconditions(ifMatch, ifNoneMatch string) func(version int64) error {
	return func(version int64) error {
		if ifMatch != "" && (version == 0 || !listsTag(ifMatch, etag(version), false)) {
			return errStale
		}
		if ifNoneMatch != "" && version != 0 && listsTag(ifNoneMatch, etag(version), true) {
			return errStale
		}
		return nil
	}
}

// listsTag reports whether the field value of If-Match or If-None-Match names tag;
// "*" alone names every one. If-None-Match compares weakly.
func listsTag(field, tag string, weak bool) bool {
	if strings.TrimSpace(field) == "*" {
		return true
	}
	for candidate := range strings.SplitSeq(field, ",") {
		candidate = strings.TrimSpace(candidate)
		if weak {
			candidate = strings.TrimPrefix(candidate, "W/")
		}
		if candidate == tag {
			return true
		}
	}
	return false
}
