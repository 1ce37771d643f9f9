package github

import (
	"regexp"
	"strings"
	"time"

	"docent/shared/apierr"
	"docent/shared/fetch"
	"docent/shared/pause"
	"docent/shared/source"
)

// The settings and secrets of a source, and the headers of a delivery.
const (
	repositories    = "repositories"
	baseURL         = "baseUrl"
	accessToken     = "accessToken"
	webhookSecret   = "webhookSecret"
	signatureHeader = "X-Hub-Signature-256"
	eventHeader     = "X-GitHub-Event"
	deliveryHeader  = "X-GitHub-Delivery"
)

// MaxRepositories bounds the repositories of one source.
const MaxRepositories = 100

// Provider reads repositories of GitHub, or of a server with the same API.
var Provider = source.Provider{
	Name: "github", Title: "GitHub repositories",
	Settings: []source.Setting{
		{Name: repositories, Kind: source.List, Help: "repositories to read, up to 100", Flag: "repository", Placeholder: "OWNER/NAME", Parts: true, Required: true},
		{Name: accessToken, Kind: source.Secret, Help: "the access token, if one is needed, with read access to contents, issues and pull requests", Flag: "token-env", Env: "GITHUB_TOKEN"},
		{Name: baseURL, Kind: source.URL, Help: "the API of your own GitHub server, by https, such as https://github.example/api/v3", Flag: "base-url", Placeholder: "URL"},
	},
	Check: check,
	Webhook: &source.Webhook{
		OperationID: "takeGitHubDelivery", Summary: "Take a delivery of GitHub",
		Headers: []source.Header{
			{Name: signatureHeader, Help: "sha256= and the hex HMAC-SHA-256 of the body."}, {Name: eventHeader}, {Name: deliveryHeader},
		},
		Label:     "Webhook",
		Guide:     "choose application/json, the secret, and the events issues, pull requests, issue comments, pull request reviews, review comments and pushes",
		Signature: `^sha256=[0-9a-fA-F]{64}$`, IDHeader: deliveryHeader, NewSecret: webhookSecret, Verify: verify, Read: readEvent,
	},
	Opener: opener{}, SyncEvery: 15 * time.Minute, FullScanEvery: 24 * time.Hour,
}

type opener struct{}

// Open returns the connector.
func (opener) Open(f *fetch.Fetcher, now func() time.Time) source.Connector {
	return &Connector{HTTP: f.Client(0), Now: now, Pause: pause.For}
}

// repositoryForm allows an underscore in the owner, because managed users have their company after one, as in ada_acme.
var repositoryForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,38}/[A-Za-z0-9._-]{1,100}$`)

func check(s source.Settings, _ source.Secrets) error {
	err := s.CheckList(repositories, MaxRepositories, func(pointer, r string) error {
		if !repositoryForm.MatchString(r) || strings.HasSuffix(r, "/.") || strings.HasSuffix(r, "/..") {
			return apierr.BadField(pointer, "must have the form owner/name")
		}
		return nil
	})
	if err == nil {
		err = s.CheckSpelling(repositories)
	}
	base := s.Text(baseURL)
	if err != nil || base == "" {
		return err
	}
	if err := source.CheckWebURL("/settings/"+baseURL, base); err != nil {
		return err
	}
	if scheme, _, _ := strings.Cut(base, ":"); !strings.EqualFold(scheme, "https") { // the access token is sent to it
		return apierr.BadField("/settings/"+baseURL, "must be an https URL")
	}
	return nil
}
