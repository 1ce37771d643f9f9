package document

import (
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"docent/shared/apierr"
)

// CheckURI refuses what is not an absolute URI, schemes that run or carry content
// when a reference is followed, and more than MaxURI code points.
func CheckURI(uri string) error {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme == "" || strings.ContainsFunc(uri, unicode.IsControl) || len(uri) == len(u.Scheme)+1 {
		return apierr.BadField("/uri", "must be an absolute URI")
	}
	switch u.Scheme {
	case "javascript", "data", "vbscript":
		return apierr.BadField("/uri", "must not have the scheme %s", u.Scheme)
	}
	if utf8.RuneCountInString(uri) > MaxURI {
		return apierr.BadField("/uri", "must have at most %d characters", MaxURI)
	}
	return nil
}
