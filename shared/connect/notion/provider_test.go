package notion_test

import (
	"errors"
	"net/http"
	"testing"

	"docent/shared/apierr"
	"docent/shared/connect"
	"docent/shared/connect/connecttest"
	"docent/shared/connect/notion"
	"docent/shared/connect/notion/notiontest"
	"docent/shared/source"
)

func TestSettings(t *testing.T) {
	t.Parallel()
	const id = "0c940186ab704351bb34000000000001"
	for name, tt := range map[string]struct {
		settings map[string]any
		token    string
		pointer  string // of the field error; empty: they are valid
	}{
		"filled by import":         {map[string]any{}, "", ""},
		"everything":               {map[string]any{"access": "source"}, "ntn_x", ""},
		"nobody reads":             {map[string]any{"access": "nobody", "rootPages": []string{id, notiontest.ID(1), "https://www.notion.so/acme/A-title-" + id + "?pvs=4#x"}}, "ntn_x", ""},
		"no word on who reads":     {map[string]any{}, "ntn_x", "/settings/access"},
		"another word":             {map[string]any{"access": "members"}, "ntn_x", "/settings/access"},
		"no token":                 {map[string]any{"access": "source"}, "", "/settings/accessToken"},
		"a root that is no page":   {map[string]any{"access": "source", "rootPages": []string{id, "Home"}}, "ntn_x", "/settings/rootPages/1"},
		"an address without an id": {map[string]any{"access": "source", "rootPages": []string{"https://www.notion.so/acme?p=" + id}}, "ntn_x", "/settings/rootPages/0"},
	} {
		s := source.NewSettings(tt.settings)
		secrets := source.Secrets{}
		if tt.token != "" {
			secrets["accessToken"] = tt.token
		}
		err := notion.Provider.Check(s, secrets)
		var wrong *apierr.Error
		if errors.As(err, &wrong) != (tt.pointer != "") || wrong != nil && wrong.Fields[0].Pointer != tt.pointer {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil && notion.Provider.Connected(s, secrets) != (tt.token != "") {
			t.Errorf("%s: a connector reads it: %t", name, notion.Provider.Connected(s, secrets))
		}
	}
	if _, ok := notion.Provider.Opener.(connect.Prober); !ok {
		t.Error("new settings are not tried")
	}
}

func TestProbe(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		token   string
		roots   []string
		set     func(s *notiontest.Server)
		pointer string // of the field error; empty: there is none
		says    string // in the error; empty: there is none
	}{
		"everything":    {},
		"roots":         {roots: []string{notiontest.ID(1), notiontest.ID(10)}},
		"a bad token":   {token: "ntn_other", pointer: "/settings/accessToken", says: "Notion does not accept the access token"},
		"no capability": {set: (*notiontest.Server).WithoutContent, pointer: "/settings/accessToken", says: "lacks the capability to read content"},
		"nothing is shared": {set: func(s *notiontest.Server) {
			s.Change(notiontest.ID(1), func(o *notiontest.Object) { o.Unshared = true })
		}, pointer: "/settings/accessToken", says: "no page is shared with the integration yet"},
		"a root is not shared": {roots: []string{notiontest.ID(1), notiontest.ID(2)}, pointer: "/settings/rootPages/1", says: "add the integration in its menu under Connections"},
		"a rate limit": {set: func(s *notiontest.Server) {
			s.Before(func(_ string, w http.ResponseWriter) bool {
				w.Header().Set("Retry-After", "60")
				w.WriteHeader(http.StatusTooManyRequests)
				return true
			})
		}, says: "rate-limited"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := read(t, notiontest.NewPage(1, "Home"), &notiontest.Object{Kind: "database", ID: notiontest.ID(10), Parent: notiontest.Workspace})
			if tt.token != "" {
				r.token = tt.token
			}
			if tt.roots != nil {
				r.settings["rootPages"] = tt.roots
			}
			if tt.set != nil {
				tt.set(r.server)
			}
			err := r.c.Probe(t.Context(), r.access(nil))
			connecttest.Check(t, err, tt.pointer, tt.says)
		})
	}
}
