package github_test

import (
	"errors"
	"testing"

	"docent/shared/apierr"
	"docent/shared/connect/github"
	"docent/shared/source"
)

// TestARepositoryHasOneSpelling: the items of one that is named in two ways would be stored twice.
func TestARepositoryHasOneSpelling(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		repositories []string
		pointer      string // of the field error; empty: they are valid
	}{
		"different ones":   {[]string{"acme/api", "acme/api-git", "acme2/api"}, ""},
		"twice the same":   {[]string{"acme/api", "acme/api"}, ""},
		"in another case":  {[]string{"acme/api", "acme/web", "Acme/API"}, "/settings/repositories/2"},
		"with .git":        {[]string{"acme/api", "acme/API.git"}, "/settings/repositories/1"},
		"with .git before": {[]string{"acme/api.git", "acme/api"}, "/settings/repositories/1"},
		"with a slash":     {[]string{"acme/api/"}, "/settings/repositories/0"},
		"a managed user":   {[]string{"ada_acme/notes"}, ""},
		"no owner":         {[]string{"_acme/notes"}, "/settings/repositories/0"},
	} {
		err := github.Provider.Check(source.NewSettings(map[string]any{"repositories": tt.repositories}), nil)
		var wrong *apierr.Error
		if errors.As(err, &wrong) != (tt.pointer != "") || wrong != nil && wrong.Fields[0].Pointer != tt.pointer {
			t.Errorf("%s: %v", name, err)
		}
	}
}
