package app

import (
	"docent/shared/connect/confluence"
	"docent/shared/connect/github"
	"docent/shared/connect/gitlab"
	"docent/shared/connect/jira"
	"docent/shared/connect/notion"
	"docent/shared/connect/slack"
	"docent/shared/connect/web"
	"docent/shared/source"
)

// Providers returns every provider that a data source can be connected to, in the
// order in which the API lists them. Those with a name only are filled by import.
func Providers() []source.Provider {
	return []source.Provider{
		github.Provider,
		gitlab.Provider,
		{Name: "bitbucket"},
		{Name: "azure_devops"},
		jira.Provider,
		{Name: "linear"},
		{Name: "asana"},
		confluence.Provider,
		notion.Provider,
		{Name: "google_drive"},
		{Name: "coda"},
		{Name: "stack_overflow"},
		web.Provider,
		slack.Provider,
		{Name: "microsoft_teams"},
	}
}
