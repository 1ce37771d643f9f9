package team

import (
	"context"
	"encoding/json"
	"math/big"
	"time"

	"docent/shared/table"
)

const (
	MaxKnown = maxKnown
	KnownFor = knownFor
)

var (
	EachMember     = eachMember
	KeyText        = keyText
	GreatestSecret = greatestSecret
)

// SecretOf returns the text of the secret with these bytes.
func SecretOf(raw []byte) string { return base62(new(big.Int).SetBytes(raw), secretLength) }

// PutUser stores u without checks.
func (s *Service) PutUser(ctx context.Context, teamID string, u User) error {
	attributes := map[string]any{"userName": u.UserName, "displayName": u.DisplayName, "active": u.Active}
	if u.Role == RoleAdmin {
		attributes["roles"] = []any{map[string]any{"value": "admin"}}
	}
	encoded, err := json.Marshal(attributes)
	if err != nil {
		return err
	}
	p := Profile{User: u, ModifiedAt: u.CreatedAt, Attributes: encoded, Version: 1}
	item, err := p.item(teamID)
	if err != nil {
		return err
	}
	return s.Table.Write(ctx, table.Put{Item: item})
}

// Cache is the cache of keys, with nothing but their ids.
type Cache struct{ c cache }

func (c *Cache) Put(id string, readAt time.Time) {
	c.c.put(known{key: record{id: id}}, readAt, c.c.begin())
}

func (c *Cache) Has(id string, now time.Time) bool {
	k, ok := c.c.get(id, now)
	return ok && k.key.id == id
}

func (c *Cache) Remove(id string)                    { c.c.remove(id) }
func (c *Cache) Touch(id string, now time.Time) bool { return c.c.touch(id, now) }
func (c *Cache) Len() int                            { return max(len(c.c.byID), c.c.oldest.Len()) }
