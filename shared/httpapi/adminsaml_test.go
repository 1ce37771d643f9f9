package httpapi

import (
	"context"
	"io"
	"net/http/httptest"
	"strings"
	"testing"

	"docent/shared/apierr"
	"docent/shared/team"
)

// TestSAMLMetadataIsCharged: the text takes memory of the team until the request ends, also one that is refused.
func TestSAMLMetadataIsCharged(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		size int
		code string
	}{
		"small":        {100, ""},
		"large":        {team.MaxSAMLBytes, ""},
		"one too many": {team.MaxSAMLBytes + 1, apierr.CodeTooLarge},
	} {
		for _, announced := range []bool{true, false} {
			m := newMux(NewRoom())
			var body io.Reader = strings.NewReader(strings.Repeat("x", tt.size))
			if !announced {
				body = io.MultiReader(body)
			}
			r := httptest.NewRequest("PUT", "/team/saml-metadata", body)
			r.Header.Set("Content-Type", samlType)
			r = r.WithContext(context.WithValue(r.Context(), requestKey{}, &request{}))
			in := newIntake(httptest.NewRecorder(), r, m.teamAccount("team"))
			text, err := readXML(r, in)
			switch {
			case tt.code != "":
				if !apierr.IsCode(err, tt.code) {
					t.Errorf("%s, announced %v: %v", name, announced, err)
				}
			case err != nil || len(text) != tt.size:
				t.Errorf("%s, announced %v: %d bytes, %v", name, announced, len(text), err)
			case m.heldBy() < int64(cap(text)):
				t.Errorf("%s, announced %v: %d bytes are charged for %d", name, announced, m.heldBy(), cap(text))
			}
			in.end()
			if held := m.heldBy(); held != 0 {
				t.Errorf("%s, announced %v: %d bytes are held in the end", name, announced, held)
			}
		}
	}
}
