package collection

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"reflect"
	"time"

	"docent/shared/access"
	"docent/shared/apierr"
	"docent/shared/audit"
	"docent/shared/table"
)

// replyLife is how long a reply is kept for its Idempotency-Key.
const replyLife = 24 * time.Hour

// IdempotencyKey makes Create safe to retry: for the same Key of the same API key it
// returns the first reply again. The zero IdempotencyKey does nothing.
type IdempotencyKey struct{ APIKey, Key string }

// Create adds a collection. One Write updates the count and stores the collection and
// the reply for repeats, so racing creates cannot exceed MaxPerTeam. Invalid fields
// return an *apierr.Error.
func (s *Service) Create(ctx context.Context, teamID string, f Fields, defaultAccess *access.Rule, idempotency IdempotencyKey) (Collection, error) {
	if err := f.check(Fields{}); err != nil {
		return Collection{}, err
	}
	c := Collection{ID: s.NewID(), Fields: f, DefaultAccess: defaultAccess, CreatedAt: s.Now().UTC(), Version: 1}
	item, err := toItem(teamID, c)
	if err != nil {
		return Collection{}, err
	}
	ops := []table.Op{
		table.Add{Key: countKey(teamID), By: map[string]int64{"n": 1}, If: table.Below("n", MaxPerTeam)},
		table.Put{Item: item, If: table.Absent()},
	}
	var reply table.Item
	if idempotency.Key != "" {
		if reply, err = replyItem(teamID, c, idempotency, s.Now()); err != nil {
			return Collection{}, err
		}
		ops = append([]table.Op{table.Put{Item: reply, If: table.Absent()}}, ops...)
	}
	err = s.Events.OrSilent(s.Table).Write(ctx, teamID, []audit.Event{newEvent(audit.CollectionCreated, c)}, ops...)
	failed := table.AsConditionFailed(err)
	switch {
	case err == nil:
		return c, nil
	case failed == nil:
		return Collection{}, fmt.Errorf("create collection: %w", err)
	case idempotency.Key != "" && failed.Key == reply.Key:
		return replay(failed.Item, f, defaultAccess)
	case failed.Key == item.Key:
		return c, nil // the id is new, so an earlier attempt of this Write succeeded and its reply was lost
	default:
		return Collection{}, apierr.New(apierr.Conflict, apierr.CodeCollectionLimit,
			"This team has reached its limit of %d collections. Delete one first.", MaxPerTeam)
	}
}

// replyItem returns the item with the reply to a create. Only version v0.1 reads the
// hash of these three fields.
func replyItem(teamID string, c Collection, idempotency IdempotencyKey, now time.Time) (table.Item, error) {
	fields, err := json.Marshal([]string{c.Name, c.Description, c.IconURL})
	if err != nil {
		return table.Item{}, fmt.Errorf("encode request: %w", err)
	}
	body, err := json.Marshal(c)
	if err != nil {
		return table.Item{}, fmt.Errorf("encode reply: %w", err)
	}
	key, request := sha256.Sum256([]byte(idempotency.Key)), sha256.Sum256(fields)
	return table.Item{
		Key: table.Key{Table: table.Collections, Partition: teamID + "/idempotency",
			Sort: idempotency.APIKey + "#" + hex.EncodeToString(key[:])},
		Body:    body,
		Strings: map[string]string{"request": hex.EncodeToString(request[:])},
		Expires: now.Add(replyLife),
	}, nil
}

// replay returns the first reply to a repeated create of f. Other fields under the
// same idempotency key are a Conflict.
func replay(first *table.Item, f Fields, defaultAccess *access.Rule) (Collection, error) {
	c := Collection{Version: 1}
	if first != nil {
		if err := json.Unmarshal(first.Body, &c); err != nil {
			return Collection{}, fmt.Errorf("decode reply: %w", err)
		}
	}
	// The names may have been resolved to other people since.
	if c.Fields != f || !reflect.DeepEqual(c.DefaultAccess.Names(), defaultAccess.Names()) {
		return Collection{}, apierr.New(apierr.Conflict, apierr.CodeIdempotencyConflict,
			"This Idempotency-Key was used for another request. Choose another one.")
	}
	return c, nil
}
