package source

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"docent/shared/apierr"
	"docent/shared/uri"
)

// Settings is what a connector of the provider needs to know, without secrets.
type Settings struct {
	Repositories []string `json:"repositories,omitempty"` // github: owner/name
	BaseURL      string   `json:"baseUrl,omitempty"`      // github: of an own server's API
	URLs         []string `json:"urls,omitempty"`         // web: pages
	Sitemap      string   `json:"sitemap,omitempty"`      // web: a list of pages
}

// Secrets are what a provider and Docent trust each other by.
type Secrets struct {
	AccessToken   string `json:"accessToken,omitempty"`   // github: reads the repositories
	WebhookSecret string `json:"webhookSecret,omitempty"` // github: signs deliveries; ours
	SigningSecret string `json:"signingSecret,omitempty"` // slack: signs events
}

// Bounds of settings.
const (
	maxURL    = 2048
	maxSecret = 1024
)

var repository = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9-]{0,38}/[A-Za-z0-9._-]{1,100}$`)

// check refuses a new source that is out of bounds, or has settings that its
// provider does not take.
func (d DataSource) check(secrets Secrets) error {
	if n := utf8.RuneCountInString(d.Name); n < 1 || n > MaxName || !utf8.ValidString(d.Name) || strings.ContainsFunc(d.Name, unicode.IsControl) {
		return apierr.BadField("/name", "must have 1 to %d characters", MaxName)
	}
	if !slices.Contains(Providers, d.Provider) {
		return apierr.BadField("/provider", "must be one of the providers that can be connected")
	}
	s := d.Settings
	for _, given := range []struct {
		name string
		is   bool
		of   Provider
	}{
		{"repositories", s.Repositories != nil, GitHub}, {"accessToken", secrets.AccessToken != "", GitHub},
		{"baseUrl", s.BaseURL != "", GitHub}, {"signingSecret", secrets.SigningSecret != "", Slack},
		{"urls", s.URLs != nil, Web}, {"sitemap", s.Sitemap != "", Web},
	} {
		if given.is && given.of != d.Provider {
			return apierr.BadField("/settings/"+given.name, "is a setting of %s", given.of)
		}
	}
	switch d.Provider {
	case GitHub:
		return s.checkGitHub(secrets)
	case Slack:
		return checkSecret("/settings/signingSecret", secrets.SigningSecret, true)
	case Web:
		return s.checkWeb()
	default:
		return nil
	}
}

func (s Settings) checkGitHub(secrets Secrets) error {
	if n := len(s.Repositories); n < 1 || n > MaxRepositories {
		return apierr.BadField("/settings/repositories", "must be 1 to %d repositories", MaxRepositories)
	}
	for i, r := range s.Repositories {
		if !repository.MatchString(r) || strings.HasSuffix(r, "/.") || strings.HasSuffix(r, "/..") {
			return apierr.BadField(fmt.Sprintf("/settings/repositories/%d", i), "must have the form owner/name")
		}
	}
	if s.BaseURL != "" {
		if err := checkWebURL("/settings/baseUrl", s.BaseURL); err != nil {
			return err
		}
		if scheme, _, _ := strings.Cut(s.BaseURL, ":"); !strings.EqualFold(scheme, "https") { // the access token is sent to it
			return apierr.BadField("/settings/baseUrl", "must be an https URL")
		}
	}
	return checkSecret("/settings/accessToken", secrets.AccessToken, false)
}

func (s Settings) checkWeb() error {
	if (len(s.URLs) == 0) == (s.Sitemap == "") || len(s.URLs) > MaxURLs {
		return apierr.BadField("/settings", "must have either 1 to %d urls or a sitemap", MaxURLs)
	}
	for i, u := range s.URLs {
		if err := checkWebURL(fmt.Sprintf("/settings/urls/%d", i), u); err != nil {
			return err
		}
	}
	if s.Sitemap != "" {
		return checkWebURL("/settings/sitemap", s.Sitemap)
	}
	return nil
}

func checkWebURL(pointer, text string) error {
	if len(text) > maxURL {
		return apierr.BadField(pointer, "must have at most %d bytes", maxURL)
	}
	if err := uri.CheckWeb(text); err != nil {
		return apierr.BadField(pointer, "%s", err)
	}
	return nil
}

func checkSecret(pointer, text string, required bool) error {
	if text == "" && !required {
		return nil
	}
	if text == "" || len(text) > maxSecret || strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return apierr.BadField(pointer, "must be 1 to %d printable ASCII characters without spaces", maxSecret)
	}
	return nil
}
