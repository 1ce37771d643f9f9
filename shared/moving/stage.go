package moving

import (
	"strings"

	"docent/shared/pending"
	"docent/shared/table"
)

// stageOf returns when the item under k is copied. An unknown item is copied early.
func stageOf(k table.Key) stage {
	first, rest, _ := strings.Cut(k.Partition, "/")
	switch {
	case k.Table == table.Events && k.Partition == "daily":
		return never // how far this home's sweeper is today
	case k == pending.SweepsKey:
		return never // since when this home's sweeps run regularly
	case k.Table == table.Index && k.Partition == "cleanup" && k.Sort == "orphans":
		return never // when this home last looked for unused objects
	case pending.IsPending(k) || k.Table == table.Index && k.Partition == "cleanup":
		return work
	case k.Table == table.Identities && k.Partition == "teams":
		return arrival
	case k.Table == table.Collections && first == "source":
		return access // webhooks of providers
	case k.Table != table.Identities:
		return early
	case first == "key", first == "link", first == "oauth-code", first == "signon":
		return access
	case rest == "": // the team, and how its users sign in
		return access
	}
	return early
}

// tablesOf returns the tables that have items of a stage.
func tablesOf(s stage) []string {
	switch s {
	case access:
		return []string{table.Collections, table.Identities}
	case arrival:
		return []string{table.Identities}
	}
	return table.Names
}
