package slack_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"testing"

	"docent/shared/source"
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

// TestAChannelIsGoneOnlyIfSlackSaysThatItIsPrivate: a reply that lacks something removes nothing that is stored.
func TestAChannelIsGoneOnlyIfSlackSaysThatItIsPrivate(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		body string
		gone bool
	}{
		"nothing":                 {`{"ok":true}`, false},
		"null":                    {`{"ok":true,"channel":null}`, false},
		"an empty channel":        {`{"ok":true,"channel":{}}`, false},
		"no id":                   {`{"ok":true,"channel":{"name":"ops","is_private":true}}`, false},
		"not its kind":            {`{"ok":true,"channel":{"id":"C0000000001","name":"ops"}}`, false},
		"a null kind":             {`{"ok":true,"channel":{"id":"C0000000001","name":"ops","is_private":null}}`, false},
		"an error with a channel": {`{"ok":false,"error":"internal_error","channel":{"id":"C0000000001","is_private":true}}`, false},
		"private":                 {`{"ok":true,"channel":{"id":"C0000000001","name":"ops","is_private":true}}`, true},
	} {
		for _, chosen := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, chosen %t", name, chosen), func(t *testing.T) {
				t.Parallel()
				s, c, a := workspace(t)
				if !chosen {
					a.Settings = source.Settings{}
				}
				s.Before = func(_ int, w http.ResponseWriter) bool {
					_, _ = io.WriteString(w, tt.body)
					return true
				}
				for page, err := range c.Read(t.Context(), a, ops, nil) {
					if err == nil || errors.Is(err, source.ErrPartGone) != tt.gone {
						t.Errorf("%+v %v", page, err)
					}
				}
			})
		}
	}
}
