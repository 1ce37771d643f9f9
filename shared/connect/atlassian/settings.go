package atlassian

import (
	"net/url"
	"regexp"
	"strings"

	"docent/shared/apierr"
	"docent/shared/source"
)

// The settings and the secret that sources of both products have.
const (
	BaseURL     = "baseUrl"
	Email       = "email"
	AccessToken = "accessToken"
	Readers     = "access"
)

// The values of the setting Readers.
const (
	byMembers = "members"
	bySource  = "source"
)

// MaxParts bounds the spaces or projects of one source.
const MaxParts = 100

const maxEmail = 254

// Settings returns the settings of a source: list names its spaces or projects, and env
// is the environment variable with its token.
func Settings(list source.Setting, address, env string) []source.Setting {
	return []source.Setting{
		{Name: BaseURL, Kind: source.URL, Help: "the address of the site, by https, such as " + address, Flag: "base-url", Placeholder: "URL", Required: true},
		list,
		{Name: Email, Help: "the email address of the token's account, for a site of the Cloud; leave it out for a Data Center",
			Flag: "email", Placeholder: "ADDRESS"},
		{Name: AccessToken, Kind: source.Secret, Help: "the API token, or the personal access token of a Data Center", Flag: "token-env", Env: env, Required: true},
		{Name: Readers, Help: "members: only those who may read an item there read it, the default; source: the data source's defaultAccess decides," +
			" except about single items that are limited there", Flag: "access", Placeholder: "members|source", Choices: []string{byMembers, bySource}, Opens: bySource},
	}
}

// keyForm matches keys of spaces, personal ones included, and of projects.
var keyForm = regexp.MustCompile(`^~?[A-Za-z0-9._:-]{1,255}$`)

// Connected reports whether a connector reads a source with these settings. Without any
// it is filled by import.
func Connected(s source.Settings, _ source.Secrets) bool { return s.Text(BaseURL) != "" }

// Check returns a field error if settings are invalid. None at all are valid.
func Check(list string, s source.Settings, secrets source.Secrets) error {
	base := s.Text(BaseURL)
	if base == "" {
		if len(s.List(list)) > 0 || s.Text(Email) != "" || s.Text(Readers) != "" || len(secrets) > 0 {
			return apierr.BadField("/settings/"+BaseURL, "is required with other settings")
		}
		return nil
	}
	if err := checkBase(base); err != nil {
		return err
	}
	if err := s.CheckList(list, MaxParts, func(pointer, key string) error {
		if !keyForm.MatchString(key) {
			return apierr.BadField(pointer, "must be a key, such as ENG")
		}
		return nil
	}); err != nil {
		return err
	}
	email := s.Text(Email)
	u, _ := url.Parse(base)
	switch {
	case email == "" && isCloud(u):
		return apierr.BadField("/settings/"+Email, "is required for a site of Atlassian's Cloud: the address of the account that made the API token")
	case email != "" && (len(email) > maxEmail || strings.Count(email, "@") != 1 || strings.ContainsFunc(email, func(r rune) bool { return r <= ' ' || r > '~' || r == ':' })):
		return apierr.BadField("/settings/"+Email, "must be an email address")
	case secrets[AccessToken] == "":
		return apierr.BadField("/settings/"+AccessToken, "is required")
	}
	if r := s.Text(Readers); r != "" && r != byMembers && r != bySource {
		return apierr.BadField("/settings/"+Readers, "must be %s or %s", byMembers, bySource)
	}
	return source.CheckSecret("/settings/"+AccessToken, secrets[AccessToken])
}

// isCloud reports whether u is a site of Atlassian's Cloud with an address of Atlassian.
func isCloud(u *url.URL) bool {
	return strings.HasSuffix(strings.ToLower(u.Hostname()), ".atlassian.net")
}

// checkBase returns a field error unless the token may be sent to base.
func checkBase(base string) error {
	if err := source.CheckWebURL("/settings/"+BaseURL, base); err != nil {
		return err
	}
	u, err := url.Parse(base)
	switch {
	case err != nil || u.Host == "":
		return apierr.BadField("/settings/"+BaseURL, "must be an absolute URL")
	case !strings.EqualFold(u.Scheme, "https"): // the access token is sent to it
		return apierr.BadField("/settings/"+BaseURL, "must be an https URL")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return apierr.BadField("/settings/"+BaseURL, "must have no user, query or fragment")
	case strings.EqualFold(u.Hostname(), "api.atlassian.com"):
		return apierr.BadField("/settings/"+BaseURL, "must be the site's own address, such as https://acme.atlassian.net; use an API token without scopes")
	case isCloud(u) && strings.Trim(u.Path, "/") != "" && strings.Trim(u.Path, "/") != "wiki": // the address of a page
		return apierr.BadField("/settings/"+BaseURL, "must be the address of the site alone: https://%s", u.Host)
	}
	return nil
}

// Mirrors reports whether the items of a source are limited to those who may read their
// space or project.
func Mirrors(s source.Settings) bool { return s.Text(Readers) != bySource }
