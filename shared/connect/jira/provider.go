package jira

import (
	"time"

	"docent/shared/connect/atlassian"
	"docent/shared/fetch"
	"docent/shared/pause"
	"docent/shared/source"
)

const projects = "projects"

// Provider reads projects of Jira Cloud or of a Data Center. A source without settings is
// filled by import.
var Provider = source.Provider{
	Name: "jira", Title: "Jira issues",
	Settings: atlassian.Settings(source.Setting{Name: projects, Kind: source.List, Help: "keys of the projects to read, up to 100",
		Flag: "project", Placeholder: "KEY", Required: true}, "https://acme.atlassian.net", "JIRA_TOKEN"),
	Check:     func(s source.Settings, secrets source.Secrets) error { return atlassian.Check(projects, s, secrets) },
	Connected: atlassian.Connected,
	Opener:    opener{}, SyncEvery: 15 * time.Minute,
	FullScanEvery: 6 * time.Hour, // only it notices changed permissions
}

type opener struct{}

// Open returns the connector.
func (opener) Open(f *fetch.Fetcher, now func() time.Time) source.Connector {
	return &Connector{atlassian.Client{HTTP: f.Client(0), Now: now, Pause: pause.For}}
}
