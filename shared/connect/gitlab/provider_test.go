package gitlab_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"docent/shared/apierr"
	"docent/shared/connect/gitlab"
	"docent/shared/source"
)

func TestSettings(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		settings map[string]any
		pointer  string // of the field error; empty: they are valid
	}{
		"one project":             {map[string]any{"projects": []string{"acme/api"}}, ""},
		"a project of subgroups":  {map[string]any{"projects": []string{"acme/a.b/c_d/e+f", "a/b"}, "include": []string{"wiki", "files"}, "access": "source", "baseUrl": "https://gitlab.example/code/"}, ""},
		"filled by import":        {map[string]any{}, ""},
		"no project":              {map[string]any{"access": "members"}, "/settings/projects"},
		"a project alone":         {map[string]any{"projects": []string{"acme/api", "api"}}, "/settings/projects/1"},
		"an address":              {map[string]any{"projects": []string{"https://gitlab.com/acme/api"}}, "/settings/projects/0"},
		"a path upwards":          {map[string]any{"projects": []string{"acme/../api"}}, "/settings/projects/0"},
		"a long path":             {map[string]any{"projects": []string{"acme/" + strings.Repeat("x", 300)}}, "/settings/projects/0"},
		"a project twice":         {map[string]any{"projects": []string{"acme/api", "a/b", "acme/api"}}, ""},
		"in two spellings":        {map[string]any{"projects": []string{"acme/api", "a/b", "Acme/API"}}, "/settings/projects/2"},
		"with .git":               {map[string]any{"projects": []string{"acme/api.git", "acme/api"}}, "/settings/projects/1"},
		"an unknown part":         {map[string]any{"projects": []string{"a/b"}, "include": []string{"issues", "epics"}}, "/settings/include/1"},
		"unknown access":          {map[string]any{"projects": []string{"a/b"}, "access": "all"}, "/settings/access"},
		"an address without TLS":  {map[string]any{"projects": []string{"a/b"}, "baseUrl": "http://gitlab.example"}, "/settings/baseUrl"},
		"the address of the API":  {map[string]any{"projects": []string{"a/b"}, "baseUrl": "https://gitlab.example/api/v4/"}, "/settings/baseUrl"},
		"an address with a query": {map[string]any{"projects": []string{"a/b"}, "baseUrl": "https://gitlab.example/?x=1"}, "/settings/baseUrl"},
	} {
		err := gitlab.Provider.Check(source.NewSettings(tt.settings), nil)
		var wrong *apierr.Error
		if errors.As(err, &wrong) != (tt.pointer != "") || wrong != nil && wrong.Fields[0].Pointer != tt.pointer {
			t.Errorf("%s: %v", name, err)
		}
	}
	if gitlab.Provider.Connected(source.Settings{}, nil) || !gitlab.Provider.Connected(source.NewSettings(map[string]any{"projects": []string{"a/b"}}), nil) {
		t.Error("only sources with projects are read")
	}
}

func TestOnlyChosenPartsAreRead(t *testing.T) {
	t.Parallel()
	c := &gitlab.Connector{}
	parts := c.Parts(source.NewSettings(map[string]any{"projects": []string{"a/b", "c/d"}, "include": []string{"wiki", "issues"}}))
	if want := []string{"a/b issues", "a/b wiki", "c/d issues", "c/d wiki"}; !slices.Equal(parts, want) {
		t.Errorf("got %q", parts)
	}
}

func TestDeliveries(t *testing.T) {
	t.Parallel()
	const secret = "s3cret"
	hook := gitlab.Provider.Webhook
	for token, want := range map[string]bool{secret: true, "": false, "s3cres": false, secret + "x": false} {
		d := source.Delivery{Header: func(name string) string { return map[string]string{"X-Gitlab-Token": token}[name] }}
		if got := hook.Verify(d, source.Secrets{"webhookSecret": secret}, time.Time{}); got != want {
			t.Errorf("%q: %t", token, got)
		}
		if hook.Verify(d, source.Secrets{}, time.Time{}) {
			t.Errorf("%q is the secret of a source without one", token)
		}
	}
	for _, tt := range []struct {
		kind, more, path string
		include          []string
		sync, concerns   bool
	}{
		{"issue", "", "acme/api", nil, true, true},
		{"work_item", "", "Acme/API", nil, true, true},
		{"note", "", "acme/api", nil, true, true},
		{"merge_request", "", "acme/api", nil, true, true},
		{"wiki_page", "", "acme/api", nil, true, true},
		{"wiki_page", "", "acme/api", []string{"issues"}, true, false},
		{"push", `,"ref":"refs/heads/main"`, "acme/api", nil, true, true},
		{"push", `,"ref":"refs/heads/other"`, "acme/api", nil, false, false},
		{"pipeline", "", "acme/api", nil, false, false},
		{"issue", "", "acme/web", nil, true, false},
	} {
		body := fmt.Sprintf(`{"object_kind":%q,"project":{"id":15,"path_with_namespace":%q,"default_branch":"main"},"object_attributes":{"iid":1}%s}`, tt.kind, tt.path, tt.more)
		e, err := hook.Read(t.Context(), source.Delivery{Body: []byte(body)})
		settings := map[string]any{"projects": []string{"acme/api"}}
		if tt.include != nil {
			settings["include"] = tt.include
		}
		if err != nil || e.Sync != tt.sync || e.Item != nil || e.Concerns(source.NewSettings(settings)) != tt.concerns {
			t.Errorf("%+v: %+v %v", tt, e, err)
		}
	}
	if _, err := hook.Read(t.Context(), source.Delivery{Body: []byte("object_kind=issue")}); err == nil {
		t.Error("a form was read")
	}
}
