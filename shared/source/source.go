// Package source keeps a team's connected data sources: their settings, imports,
// webhooks and syncs. Package question below it answers questions over them.
//
// A collection is one kind of data source; package collection makes and deletes
// it. The others are connected: their items come by import, by webhook or by a
// connector, and are documents with facts in package document, so storing,
// indexing and removing are the same for all.
package source

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"time"

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

// State is how far a data source is.
type State string

// The states.
const (
	Connecting State = "connecting" // nothing has come from it yet
	Ready      State = "ready"
	Failed     State = "failed" // LastError says why
)

// SyncFailure is why the content of a data source could not be brought up to date.
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
	State     State
	LastSync  *time.Time // when content came last; nil: never, and for a collection
	LastError *SyncFailure
	Sync      *Progress // nil: no connector reads it
	CreatedAt time.Time
	UpdatedAt time.Time
}

// Service holds the rules of data sources and of the operations over them.
type Service struct {
	Providers   []Provider // those that can be connected
	Table       table.Store
	Events      *audit.Log // nil: nothing is recorded
	Collections *collection.Service
	Documents   *document.Service
	Work        queue.Queue // of documents: takes the removal of a source's items
	Syncs       queue.Queue // takes the work of reading sources; nil: no connector runs in this installation
	Now         func() time.Time
	NewID       func() string // time-ordered UUIDs
	// Seal encrypts the secrets of a source, Open decrypts them. Both bind them to
	// the text about, so that the secrets of one source are of no use for another.
	Seal func(ctx context.Context, secrets []byte, about string) ([]byte, error)
	Open func(ctx context.Context, sealed []byte, about string) ([]byte, error)
	// Warn is told of a message that could not be sent; the work is pending and
	// will be sent again.
	Warn func(w pending.Work, err error)
}

// Missing is the answer to an unknown data source id.
func Missing() *apierr.Error { return apierr.Missing("data source") }

// now is the time at the precision in which times are shown.
func (s *Service) now() time.Time { return s.Now().UTC().Truncate(time.Millisecond) }

// newSecret is a secret that nobody can guess.
func newSecret() string {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // it never fails
	return base64.RawURLEncoding.EncodeToString(b)
}
