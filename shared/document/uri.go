package document

import (
	"unicode/utf8"

	"docent/shared/apierr"
	"docent/shared/uri"
)

// CheckURI returns a field error unless a new document may have this uri: uri.Check
// accepts it and it has at most MaxURI code points.
func CheckURI(address string) error {
	if utf8.RuneCountInString(address) > MaxURI {
		return apierr.BadField("/uri", "must have at most %d characters", MaxURI)
	}
	if err := uri.Check(address); err != nil {
		return apierr.BadField("/uri", "%s", err)
	}
	return nil
}
