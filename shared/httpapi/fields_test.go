package httpapi

import (
	"testing"

	"docent/shared/access"
	"docent/shared/answer"
	"docent/shared/document"
	"docent/shared/fieldtest"
	"docent/shared/source"
	"docent/shared/team"
)

// TestEveryFieldIsShown fails if a record has a field that its resource lacks, or a resource has
// a member that nothing sets. Fields that no client sees are listed as exceptions.
func TestEveryFieldIsShown(t *testing.T) {
	t.Parallel()
	fieldtest.Shows(t, entryOf, func(e *document.Entry) {
		e.Original.Hash = "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0" // of abc
	}, "Facts")
	fieldtest.Shows(t, dataSourceOf, func(d *source.DataSource) {
		d.Paused = false // it hides the state
		d.DefaultAccess = &access.Rule{Users: []access.Entry{{Name: "ada"}}, Groups: []access.Entry{{Name: "Engineering"}}}
	}, "Paused", "ChangedAt") // members get it as updatedAt: TestWhoSeesHowASourceIsSynced
	fieldtest.Shows(t, keyOf, func(*team.APIKey) {}, "TeamID")
	complete := func(a *answer.Answer) { a.State = answer.Complete }
	fieldtest.Shows(t, answerOf, complete, "Model", "AskedAt", "TeamID", "UserID", "Sources", "Documents", "Texts", "Restricted", "Context")
}
