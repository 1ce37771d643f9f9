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
// order in which the API lists them. Those without settings are filled by import.
func Providers() []source.Provider {
	return []source.Provider{
		github.Provider,
		gitlab.Provider,
		{Name: "bitbucket", Title: "Bitbucket"},
		{Name: "azure_devops", Title: "Azure DevOps"},
		jira.Provider,
		{Name: "linear", Title: "Linear"},
		{Name: "asana", Title: "Asana"},
		confluence.Provider,
		notion.Provider,
		{Name: "google_drive", Title: "Google Drive"},
		{Name: "coda", Title: "Coda"},
		{Name: "stack_overflow", Title: "Stack Overflow"},
		web.Provider,
		slack.Provider,
		{Name: "microsoft_teams", Title: "Microsoft Teams"},
	}
}
