package atlassian

import (
	"context"
	"fmt"

	"docent/shared/source"
)

// Probe calls ask for each part that the setting list names, and returns a field error for the
// first one that cannot be read. It leaves the others to the first sync when ctx ends. A source
// without settings has no parts.
func Probe(ctx context.Context, a source.Access, list string, ask func(part string, first bool) error) error {
	if !Connected(a.Settings, a.Secrets) {
		return nil
	}
	for i, part := range a.Settings.List(list) {
		err := ask(part, i == 0)
		if i > 0 && ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return source.BadSetting(err, map[string]string{source.Unauthorized: AccessToken, source.Blocked: BaseURL,
				source.Refused: BaseURL, source.NotThere: fmt.Sprintf("%s/%d", list, i), AccessUnknown: Readers})
		}
	}
	return nil
}
