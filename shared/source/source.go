// Package source keeps a team's connected data sources: their settings, imports,
// webhooks and syncs. Package question below it answers questions over them.
//
// A collection is one kind of data source; package collection creates and deletes
// it. The others are connected: their items arrive by import, by webhook or by a
// connector. Items are documents with facts in package document, so all are
// stored, indexed and removed the same way.
package source

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"time"

	"docent/shared/access"
	"docent/shared/apierr"
	"docent/shared/audit"
	"docent/shared/collection"
	"docent/shared/document"
	"docent/shared/pending"
	"docent/shared/queue"
	"docent/shared/table"
)

// Bounds of data sources. Lengths count Unicode code points.
const (
	MaxPerTeam = 100
	MaxName    = 100
)

// State says whether a data source works.
type State string

// The states.
const (
	Connecting State = "connecting" // no content received yet
	Ready      State = "ready"
	Failed     State = "failed" // LastError says why
	Paused     State = "paused" // no sync runs, and deliveries change nothing
)

// SyncFailure says why the content of a data source could not be updated.
type SyncFailure struct {
	Code   string    `json:"code"`
	Detail string    `json:"detail"`
	At     time.Time `json:"at"`
}

// DataSource is a collection or a connected data source.
type DataSource struct {
	ID        string
	Provider  ProviderName
	Name      string
	Settings  Settings
	State     State      // without regard to Paused
	Paused    bool       // by an admin
	LastSync  *time.Time // when content last arrived; nil: never, or a collection
	LastError *SyncFailure
	Sync      *Progress // nil: no connector reads it
	CreatedAt time.Time
	ChangedAt time.Time // when it was created, or its name, settings or the like were changed last
	UpdatedAt time.Time // the latest of ChangedAt, LastSync and LastError
	// DefaultAccess decides about items that have no rule of their own; nil: everyone
	// reads them.
	DefaultAccess *access.Rule
}

// Service holds the rules of data sources.
type Service struct {
	Providers   []Provider // those that can be connected
	Table       table.Store
	Events      *audit.Log // nil: nothing is recorded
	Collections *collection.Service
	Documents   *document.Service
	Work        queue.Queue     // the document queue, for the removal of a source's items
	Syncs       queue.Queue     // the queue of syncs; nil: no connector runs in this installation
	Outbox      *pending.Outbox // sends notices to webhook endpoints
	Now         func() time.Time
	NewID       func() string // time-ordered UUIDs
	// Seal encrypts the secrets of a source, Open decrypts them. Both bind them to
	// about: Open fails if it differs, so that one source cannot use the secrets of
	// another.
	Seal func(ctx context.Context, secrets []byte, about string) ([]byte, error)
	Open func(ctx context.Context, sealed []byte, about string) ([]byte, error)
	// Resolve returns the rules of names; see scim.Service.Resolve.
	Resolve func(ctx context.Context, teamID string, names ...*access.Names) ([]*access.Rule, error)
	// Probe asks a provider whether it can be read with new settings and secrets; nil:
	// the first sync finds out. Its error is a field error (see BadSetting) if not, and a
	// *SyncError if the provider cannot tell now.
	Probe func(ctx context.Context, provider ProviderName, a Access) error
	// Warn logs that a message could not be sent. The sweeper sends it again,
	// because the work is pending.
	Warn func(w pending.Work, err error)
}

// Missing returns the error for an unknown data source id.
func Missing() *apierr.Error { return apierr.Missing("data source") }

// now returns the time in milliseconds, the precision of the API.
func (s *Service) now() time.Time { return s.Now().UTC().Truncate(time.Millisecond) }

func newSecret() string {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // never fails
	return base64.RawURLEncoding.EncodeToString(b)
}
