package notion

import (
	"regexp"
	"strings"
	"time"

	"docent/shared/apierr"
	"docent/shared/fetch"
	"docent/shared/pause"
	"docent/shared/source"
)

// The settings and the secret of a source.
const (
	roots       = "rootPages"
	access      = "access"
	accessToken = "accessToken"
)

// The values of the setting access.
const (
	byNobody = "nobody"
	bySource = "source"
)

const maxRoots = 100 // root pages of one source

// Provider reads the pages and databases of a Notion workspace that are shared with an
// integration. A source without settings is filled by import.
var Provider = source.Provider{
	Name: "notion", Title: "Notion pages",
	Settings: []source.Setting{
		{Name: accessToken, Kind: source.Secret, Help: "the secret of an integration with the capability to read content", Flag: "token-env", Env: "NOTION_TOKEN", Required: true},
		{Name: access, Help: "who reads the items, because Notion does not tell: source, the data source's defaultAccess decides; or nobody, only team keys read them", Flag: "access", Placeholder: "source|nobody", Required: true, Choices: []string{bySource, byNobody}, Opens: bySource},
		{Name: roots, Kind: source.List, Help: "addresses or ids of pages and databases, up to 100, to read only what is below them", Flag: "root-page", Placeholder: "PAGE"},
	},
	Check:     check,
	Connected: func(s source.Settings, _ source.Secrets) bool { return s.Text(access) != "" },
	Opener:    opener{}, SyncEvery: 15 * time.Minute, FullScanEvery: 24 * time.Hour,
}

type opener struct{}

// Open returns the connector.
func (opener) Open(f *fetch.Fetcher, now func() time.Time) source.Connector { return open(f, now) }

func open(f *fetch.Fetcher, now func() time.Time) *Connector {
	return &Connector{Base: "https://api.notion.com/", HTTP: f.Client(0), Now: now, Pause: pause.For}
}

func check(s source.Settings, secrets source.Secrets) error {
	switch by := s.Text(access); {
	case by == "" && s.List(roots) == nil && secrets[accessToken] == "":
		return nil
	case by != byNobody && by != bySource:
		return apierr.BadField("/settings/"+access, "must be source, so that the data source's defaultAccess decides who reads its items, or nobody; Notion does not tell")
	case secrets[accessToken] == "":
		return apierr.BadField("/settings/"+accessToken, "is required")
	case s.List(roots) == nil:
		return nil
	}
	return s.CheckList(roots, maxRoots, func(pointer, page string) error {
		if idOf(page) == "" {
			return apierr.BadField(pointer, "must be the address of a page or database of Notion, or its id")
		}
		return nil
	})
}

var idForm = regexp.MustCompile(`(?i)([0-9a-f]{32}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$`)

// idOf returns the id at the end of the path of an address, or of an id itself, as 32
// digits; empty: there is none.
func idOf(address string) string {
	path, _, _ := strings.Cut(address, "?")
	path, _, _ = strings.Cut(path, "#")
	return short(idForm.FindString(path))
}

// short returns an id without hyphens.
func short(id string) string { return strings.ToLower(strings.ReplaceAll(id, "-", "")) }
