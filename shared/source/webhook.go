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

// deliveryMarkLife is how long a delivery is remembered. Senders repeat within
// hours. Processing one twice would change nothing, only cost work.
const deliveryMarkLife = 72 * time.Hour

// maxDeliveryID bounds the delivery ids that are remembered, in bytes.
const maxDeliveryID = 128

// Unsigned returns the error for a delivery whose signature is missing or wrong, or
// whose data source is unknown or of another provider. All look the same.
func Unsigned() *apierr.Error {
	return apierr.New(apierr.Unauthenticated, apierr.CodeUnauthorized, "The delivery is not signed with this data source's secret.")
}

// RejectedError is the error for an unsigned delivery to a known data source. It
// unwraps to Unsigned.
type RejectedError struct{ TeamID, SourceID string }

func (e *RejectedError) Error() string { return "the delivery to " + e.SourceID + " is not signed" }

// Unwrap returns the error that the sender gets.
func (e *RejectedError) Unwrap() error { return Unsigned() }

// Sender is the data source that a delivery names, before its signature is checked.
type Sender struct{ webhookSource }

// Refusal returns the error for a delivery that is not signed with the source's
// secret.
func (k Sender) Refusal() error { return &RejectedError{k.teamID, k.id} }

// ValidSignature reports whether signature is the hex HMAC-SHA-256 of the joined
// parts with secret. It takes constant time.
func ValidSignature(secret, signature string, parts ...[]byte) bool {
	given, err := hex.DecodeString(signature)
	mac := hmac.New(sha256.New, []byte(secret))
	for _, p := range parts {
		mac.Write(p)
	}
	return hmac.Equal(mac.Sum(nil), given) && err == nil && secret != ""
}

// Sender returns the source that a delivery of a provider names, or Unsigned. Call
// it before reading the body, so that a client that knows no source cannot fill
// memory.
func (s *Service) Sender(ctx context.Context, id string, p ProviderName) (Sender, error) {
	k, err := s.webhookSourceByID(ctx, id)
	if errors.Is(err, table.ErrNotFound) || err == nil && k.provider != p {
		return Sender{}, Unsigned()
	}
	return Sender{k}, err
}

// deliveryLimits bounds the JSON of a delivery: a push may list some thousand
// commits with their files.
var deliveryLimits = jsoninput.Limits{Depth: 64, Values: 200_000, Members: 1000, Literal: 100}

// decodeCost is the memory that decoding a delivery takes, per byte of its body.
const decodeCost = 5

// DecodeDelivery decodes the body of a signed delivery.
func DecodeDelivery(ctx context.Context, body []byte, into any) error {
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

// takeOnce calls take unless the delivery was already processed, and remembers it
// if take succeeds. A failed one is processed again.
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

// Deliver handles a delivery and returns the JSON to reply with, if any. Deliveries
// may come repeatedly and in any order. It returns k's Refusal if the delivery is
// not signed.
func (s *Service) Deliver(ctx context.Context, k Sender, d Delivery) (reply []byte, err error) {
	p, known := s.provider(k.provider)
	if !known || p.Webhook == nil || !p.Webhook.Verify(d, k.secrets, s.Now()) {
		return nil, k.Refusal()
	}
	id := ""
	if p.Webhook.IDHeader != "" {
		id = d.Header(p.Webhook.IDHeader)
	}
	err = s.takeOnce(ctx, k, id, func() error {
		event, err := p.Webhook.Read(ctx, d)
		if err != nil || event.Reply != nil || event.isEmpty() {
			reply = event.Reply
			return err
		}
		if k.paused {
			return nil // the sync after the pause reads what has changed
		}
		return s.takeOnce(ctx, k, event.ID, func() error { return s.takeEvent(ctx, k, d.RequestID, event) })
	})
	return reply, err
}

func (s *Service) takeEvent(ctx context.Context, k Sender, requestID string, e Event) error {
	put := s.put
	if e.Concerns != nil {
		settings, err := s.settingsOf(ctx, k.teamID, k.id)
		if err != nil || !e.Concerns(settings) {
			return err
		}
		if p, _ := s.provider(k.provider); e.Stores != nil && s.Syncs != nil && p.IsSynced(settings, k.secrets) {
			put = s.putOfPart(e)
		}
	}
	if e.Sync {
		return s.SyncSoon(ctx, k.teamID, k.id)
	}
	return s.applyChange(ctx, k, requestID, e, put)
}

// putOfPart returns a function that stores an item of e.Part, in one Write with a check that the state of the part is still the same. So a late
// event stores nothing of a part that a sync has removed, or of which it now knows who may read it. Then it schedules a sync.
func (s *Service) putOfPart(e Event) func(ctx context.Context, teamID, sourceID, requestID string, i Item) error {
	return func(ctx context.Context, teamID, sourceID, requestID string, i Item) error {
		rules, err := s.Resolve(ctx, teamID, i.Access)
		if err != nil {
			return fmt.Errorf("resolve who may read: %w", err)
		}
		key := partKey(teamID, sourceID, e.Part)
		for {
			item, err := s.Table.Get(ctx, key)
			if err != nil && !errors.Is(err, table.ErrNotFound) {
				return fmt.Errorf("read the checkpoint: %w", err)
			}
			var p partState
			if err == nil {
				if p, err = partStateFrom(item); err != nil {
					return err
				}
			}
			if !e.Stores(p.Checkpoint) {
				return s.SyncSoon(ctx, teamID, sourceID)
			}
			moved := false
			err = s.putBy(ctx, teamID, sourceID, requestID, i, rules[0], func(ctx context.Context, ops ...table.Op) error {
				err := s.Table.Write(ctx, append(ops, table.Check{Key: key, If: table.VersionIs(p.version)})...)
				failed := table.AsConditionFailed(err)
				moved = failed != nil && failed.Key == key
				return err
			})
			if !moved {
				return err
			}
		}
	}
}

func (e Event) isEmpty() bool { return e.Item == nil && len(e.Removed) == 0 && !e.Sync }

// applyChange removes and stores the items of e. An item that cannot be stored becomes
// the source's last error, because the sender could not correct it.
func (s *Service) applyChange(ctx context.Context, k Sender, requestID string, e Event, put func(ctx context.Context, teamID, sourceID, requestID string, i Item) error) error {
	var err error
	for _, uri := range e.Removed {
		if _, err = s.Documents.Remove(ctx, k.teamID, k.id, uri, e.At, requestID); err != nil {
			break
		}
	}
	if err == nil && e.Item != nil {
		if wrong := e.Item.check(); wrong != nil {
			return s.leftOut(ctx, k.teamID, k.id, wrong.Error())
		}
		err = put(ctx, k.teamID, k.id, requestID, *e.Item)
	}
	switch {
	case errors.Is(err, document.ErrOtherSource):
		return s.leftOut(ctx, k.teamID, k.id, "uri belongs to a document or to an item of another data source")
	case apierr.IsCode(err, apierr.CodeNotFound):
		return Unsigned() // the source was deleted in the meantime
	case err != nil:
		return err
	}
	return s.recordSync(ctx, k.teamID, k.id)
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
