package collection

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"docent/shared/apierr"
	"docent/shared/audit"
	"docent/shared/table"
)

// replyLife is how long a reply is kept for its Idempotency-Key.
const replyLife = 24 * time.Hour

// IdempotencyKey makes Create safe to retry: the same Key of the same API key gives the
// first reply again. The zero IdempotencyKey asks for nothing.
type IdempotencyKey struct{ APIKey, Key string }

// Create adds a collection. Count, record and reply for repeats are one Write,
// so racing creates leave exactly MaxPerTeam. Fields out of bounds are an *apierr.Error.
func (s *Service) Create(ctx context.Context, teamID string, f Fields, repeat IdempotencyKey) (Collection, error) {
	if err := f.check(); err != nil {
		return Collection{}, err
	}
	c := Collection{ID: s.NewID(), Fields: f, CreatedAt: s.Now().UTC(), Version: 1}
	item, err := toItem(teamID, c)
	if err != nil {
		return Collection{}, err
	}
	ops := []table.Op{
		table.Add{Key: countKey(teamID), By: map[string]int64{"n": 1}, If: table.Below("n", MaxPerTeam)},
		table.Put{Item: item, If: table.Absent()},
	}
	var reply table.Item
	if repeat.Key != "" {
		if reply, err = replyItem(teamID, c, repeat, s.Now()); err != nil {
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
	case repeat.Key != "" && failed.Key == reply.Key:
		return replay(failed.Item, f)
	case failed.Key == item.Key:
		return c, nil // its id is new: an attempt of this write, whose answer was lost, has landed
	default:
		return Collection{}, apierr.New(apierr.Conflict, apierr.CodeCollectionLimit,
			"This team has reached its limit of %d collections. Delete one first.", MaxPerTeam)
	}
}

// replyItem keeps the reply to a create under its idempotency key. Version v0.1 compares
// the hash of the request, which has these three fields there.
func replyItem(teamID string, c Collection, repeat IdempotencyKey, now time.Time) (table.Item, error) {
	asked, err := json.Marshal([]string{c.Name, c.Description, c.IconURL})
	if err != nil {
		return table.Item{}, fmt.Errorf("encode request: %w", err)
	}
	body, err := json.Marshal(c)
	if err != nil {
		return table.Item{}, fmt.Errorf("encode reply: %w", err)
	}
	key, request := sha256.Sum256([]byte(repeat.Key)), sha256.Sum256(asked)
	return table.Item{
		Key: table.Key{Table: table.Collections, Partition: teamID + "/idempotency",
			Sort: repeat.APIKey + "#" + hex.EncodeToString(key[:])},
		Body:    body,
		Strings: map[string]string{"request": hex.EncodeToString(request[:])},
		Expires: now.Add(replyLife),
	}, nil
}

// replay answers a repeated create of f from the first one's reply. Another request
// under the same key is a Conflict.
func replay(first *table.Item, f Fields) (Collection, error) {
	c := Collection{Version: 1}
	if first != nil {
		if err := json.Unmarshal(first.Body, &c); err != nil {
			return Collection{}, fmt.Errorf("decode reply: %w", err)
		}
	}
	if c.Fields != f {
		return Collection{}, apierr.New(apierr.Conflict, apierr.CodeIdempotencyConflict,
			"This Idempotency-Key was used for another request.")
	}
	return c, nil
}
