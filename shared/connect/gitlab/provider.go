package gitlab

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"docent/shared/apierr"
	"docent/shared/fetch"
	"docent/shared/pause"
	"docent/shared/source"
)

// The settings and secrets of a source.
const (
	projects      = "projects"
	include       = "include"
	access        = "access"
	baseURL       = "baseUrl"
	accessToken   = "accessToken"
	webhookSecret = "webhookSecret"
)

// The values of the setting access.
const (
	byMembers = "members" // the default
	bySource  = "source"
)

const (
	maxProjects = 100 // of one source
	maxPath     = 255 // bytes of a project's path
)

// Provider reads projects of GitLab, on gitlab.com or a server of one's own. A source
// without settings is filled by import.
var Provider = source.Provider{
	Name: "gitlab", Title: "GitLab projects",
	Settings: []source.Setting{
		{Name: projects, Kind: source.List, Help: "paths of the projects to read, up to 100", Flag: "project", Placeholder: "GROUP/PROJECT", Required: true},
		{Name: include, Kind: source.List, Help: "what to read: issues, merge_requests, wiki or files; all of them by default", Flag: "include", Placeholder: "PART"},
		{Name: access, Help: "members: only the members of a private or internal project read its items, the default; source: the data source's defaultAccess decides, except for confidential issues", Flag: "access", Placeholder: "members|source", Choices: []string{byMembers, bySource}, Opens: bySource},
		{Name: accessToken, Kind: source.Secret, Help: "an access token with the scope read_api", Flag: "token-env", Env: "GITLAB_TOKEN"},
		{Name: baseURL, Kind: source.URL, Help: "the address of your own GitLab, by https, such as https://gitlab.example", Flag: "base-url", Placeholder: "URL"},
	},
	Check:     check,
	Connected: func(s source.Settings, _ source.Secrets) bool { return len(s.List(projects)) > 0 },
	Webhook: &source.Webhook{
		OperationID: "takeGitLabDelivery", Summary: "Take a delivery of GitLab",
		Headers: []source.Header{{Name: tokenHeader, Help: "The secret token of the webhook."}, {Name: eventHeader}, {Name: idHeader}},
		Label:   "Webhook",
		Guide:   "enter the secret as the secret token, and choose the triggers push, comments, confidential comments, issues, confidential issues, merge requests and wiki pages",
		// The secret that Docent makes has this form.
		Signature: `^[A-Za-z0-9_-]{43}$`, IDHeader: idHeader, NewSecret: webhookSecret, Verify: verify, Read: readEvent,
	},
	Opener: opener{}, SyncEvery: 15 * time.Minute, FullScanEvery: 24 * time.Hour,
}

type opener struct{}

// Open returns the connector.
func (opener) Open(f *fetch.Fetcher, now func() time.Time) source.Connector {
	return &Connector{HTTP: f.Client(0), Now: now, Pause: pause.For}
}

// projectForm is a path of groups and a project.
var projectForm = regexp.MustCompile(`^[A-Za-z0-9_.][A-Za-z0-9_.+-]*(/[A-Za-z0-9_.][A-Za-z0-9_.+-]*)+$`)

func check(s source.Settings, secrets source.Secrets) error {
	if s.List(projects) == nil && s.List(include) == nil && s.Text(access) == "" && s.Text(baseURL) == "" && secrets[accessToken] == "" {
		return nil
	}
	err := s.CheckList(projects, maxProjects, func(pointer, p string) error {
		if len(p) > maxPath || !projectForm.MatchString(p) || slices.ContainsFunc(strings.Split(p, "/"), func(name string) bool { return strings.Trim(name, ".") == "" }) {
			return apierr.BadField(pointer, "must have the form group/project, as in the address of the project")
		}
		return nil
	})
	if err == nil {
		err = s.CheckSpelling(projects)
	}
	if err != nil {
		return err
	}
	if s.List(include) != nil {
		if err := s.CheckList(include, len(kinds), func(pointer, kind string) error {
			if !slices.Contains(kinds, kind) {
				return apierr.BadField(pointer, "must be one of %s", strings.Join(kinds, ", "))
			}
			return nil
		}); err != nil {
			return err
		}
	}
	if by := s.Text(access); by != "" && by != byMembers && by != bySource {
		return apierr.BadField("/settings/"+access, "must be members or source")
	}
	return checkBase(s.Text(baseURL))
}

// checkBase returns a field error unless base is empty or the address of a GitLab.
func checkBase(base string) error {
	const pointer = "/settings/" + baseURL
	if base == "" {
		return nil
	}
	if err := source.CheckWebURL(pointer, base); err != nil {
		return err
	}
	if scheme, _, _ := strings.Cut(base, ":"); !strings.EqualFold(scheme, "https") { // the access token is sent to it
		return apierr.BadField(pointer, "must be an https URL")
	}
	if strings.ContainsAny(base, "?#") || strings.HasSuffix(strings.TrimSuffix(base, "/"), "/api/v4") {
		return apierr.BadField(pointer, "must be the address of GitLab itself, without /api/v4 and without a query")
	}
	return nil
}
