package confluence

import (
	"time"

	"docent/shared/connect/atlassian"
	"docent/shared/fetch"
	"docent/shared/pause"
	"docent/shared/source"
)

const spaces = "spaces"

// Provider reads spaces of Confluence Cloud or of a Data Center. A source without
// settings is filled by import.
var Provider = source.Provider{
	Name: "confluence", Title: "Confluence pages",
	Settings: atlassian.Settings(source.Setting{Name: spaces, Kind: source.List, Help: "keys of the spaces to read, up to 100",
		Flag: "space", Placeholder: "KEY", Required: true}, "https://acme.atlassian.net", "CONFLUENCE_TOKEN"),
	Check:     func(s source.Settings, secrets source.Secrets) error { return atlassian.Check(spaces, s, secrets) },
	Connected: atlassian.Connected,
	Opener:    opener{}, SyncEvery: 15 * time.Minute,
	FullScanEvery: 6 * time.Hour, // only it notices changed restrictions
}

type opener struct{}

// Open returns the connector.
func (opener) Open(f *fetch.Fetcher, now func() time.Time) source.Connector {
	return &Connector{Client: atlassian.Client{HTTP: f.Client(0), Now: now, Pause: pause.For}}
}
