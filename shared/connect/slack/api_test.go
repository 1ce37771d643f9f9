package slack_test

import (
	"io"
	"net/http"
	"testing"
)

// TestAChannelOfWhichSlackDoesNotSayThatItIsPublicIsNotOpened: its messages would be read by everyone.
func TestAChannelOfWhichSlackDoesNotSayThatItIsPublicIsNotOpened(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		body  string
		items int
	}{
		"nothing":       {`{"ok":true}`, 0},
		"null":          {`{"ok":true,"channel":null}`, 0},
		"not its kind":  {`{"ok":true,"channel":{"id":"C0000000001","name":"ops","is_member":true}}`, len(all)},
		"a null kind":   {`{"ok":true,"channel":{"id":"C0000000001","name":"ops","is_member":true,"is_private":null}}`, len(all)},
		"a public kind": {`{"ok":true,"channel":{"id":"C0000000001","name":"ops","is_member":true,"is_private":false}}`, len(all)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, c, a := workspace(t)
			s.Channels[ops].Member = true
			s.Before = func(n int, w http.ResponseWriter) bool {
				if n == 1 {
					_, _ = io.WriteString(w, tt.body)
				}
				return n == 1
			}
			items := map[string]bool{}
			for page, err := range c.Read(t.Context(), a, ops, nil) {
				if err != nil && tt.items > 0 {
					t.Fatal(err)
				}
				for _, i := range page.Items {
					if items[i.URI] = true; (i.Access == nil) != (name == "a public kind") {
						t.Errorf("%s is read by %+v", i.Title, i.Access)
					}
				}
			}
			if len(items) != tt.items {
				t.Errorf("%d items", len(items))
			}
		})
	}
}
