package team

import (
	"testing"

	"docent/shared/fieldtest"
)

// TestEveryFieldOfAKeyIsShown lists those of a record that nobody sees; TeamID is of the
// caller, and LastUsedAt of an item of its own.
func TestEveryFieldOfAKeyIsShown(t *testing.T) {
	t.Parallel()
	fieldtest.Shows(t, func(r record) APIKey {
		k := r.shown(r.CreatedAt)
		k.LastUsedAt = &k.CreatedAt
		return k
	}, func(*record) {}, "TeamID", "RevokedAt", "Hash", "PreviousHash", "SignIn", "OpenedBy", "OpenedWith", "Agent")
}
