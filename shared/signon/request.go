package signon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"docent/shared/table"
)

// Request is a sign-in that a browser began. It is stored under the hash of its state.
type Request struct {
	TeamID    string    `json:"teamId"`
	Method    Method    `json:"method"`
	ID        string    `json:"id,omitempty"`       // of a SAML request
	Nonce     string    `json:"nonce,omitempty"`    // of OpenID Connect
	Verifier  string    `json:"verifier,omitempty"` // of PKCE (RFC 7636)
	Browser   string    `json:"browser"`            // hash of its secret
	TestBy    string    `json:"testBy,omitempty"`   // id of the admin who tests
	ExpiresAt time.Time `json:"expiresAt"`
}

// Ticket is a user whom the provider has authenticated. It is stored under the hash of its text.
type Ticket struct {
	TeamID    string     `json:"teamId"`
	UserID    string     `json:"userId"`
	UserName  string     `json:"userName"`
	Method    Method     `json:"method"`
	Browser   string     `json:"browser"`
	TestBy    string     `json:"testBy,omitempty"`
	Config    string     `json:"config"` // what was tested, by its hash
	SignedBy  string     `json:"signedBy,omitempty"`
	NotAfter  *time.Time `json:"notAfter,omitempty"`
	ExpiresAt time.Time  `json:"expiresAt"`
}

func requestKey(hashed string) table.Key {
	return table.Key{Table: table.Identities, Partition: "signon/" + hashed, Sort: "request"}
}

func ticketKey(hashed string) table.Key {
	return table.Key{Table: table.Identities, Partition: "signon/" + hashed, Sort: "ticket"}
}

func proofKey(teamID, id string) table.Key {
	return table.Key{Table: table.Identities, Partition: teamID + "/assertions", Sort: hash(id)}
}

// insertRequest stores r.
func (s *Service) insertRequest(ctx context.Context, state string, r Request) error {
	item, err := itemOf(requestKey(hash(state)), r, r.ExpiresAt)
	if err == nil {
		err = s.Table.Write(ctx, table.Put{Item: item, If: table.Absent()})
	}
	if err != nil {
		return fmt.Errorf("store a sign-in: %w", err)
	}
	return nil
}

// takeRequest deletes the request with the state and returns it. Of several calls at most one
// succeeds. One of another team or method is taken too: who sent it knows the state.
func (s *Service) takeRequest(ctx context.Context, teamID string, m Method, state string) (Request, error) {
	r, err := take[Request](ctx, s.Table, state, requestKey, RequestUnknown)
	if err == nil && (r.TeamID != teamID || r.Method != m || !s.Now().Before(r.ExpiresAt)) {
		return Request{}, &Failure{Reason: RequestUnknown}
	}
	return r, err
}

// insertTicket stores t.
func (s *Service) insertTicket(ctx context.Context, text string, t Ticket) error {
	item, err := itemOf(ticketKey(hash(text)), t, t.ExpiresAt)
	if err == nil {
		err = s.Table.Write(ctx, table.Put{Item: item, If: table.Absent()})
	}
	if err != nil {
		return fmt.Errorf("store a ticket: %w", err)
	}
	return nil
}

// takeTicket is takeRequest for tickets.
func (s *Service) takeTicket(ctx context.Context, teamID, text string) (Ticket, error) {
	t, err := take[Ticket](ctx, s.Table, text, ticketKey, TicketUnknown)
	if err == nil && (t.TeamID != teamID || !s.Now().Before(t.ExpiresAt)) {
		return Ticket{}, &Failure{Reason: TicketUnknown}
	}
	return t, err
}

// take deletes the item under the hash of secret and returns its body, or a Failure for missing.
func take[T any](ctx context.Context, store table.Store, secret string, key func(string) table.Key, missing Reason) (T, error) {
	var body T
	if !isSecret(secret) {
		return body, &Failure{Reason: missing}
	}
	k := key(hash(secret))
	item, err := store.Get(ctx, k)
	if errors.Is(err, table.ErrNotFound) {
		return body, &Failure{Reason: missing}
	}
	if err != nil {
		return body, fmt.Errorf("read a sign-in: %w", err)
	}
	err = store.Write(ctx, table.Delete{Key: k, If: table.Exists()})
	if table.AsConditionFailed(err) != nil {
		return body, &Failure{Reason: missing}
	}
	if err != nil {
		return body, fmt.Errorf("take a sign-in: %w", err)
	}
	return bodyFrom[T](item)
}

// useProof records that the assertion of who was used. It keeps the record until the assertion expires.
func (s *Service) useProof(ctx context.Context, teamID string, who Identity) error {
	if who.ProofID == "" {
		return nil
	}
	item := table.Item{Key: proofKey(teamID, who.Issuer+"\x00"+who.ProofID), Version: 1, Expires: who.ProofEnd}
	err := s.Table.Write(ctx, table.Put{Item: item, If: table.Absent()})
	if table.AsConditionFailed(err) != nil {
		return &Failure{Reason: Replayed, Name: who.Name}
	}
	if err != nil {
		return fmt.Errorf("record an assertion: %w", err)
	}
	return nil
}

// itemOf returns an item with body as JSON, which expires; a zero time means never.
func itemOf(key table.Key, body any, expires time.Time) (table.Item, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return table.Item{}, fmt.Errorf("encode %s: %w", key.Sort, err)
	}
	return table.Item{Key: key, Version: 1, Body: text, Expires: expires}, nil
}

func bodyFrom[T any](item table.Item) (T, error) {
	var body T
	if err := json.Unmarshal(item.Body, &body); err != nil {
		return body, fmt.Errorf("decode %s: %w", item.Key.Sort, err)
	}
	return body, nil
}
