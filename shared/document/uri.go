package document

import (
	"unicode/utf8"

	"docent/shared/apierr"
	"docent/shared/uri"
)

// CheckURI returns the error of a bad field for an address that no new document may
// have: what uri.Check refuses, and more than MaxURI code points.
func CheckURI(address string) error {
	if utf8.RuneCountInString(address) > MaxURI {
		return apierr.BadField("/uri", "must have at most %d characters", MaxURI)
	}
	if err := uri.Check(address); err != nil {
		return apierr.BadField("/uri", "%s", err)
	}
	return nil
}
