package jira_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"docent/shared/connect/jira/jiratest"
	"docent/shared/source"
)

func TestItemsAreReadByThoseWhoReadThemThere(t *testing.T) {
	t.Parallel()
	type holders = []jiratest.Holder
	browse := func(h ...jiratest.Holder) func(s *site) {
		return func(s *site) { s.Projects["OPS"].Browse = h }
	}
	role := func(name string) func(s *site) {
		return func(s *site) {
			p := s.Projects["OPS"]
			p.Browse = holders{{Type: "projectRole", Name: p.RoleID(name)}}
		}
	}
	comment := func(c jiratest.Comment) func(s *site) {
		c.ID = 5
		return func(s *site) { s.ops()[0].Comments = []jiratest.Comment{c} }
	}
	restricted := func(field string) func(s *site) {
		return func(s *site) { s.ops()[0].RawFields = map[string]any{"issuerestriction": json.RawMessage(field)} }
	}
	for _, tt := range []struct {
		name     string
		settings map[string]any
		change   func(s *site)
		of       string   // the end of the item's uri
		users    []string // besides groups; nil: nobody
		groups   []string
		open     bool // no rule
		notice   bool
		server   *struct { // what differs for a Data Center
			users, groups []string
			notice        bool
		}
	}{
		{name: "a group", groups: []string{"everyone"}},
		{name: "a user", change: browse(jiratest.Holder{Type: "user", Name: "eve"}), users: []string{"eve"}},
		{name: "a role", change: role("Developers"), users: []string{"eve"}, groups: []string{"engineering"}},
		{name: "anyone", change: browse(jiratest.Holder{Type: "anyone"}), open: true},
		{name: "everyone with a licence", change: browse(jiratest.Holder{Type: "applicationRole"}), groups: []string{"everyone", "hr"}},
		{name: "everyone with one licence", change: browse(jiratest.Holder{Type: "applicationRole", Name: "jira-servicedesk"}), groups: []string{"hr"}},
		{name: "the lead, the reporter and the assignee", change: browse(holders{{Type: "projectLead"}, {Type: "reporter"}, {Type: "assignee"}}...), users: []string{"ada", "eve", "lead"}},
		{name: "a field of the issue", change: browse(jiratest.Holder{Type: "userCustomField"})},
		{name: "nobody", change: browse()},
		{name: "permissions that the account may not see", change: func(s *site) { s.Secret = true }, notice: true},
		{name: "the source decides", settings: map[string]any{"access": "source"}, change: func(s *site) { s.Secret = true }, open: true},
		{name: "a security level", change: func(s *site) { s.ops()[0].Security = "7" }, groups: []string{"hr"}, users: []string{"ada", "lead"},
			server: &struct {
				users, groups []string
				notice        bool
			}{nil, nil, true}},
		{name: "an unknown security level", change: func(s *site) { s.ops()[0].Security = "9" }, notice: true},
		{name: "a security level without an id", change: func(s *site) { s.ops()[0].Security = jiratest.Untold }, notice: true},
		{name: "a security level where the source decides", settings: map[string]any{"access": "source"}, change: func(s *site) { s.ops()[0].Security = "9" }, notice: true},
		{name: "a comment", change: comment(jiratest.Comment{}), of: "#comment-5", groups: []string{"everyone"}},
		{name: "a comment for a group", change: comment(jiratest.Comment{Group: "hr"}), of: "#comment-5", groups: []string{"hr"}},
		{name: "a comment for a group that is partly in the project's", change: comment(jiratest.Comment{Group: "outside"}), of: "#comment-5", users: []string{"ada"}},
		{name: "a comment for an unknown group", change: comment(jiratest.Comment{Group: "deleted"}), of: "#comment-5"},
		{name: "a comment for a role", change: comment(jiratest.Comment{Role: "Managers"}), of: "#comment-5", users: []string{"lead"}},
		{name: "a comment for an unknown role", change: comment(jiratest.Comment{Role: "Deleted"}), of: "#comment-5"},
		{name: "a comment for who is not named", change: comment(jiratest.Comment{Limited: true}), of: "#comment-5"},
		{name: "an internal comment", change: func(s *site) {
			s.Projects["OPS"].Desk = true
			browse(holders{{Type: "projectLead"}, {Type: "reporter"}}...)(s)
			comment(jiratest.Comment{Internal: true})(s)
		}, of: "#comment-5", users: []string{"lead"}},
		{name: "the issue of an internal comment", change: func(s *site) {
			s.Projects["OPS"].Desk = true
			browse(holders{{Type: "projectLead"}, {Type: "reporter"}}...)(s)
			comment(jiratest.Comment{Internal: true})(s)
		}, users: []string{"ada", "lead"}},
		{name: "an internal comment for a role", change: func(s *site) {
			s.Projects["OPS"].Desk = true
			browse(holders{{Type: "group", Name: "everyone"}, {Type: "reporter"}}...)(s)
			comment(jiratest.Comment{Internal: true, Role: "Managers"})(s)
		}, of: "#comment-5", users: []string{"lead"}},
		{name: "a comment for customers, which a Data Center does not tell", change: func(s *site) {
			s.Projects["OPS"].Desk = true
			browse(holders{{Type: "projectLead"}, {Type: "reporter"}}...)(s)
			comment(jiratest.Comment{})(s)
		}, of: "#comment-5", users: []string{"ada", "lead"}, server: &struct {
			users, groups []string
			notice        bool
		}{[]string{"lead"}, nil, false}},
		{name: "a comment in a project of a type that is not told", change: func(s *site) {
			browse(holders{{Type: "projectLead"}, {Type: "reporter"}}...)(s)
			comment(jiratest.Comment{})(s)
			s.ops()[0].RawFields = map[string]any{"project": map[string]string{"id": "10000", "key": "OPS", "name": "OPS"}}
		}, of: "#comment-5", users: []string{"ada", "lead"}, server: &struct {
			users, groups []string
			notice        bool
		}{[]string{"lead"}, nil, false}},
		{name: "no restriction", change: restricted(`{"issuerestrictions":{},"shouldDisplay":true}`), groups: []string{"everyone"}},
		{name: "a restriction to no role", change: restricted(`{"issuerestrictions":{"projectrole":[]}}`), groups: []string{"everyone"}},
		{name: "a restriction to a role", change: func(s *site) {
			restricted(`{"issuerestrictions":{"projectrole":[{"id":"` + s.Projects["OPS"].RoleID("Managers") + `","name":"Managers"}]},"shouldDisplay":true}`)(s)
		}, users: []string{"lead"}},
		{name: "a comment on an issue with a restriction", change: func(s *site) {
			comment(jiratest.Comment{})(s)
			restricted(`{"issuerestrictions":{"projectrole":[{"id":"` + s.Projects["OPS"].RoleID("Managers") + `"}]}}`)(s)
		}, of: "#comment-5", users: []string{"lead"}},
		{name: "a restriction of another kind", change: restricted(`{"issuerestrictions":{"team":[{"id":"7"}]}}`)},
		{name: "a restriction in another form", change: restricted(`{"issuerestrictions":["7"]}`)},
		{name: "a restriction without what it is to", change: restricted(`{"shouldDisplay":true}`)},
		{name: "a restriction where the source decides", settings: map[string]any{"access": "source"}, change: func(s *site) {
			restricted(`{"issuerestrictions":{"projectrole":[{"id":"` + s.Projects["OPS"].RoleID("Managers") + `"}]}}`)(s)
		}, users: []string{"lead"}},
		{name: "an issue whose security is not sent", change: func(s *site) { s.ops()[0].Omitted = "security" }, groups: []string{"everyone"}},
		{name: "a limited comment where the source decides", settings: map[string]any{"access": "source"}, change: comment(jiratest.Comment{Group: "outside"}), of: "#comment-5", groups: []string{"outside"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			both(t, func(t *testing.T, cloud bool) {
				s := newSite(t, cloud, tt.settings)
				s.Levels["7"] = holders{{Type: "group", Name: "hr"}, {Type: "projectLead"}, {Type: "user", Name: "ada"}, {Type: "user", Name: "zoe"}}
				one := issue(1)
				one.Assignee = "eve"
				s.put(one)
				if tt.change != nil {
					s.Change(func() { tt.change(s) })
				}
				s.MustSync()
				users, groups, notice := tt.users, tt.groups, tt.notice
				if tt.server != nil && !cloud {
					users, groups, notice = tt.server.users, tt.server.groups, tt.server.notice
				}
				item, stored := s.Items()[s.URL+"/browse/OPS-1"+tt.of]
				got := item.Access.Names()
				if !stored || tt.open != (got == nil) {
					t.Fatalf("stored %t: %v", stored, got)
				}
				if got != nil {
					var short []string
					for _, u := range got.Users {
						short = append(short, strings.TrimSuffix(u, "@acme.example"))
					}
					if !slices.Equal(short, users) || !slices.Equal(got.Groups, append([]string{}, groups...)) {
						t.Errorf("read by %v %v, want %v %v", short, got.Groups, users, groups)
					}
				}
				d := s.Shown()
				if d.State != source.Ready || (d.LastError != nil) != notice || notice && (d.LastError.Code != "access-unknown" || !strings.Contains(d.LastError.Detail, "Who may read")) {
					t.Errorf("shown %s %+v", d.State, d.LastError)
				}
			})
		})
	}
}
