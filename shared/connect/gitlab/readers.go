package gitlab

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	names "docent/shared/access"
	"docent/shared/connect/rest"
	"docent/shared/source"
)

// about is a project, with its members once they were needed.
type about struct {
	Path       string `json:"path_with_namespace"`
	Branch     string `json:"default_branch"`
	Empty      *bool  `json:"empty_repo"` // nil: not told
	Visibility string `json:"visibility"`
	Issues     string `json:"issues_access_level"`
	Merges     string `json:"merge_requests_access_level"`
	Wiki       string `json:"wiki_access_level"`
	Files      string `json:"repository_access_level"`

	members []member
	asked   bool // for the members
}

const (
	disabled   = "disabled" // a level
	enabled    = "enabled"  // a level: for all who see the project
	public     = "public"   // a visibility, and a level
	maxMembers = 10_000
	memberTime = time.Minute // for which a project and its members are remembered
)

// level returns the access level of a part.
func (b *about) level(kind string) string {
	return map[string]string{issues: b.Issues, merges: b.Merges, wiki: b.Wiki, files: b.Files}[kind]
}

// member is a person who may read a project, by membership of it or of a group.
type member struct {
	Username string `json:"username"`
	State    string `json:"state"`
	Waiting  string `json:"membership_state"`
	Level    int    `json:"access_level"`
	Public   string `json:"public_email"` // verified by GitLab, as is Email
	Email    string `json:"email"`        // shown to owners of enterprise users
}

// Roles, by their access level.
const (
	guest    = 10
	planner  = 15
	reporter = 20
)

// remembered is the last project that was looked up. The parts of a project are read one
// after the other, so all but the first find it here.
type remembered struct {
	key   string
	until time.Time
	about *about
}

// lookUp returns the project.
func (s *session) lookUp(ctx context.Context) (*about, error) {
	s.mu.Lock()
	last := s.last
	s.mu.Unlock()
	if last.key == s.key && s.Now().Before(last.until) {
		return last.about, nil
	}
	b, _, err := rest.Get[about](ctx, s.api, "")
	if err != nil {
		return nil, err
	}
	if s.anonymous() {
		b.Visibility = public
	}
	s.remember(&b)
	return &b, nil
}

func (s *session) remember(b *about) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = remembered{s.key, s.Now().Add(memberTime), b}
}

// forget has the project looked up again.
func (s *session) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = remembered{}
}

// members returns the active members of the project.
func (s *session) members(ctx context.Context) ([]member, error) {
	if s.about.asked {
		return s.about.members, nil
	}
	b := *s.about
	for page := 1; page > 0 && len(b.members) < maxMembers; {
		some, header, err := rest.Get[[]member](ctx, s.api, fmt.Sprintf("/members/all?per_page=%d&page=%d", perPage, page))
		var failed *source.SyncError
		if errors.As(err, &failed) && !failed.AllParts && (failed.Code == source.Unauthorized || failed.Code == source.NotThere) {
			b.members = nil // GitLab does not tell, so no person may read
			break
		}
		if err != nil {
			return nil, err
		}
		b.members = append(b.members, some...)
		page = nextPage(header, page, len(some))
	}
	b.members = slices.DeleteFunc(b.members, func(m member) bool {
		return m.State != "active" || m.Waiting != "" && m.Waiting != "active"
	})
	b.asked = true
	s.about = &b
	s.remember(&b)
	return b.members, nil
}

// restricted reports whether only members may read the part, or GitLab does not say that others may.
func (s *session) restricted() bool {
	level := s.about.level(s.kind)
	open := level == enabled || level == public || level == "" && s.anonymous()
	return s.settings.Text(access) != bySource && (s.about.Visibility != public || !open)
}

// anonymous reports whether there is no token. GitLab shows only what is public then, and says less about it.
func (s *session) anonymous() bool { return s.api.Header.Get("Authorization") == "" }

// readers returns who may read an item of the part: nil if the data source decides,
// otherwise the members with the role it needs. An issue that is confidential needs the
// role Planner, or to be its author or an assignee.
func (s *session) readers(ctx context.Context, confidential bool, involved map[string]bool) (*names.Names, error) {
	if !s.restricted() && !confidential {
		return nil, nil
	}
	all, err := s.members(ctx)
	if err != nil {
		return nil, err
	}
	role := guest
	switch {
	case s.kind == merges || s.kind == files:
		role = reporter
	case confidential:
		role = planner
	}
	may := slices.DeleteFunc(slices.Clone(all), func(m member) bool {
		return m.Level < role && (!confidential || m.Level < guest || !involved[m.Username])
	})
	slices.SortFunc(may, func(a, b member) int {
		return cmp.Or(cmp.Compare(b.Level, a.Level), strings.Compare(a.Username, b.Username))
	})
	n := &names.Names{Users: []string{}, Groups: []string{}}
	size := 0
	for _, m := range may {
		address := cmp.Or(m.Email, m.Public)
		if address == "" || slices.Contains(n.Users, address) {
			continue
		}
		if size += len(address); len(n.Users) == names.MaxEntries || size > names.MaxBytes/2 {
			s.unknown = fmt.Sprintf("%s has more members than the %d that Docent can name. The others do not find its items.", s.project, len(n.Users))
			return n, nil
		}
		n.Users = append(n.Users, address)
	}
	if len(n.Users) == 0 && s.unknown == "" {
		s.unknown = "GitLab tells the address of no member of " + s.project + ", so only team keys find its items. " +
			"Members can choose a public email in their profile, or set access to source."
	}
	return n, nil
}

// fingerprint returns a hash of who may read the items of the part, and of confidential
// ones if there are any.
func (s *session) fingerprint(ctx context.Context, confidential bool) (string, error) {
	all, err := s.readers(ctx, false, nil)
	if err != nil {
		return "", err
	}
	rules := []any{all}
	if confidential {
		if _, err := s.members(ctx); err != nil {
			return "", err
		}
		rules = append(rules, s.about.members)
	}
	text, err := json.Marshal(rules)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:12]), nil
}

// notice returns what the team's admins should know about the part, or nil.
func (s *session) notice() *source.SyncError {
	switch {
	case s.unknown != "":
		return &source.SyncError{Code: source.NoReaders, Detail: s.unknown}
	case s.about.Path != "" && !strings.EqualFold(s.about.Path, s.project):
		return &source.SyncError{Code: source.Renamed, Detail: s.project + " is called " + s.about.Path +
			" now. It is read under its old name as long as GitLab redirects it, but webhooks of the new name are ignored. Connect it again under its new name and remove this one."}
	default:
		return nil
	}
}
