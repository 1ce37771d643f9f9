package collection

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"docent/shared/access"
	"docent/shared/table"
)

// Key returns the key of a data source of a team. Collections and connected sources
// share a partition, so one Query lists both. Other packages check it in their own
// Writes, so that nothing is added to a deleted source.
func Key(teamID, id string) table.Key {
	return table.Key{Table: table.Collections, Partition: teamID, Sort: id}
}

// ProviderField is set on the items of connected data sources, not of collections.
const ProviderField = "provider"

// IsConnected reports whether the item at a Key is a connected data source.
func IsConnected(source table.Item) bool { return source.Strings[ProviderField] != "" }

// accessField of a source's item has its default rule, encoded; sources without one
// lack it.
const accessField = "access"

// DefaultAccess returns the rule for those documents of the source at a Key that have
// none of their own; nil: none.
func DefaultAccess(source table.Item) *access.Rule { return access.Decode(source.Strings[accessField]) }

// SetDefaultAccess adds to a step on a connected source that sets strings that it sets
// the rule.
func SetDefaultAccess(a table.Add, rule *access.Rule) { a.Strings[accessField] = rule.Encode() }

// StoreDefaultAccess sets the rule that DefaultAccess returns.
func StoreDefaultAccess(source *table.Item, rule *access.Rule) {
	delete(source.Strings, accessField)
	if rule == nil {
		return
	}
	if source.Strings == nil {
		source.Strings = map[string]string{}
	}
	source.Strings[accessField] = rule.Encode()
}

func countKey(teamID string) table.Key {
	return table.Key{Table: table.Collections, Partition: teamID + "/count", Sort: "collections"}
}

// stored is the body of a collection item.
type stored struct {
	Fields
	CreatedAt time.Time `json:"createdAt"`
}

func toItem(teamID string, c Collection) (table.Item, error) {
	body, err := json.Marshal(stored{c.Fields, c.CreatedAt})
	if err != nil {
		return table.Item{}, fmt.Errorf("encode collection: %w", err)
	}
	item := table.Item{Key: Key(teamID, c.ID), Version: c.Version, Body: body}
	StoreDefaultAccess(&item, c.DefaultAccess)
	return item, nil
}

func fromItem(item table.Item) (Collection, error) {
	var s stored
	if err := json.Unmarshal(item.Body, &s); err != nil {
		return Collection{}, fmt.Errorf("decode collection %s: %w", item.Sort, err)
	}
	return Collection{ID: item.Sort, Fields: s.Fields, DefaultAccess: DefaultAccess(item), CreatedAt: s.CreatedAt, Version: item.Version}, nil
}

// IsID reports whether id has the form of a data source id. Other ids must not be
// used in a key.
func IsID(id string) bool {
	if len(id) != 36 {
		return false
	}
	return !strings.ContainsFunc(id, func(r rune) bool {
		return r != '-' && (r < '0' || r > '9') && (r < 'a' || r > 'f')
	})
}
