package scim

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"docent/shared/apierr"
	"docent/shared/fold"
	"docent/shared/scim/protocol"
	"docent/shared/table"
	"docent/shared/team"
)

// group is a group without its members.
type group struct {
	ID         string         `json:"-"`
	CreatedAt  time.Time      `json:"createdAt"`
	ModifiedAt time.Time      `json:"modifiedAt"`
	Attributes map[string]any `json:"attributes"`
	Version    int64          `json:"version"` // as clients see it
	// Changes of members that may have left marks: those that count, those that never
	// will, and the one in progress.
	Changes []string `json:"changes,omitempty"`
	Stale   []string `json:"stale,omitempty"`
	Staging *staging `json:"staging,omitempty"`

	stored int64 // version of the item; every write raises it
}

// staging is a change of many members while it is marked.
type staging struct {
	ID string    `json:"id"`
	At time.Time `json:"at"`
}

func identity(partition, sort string) table.Key {
	return table.Key{Table: table.Identities, Partition: partition, Sort: sort}
}

func groupKey(teamID, id string) table.Key { return identity(teamID+"/groups", id) }

// groupNameKey makes names unique in the team. Names are hashed because they can be longer than
// a key.
func groupNameKey(teamID, name string) table.Key {
	return identity(teamID+"/groupNames", hashed(fold.Text(name)))
}

// groupNameKeys returns the keys under which a group with the name may be: that of the name as it is spelled, and those of its other
// Unicode normal forms. A group is stored under its own spelling, and a name that is taken in one of them is taken in all.
func groupNameKeys(teamID, name string) []table.Key {
	var keys []table.Key
	for _, form := range fold.Forms(name) {
		keys = append(keys, groupNameKey(teamID, form))
	}
	return keys
}

func groupIndexKey(teamID, externalID, id string) table.Key {
	return identity(teamID+"/groupsBy/externalId", hashed(externalID)+"/"+id)
}

func departedGroupKey(teamID, id string) table.Key { return identity(teamID+"/departedGroups", id) }

func hashed(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:16])
}

func (g group) name() string { return textOf(g.Attributes, "displayName") }

func textOf(object map[string]any, name string) string {
	text, _ := object[name].(string)
	return text
}

// group reads a group. For an unknown one it returns a 404.
func (s *Service) group(ctx context.Context, teamID, id string) (group, error) {
	if !team.IsID(id) {
		return group{}, notFound(protocol.GroupType)
	}
	item, err := s.Table.Get(ctx, groupKey(teamID, id))
	if errors.Is(err, table.ErrNotFound) {
		return group{}, notFound(protocol.GroupType)
	}
	if err != nil {
		return group{}, fmt.Errorf("read group %s: %w", id, err)
	}
	return groupFrom(item)
}

// groups reads the groups with the ids, and skips unknown ones.
func (s *Service) groups(ctx context.Context, teamID string, ids []string) (map[string]group, error) {
	var keys []table.Key
	for _, id := range ids {
		if team.IsID(id) {
			keys = append(keys, groupKey(teamID, id))
		}
	}
	out := map[string]group{}
	if len(keys) == 0 {
		return out, nil
	}
	items, err := s.Table.BatchGet(ctx, keys)
	if err != nil {
		return nil, fmt.Errorf("read groups: %w", err)
	}
	for _, item := range items {
		g, err := groupFrom(item)
		if err != nil {
			return nil, err
		}
		out[g.ID] = g
	}
	return out, nil
}

func groupFrom(item table.Item) (group, error) {
	g := group{ID: item.Sort, stored: item.Version}
	if err := json.Unmarshal(item.Body, &g); err != nil {
		return g, fmt.Errorf("decode group %s: %w", item.Sort, err)
	}
	return g, nil
}

// put returns the operation that stores g as the write after the one that was read.
func (g group) put(teamID string, when table.Condition) (table.Put, error) {
	body, err := protocol.Encode(g)
	if err != nil {
		return table.Put{}, fmt.Errorf("encode group %s: %w", g.ID, err)
	}
	if len(body) > team.MaxAttributes {
		return table.Put{}, apierr.New(apierr.TooLarge, apierr.CodeTooLarge, "The attributes of a group may have at most %d bytes.", team.MaxAttributes)
	}
	return table.Put{Item: table.Item{Key: groupKey(teamID, g.ID), Version: g.stored + 1, Body: body}, If: when}, nil
}

// nextVersion returns g with the next version and the current time.
func (s *Service) nextVersion(g group) group {
	g.Version++
	g.ModifiedAt = s.moment()
	return g
}

func (s *Service) moment() time.Time { return s.Now().UTC().Truncate(time.Millisecond) }

// indexOps returns the operations that update the index from before to after. For a new group,
// before is empty.
func indexOps(teamID string, before, after group) []table.Op {
	var ops []table.Op
	old, next := groupNameKey(teamID, before.name()), groupNameKey(teamID, after.name())
	if before.name() == "" || old != next {
		ops = append(ops, table.Put{If: table.Absent(),
			Item: table.Item{Key: next, Version: 1, Strings: map[string]string{"group": after.ID}}})
		for _, k := range groupNameKeys(teamID, after.name()) {
			if k != next && (before.name() == "" || k != old) {
				ops = append(ops, table.Check{Key: k, If: table.Absent()})
			}
		}
		if before.name() != "" {
			ops = append(ops, table.Delete{Key: old})
		}
	}
	had, has := textOf(before.Attributes, "externalId"), textOf(after.Attributes, "externalId")
	if had != has && had != "" {
		ops = append(ops, table.Delete{Key: groupIndexKey(teamID, had, after.ID)})
	}
	if had != has && has != "" {
		ops = append(ops, table.Put{Item: table.Item{Key: groupIndexKey(teamID, has, after.ID), Version: 1}})
	}
	return ops
}

// groupResource returns the group as clients see it. Members that are nil were not read, and are left out. A group that has
// none shows an empty list: a provider that compares members takes a group without the list for one whose members it may not see.
func (s *Service) groupResource(g group, members []member) map[string]any {
	resource := map[string]any{}
	for name, value := range g.Attributes {
		resource[name] = value
	}
	resource["schemas"] = protocol.GroupType.SchemasOf(resource)
	resource["id"] = g.ID
	resource["meta"] = s.meta(protocol.GroupType, g.ID, g.CreatedAt, g.ModifiedAt, g.Version)
	if members != nil {
		list := make([]any, len(members))
		for i, m := range members {
			list[i] = s.memberResource(m)
		}
		resource["members"] = list
	}
	return resource
}

// memberResource returns the member as clients see it.
func (s *Service) memberResource(m member) map[string]any {
	return map[string]any{"value": m.userID, "display": m.display, "type": protocol.UserType.Name, "$ref": s.location(protocol.UserType, m.userID)}
}

// groupsByName returns the ids of the groups with the name: one or none, or more if an earlier release stored the name in several
// spellings. That with the name as it is spelled is the first.
func (s *Service) groupsByName(ctx context.Context, teamID, name string) ([]string, error) {
	keys := groupNameKeys(teamID, name)
	items, err := s.Table.BatchGet(ctx, keys)
	if err != nil {
		return nil, fmt.Errorf("read group name: %w", err)
	}
	slices.SortStableFunc(items, func(a, b table.Item) int { return slices.Index(keys, a.Key) - slices.Index(keys, b.Key) })
	var ids []string
	for _, item := range items {
		ids = append(ids, item.Strings["group"])
	}
	return ids, nil
}

func (s *Service) groupsByExternalID(ctx context.Context, teamID, externalID string) ([]string, error) {
	prefix := hashed(externalID) + "/"
	var ids []string
	q := table.Query{Table: table.Identities, Partition: teamID + "/groupsBy/externalId", Prefix: prefix}
	for item, err := range table.All(ctx, s.Table, q) {
		if err != nil {
			return nil, fmt.Errorf("find groups: %w", err)
		}
		ids = append(ids, strings.TrimPrefix(item.Sort, prefix))
	}
	return ids, nil
}

// allGroups reads all groups of the team in the order of their ids.
func (s *Service) allGroups(ctx context.Context, teamID string) ([]group, error) {
	var out []group
	for item, err := range table.All(ctx, s.Table, table.Query{Table: table.Identities, Partition: teamID + "/groups"}) {
		if err != nil {
			return nil, fmt.Errorf("list groups: %w", err)
		}
		g, err := groupFrom(item)
		if err != nil {
			return nil, err
		}
		out = append(out, g)
	}
	return slices.Clip(out), nil
}
