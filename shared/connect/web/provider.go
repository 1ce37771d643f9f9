package web

import (
	"time"

	"docent/shared/apierr"
	"docent/shared/fetch"
	"docent/shared/pause"
	"docent/shared/source"
)

// The settings of a source.
const (
	urls    = "urls"
	sitemap = "sitemap"
)

// MaxURLs bounds the pages that the settings of one source list.
const MaxURLs = 100

// Provider reads web pages from a list or a sitemap.
var Provider = source.Provider{
	Name: "web", Title: "Web site",
	Settings: []source.Setting{
		{Name: urls, Kind: source.List, Help: "pages to read, up to 100", Flag: "url", Placeholder: "URL", Either: "pages"},
		{Name: sitemap, Kind: source.URL, Help: "a sitemap or an index of sitemaps", Flag: "sitemap", Placeholder: "URL", Either: "pages"},
	},
	Check:  check,
	Opener: opener{}, SyncEvery: 24 * time.Hour, FullScanEvery: 7 * 24 * time.Hour,
}

type opener struct{}

// Open returns the connector.
func (opener) Open(f *fetch.Fetcher, now func() time.Time) source.Connector {
	return &Connector{Fetch: f, Now: now, Pause: pause.For}
}

func check(s source.Settings, _ source.Secrets) error {
	list, at := s.List(urls), s.Text(sitemap)
	switch {
	case (len(list) == 0) == (at == "") || len(list) > MaxURLs:
		return apierr.BadField("/settings", "must have either 1 to %d urls or a sitemap", MaxURLs)
	case at != "":
		return source.CheckWebURL("/settings/"+sitemap, at)
	default:
		return s.CheckList(urls, MaxURLs, source.CheckWebURL)
	}
}
