package source

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"docent/shared/apierr"
	"docent/shared/document"
	"docent/shared/jsoninput"
	"docent/shared/memory"
	"docent/shared/table"
)

// deliveryMarkLife is how long a delivery is remembered: senders repeat within hours.
// Taking one twice would change nothing, it only costs.
const deliveryMarkLife = 72 * time.Hour

// maxDeliveryID bounds the id of a delivery that is remembered.
const maxDeliveryID = 128

// Unsigned is the answer to a delivery whose signature is missing or wrong, or
// whose data source is unknown or of another provider: all the same.
func Unsigned() *apierr.Error {
	return apierr.New(apierr.Unauthenticated, apierr.CodeUnauthorized, "The delivery is not signed by this data source's secret.")
}

// RejectedError refuses a delivery to a known data source. It unwraps to Unsigned.
type RejectedError struct{ TeamID, SourceID string }

func (e *RejectedError) Error() string { return "the delivery to " + e.SourceID + " is not signed" }

// Unwrap returns the refusal as the sender reads it.
func (e *RejectedError) Unwrap() error { return Unsigned() }

// Sender is the data source that a delivery names, before it is known whether the
// delivery is from there.
type Sender struct{ webhookSource }

// Refusal is the answer to a delivery that is not signed by the source's secret.
func (k Sender) Refusal() error { return &RejectedError{k.teamID, k.id} }

// validSignature tells whether signature is the hex HMAC-SHA-256 of the message's parts by
// secret, in constant time.
func validSignature(secret, signature string, parts ...[]byte) bool {
	given, err := hex.DecodeString(signature)
	mac := hmac.New(sha256.New, []byte(secret))
	for _, p := range parts {
		mac.Write(p)
	}
	return hmac.Equal(mac.Sum(nil), given) && err == nil && secret != ""
}

// Sender returns the source that a delivery of a provider names, or Unsigned. It is
// looked up before the body of the delivery is read, so that nobody who knows no
// source has anything kept in memory.
func (s *Service) Sender(ctx context.Context, id string, p Provider) (Sender, error) {
	k, err := s.webhookSourceByID(ctx, id)
	if errors.Is(err, table.ErrNotFound) || err == nil && k.provider != p {
		return Sender{}, Unsigned()
	}
	return Sender{k}, err
}

// deliveryLimits bounds the JSON of a delivery: a push may list some thousand
// commits with their files.
var deliveryLimits = jsoninput.Limits{Depth: 64, Values: 200_000, Members: 1000, Literal: 100}

// decodeCost is how many bytes a byte of a delivery takes while it is handled.
const decodeCost = 5

// decodeDelivery decodes the body of a signed delivery.
func decodeDelivery(ctx context.Context, body []byte, into any) error {
	if _, err := jsoninput.Check(body, deliveryLimits); err != nil {
		return apierr.New(apierr.Invalid, apierr.CodeInvalidRequest, "The delivery %s.", err)
	}
	if err := memory.Reserve(ctx, decodeCost*int64(len(body))); err != nil {
		return err
	}
	if err := json.Unmarshal(body, into); err != nil {
		return apierr.New(apierr.Invalid, apierr.CodeInvalidRequest, "The delivery is not JSON of the expected form. Choose application/json as the content type.")
	}
	return nil
}

// takeOnce calls take unless the delivery was taken before, and remembers it then: a
// delivery that fails is taken again.
func (s *Service) takeOnce(ctx context.Context, k Sender, delivery string, take func() error) error {
	named := delivery != "" && len(delivery) <= maxDeliveryID && !strings.ContainsFunc(delivery, func(r rune) bool { return r <= ' ' || r > '~' })
	mark := deliveryKey(k.teamID, k.id, delivery)
	if named {
		_, err := s.Table.Get(ctx, mark)
		if err == nil {
			return nil
		}
		if !errors.Is(err, table.ErrNotFound) {
			return fmt.Errorf("look for the delivery: %w", err)
		}
	}
	if err := take(); err != nil || !named {
		return err
	}
	err := s.Table.Write(ctx, table.Put{Item: table.Item{Key: mark, Version: 1, Expires: s.Now().Add(deliveryMarkLife)}})
	if err != nil {
		return fmt.Errorf("remember the delivery: %w", err)
	}
	return nil
}

// applyChange stores or removes what a delivery tells of. What the source can not hold is
// shown on it as its last error, not refused: the sender could do nothing about it.
func (s *Service) applyChange(ctx context.Context, k Sender, requestID string, change change) error {
	if change.item == nil && change.remove == "" {
		return nil
	}
	var err error
	if change.remove != "" {
		_, err = s.Documents.Remove(ctx, k.teamID, k.id, change.remove, change.at, requestID)
	} else if err = change.item.check(); err == nil {
		err = s.put(ctx, k.teamID, k.id, requestID, *change.item)
	} else {
		return s.Fail(ctx, k.teamID, k.id, SyncFailure{Code: "item-rejected", Detail: "An item was left out: its " + err.Error() + "."})
	}
	switch {
	case errors.Is(err, document.ErrOtherSource):
		return s.Fail(ctx, k.teamID, k.id, SyncFailure{Code: "item-rejected", Detail: "An item was left out: its uri is that of a document or of an item of another data source."})
	case apierr.IsCode(err, apierr.CodeNotFound):
		return Unsigned() // the source was deleted meanwhile
	case err != nil:
		return err
	}
	return s.recordSync(ctx, k.teamID, k.id)
}

// change is what a delivery tells: an item as it is now, or one that is gone, or
// nothing.
type change struct {
	item   *Item
	remove string    // uri
	at     time.Time // when it was removed
}

// settingsOf reads the settings of a source.
func (s *Service) settingsOf(ctx context.Context, teamID, id string) (Settings, error) {
	item, err := s.Table.Get(ctx, settingsKey(teamID, id))
	if errors.Is(err, table.ErrNotFound) {
		return Settings{}, Unsigned()
	}
	if err != nil {
		return Settings{}, fmt.Errorf("read settings: %w", err)
	}
	return settingsFrom(item)
}
