package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"docent/shared/answer"
	"docent/shared/blob/dir"
	"docent/shared/httpapi"
	"docent/shared/queue"
	"docent/shared/queue/local"
	"docent/shared/search"
	"docent/shared/table/bolt"
	"docent/shared/team"
)

// ErrInUse means that another process holds the data directory.
var ErrInUse = errors.New("the data is in use by another process")

// Local is Docent on one machine. Only this process can use its data until Close.
type Local struct {
	Teams *team.Service
	Index *search.Index

	*services
	store         *bolt.Store
	questionQueue *local.Queue                  // questions to answer
	documentQueue *local.Queue                  // documents to index or clean up after
	syncQueue     *local.Queue                  // data sources to read
	rebuildQueue  *local.Queue                  // parts of the index to rebuild
	embedQueue    *local.Queue                  // documents and parts of the index that wait for vectors; nil: search is by words alone
	resumed       int                           // pieces of work that were pending when the data was opened
	stopping      chan struct{}                 // closed to end long polls
	ended         atomic.Pointer[chan struct{}] // closed when a question is finished, and replaced
}

// pollEvery is the longest pause between two reads of a long poll. An answer that is finished
// just before a pause starts is thus read soon.
const pollEvery = 50 * time.Millisecond

// LocalOptions changes how OpenLocal opens.
type LocalOptions struct {
	Parts  Parts            // all but the Vault, which the data directory has
	Log    *slog.Logger     // nil: slog.Default()
	Now    func() time.Time // nil: time.Now
	NoSync bool             // acknowledge writes before they are on disk: for tests
}

// OpenLocal opens the data in the directory dataDir, which it creates if it is missing,
// and queues its pending work. It returns ErrInUse if another process has it open.
func OpenLocal(ctx context.Context, dataDir string, o LocalOptions) (*Local, error) {
	if o.Log == nil {
		o.Log = slog.Default()
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if err := os.MkdirAll(dataDir, 0o700); err != nil {
		return nil, fmt.Errorf("create the data directory: %w", err)
	}
	store, err := bolt.Open(filepath.Join(dataDir, "docent.db"),
		bolt.Options{Remove: []string{queueTable}, Now: o.Now, NoSync: o.NoSync})
	if errors.Is(err, bolt.ErrInUse) {
		return nil, fmt.Errorf("%w: %s", ErrInUse, dataDir)
	}
	if err != nil {
		return nil, fmt.Errorf("open the data: %w", err)
	}
	l := &Local{store: store, stopping: make(chan struct{})}
	if err := l.join(ctx, dataDir, o); err != nil {
		return nil, errors.Join(err, store.Close())
	}
	return l, nil
}

func (l *Local) join(ctx context.Context, dataDir string, o LocalOptions) error {
	blobs, err := dir.Open(filepath.Join(dataDir, "blobs"))
	if err != nil {
		return fmt.Errorf("open the segments: %w", err)
	}
	secrets, err := openSealer(filepath.Join(dataDir, "secrets.key"))
	if err != nil {
		return err
	}
	o.Parts.Vault = secrets
	first := make(chan struct{})
	l.ended.Store(&first)
	l.questionQueue, l.documentQueue = newQueue(o, "questions"), newQueue(o, "documents")
	l.syncQueue, l.rebuildQueue = newQueue(o, "sources"), newQueue(o, "rebuilds")
	e := engines{table: l.store, blobs: blobs, questions: l.questionQueue, documents: l.documentQueue, syncs: l.syncQueue, rebuilds: l.rebuildQueue}
	if o.Parts.Embedder != nil {
		l.embedQueue = newQueue(o, "embeddings")
		e.embeddings = l.embedQueue
	}
	l.services = newServices(base{engines: e, log: o.Log, now: o.Now, wait: l.wait, onFinished: l.wake}, o.Parts)
	l.services.teams.TakeInvitation = invitations(dataDir).take
	l.Teams, l.Index = l.services.teams, l.services.index
	l.resumed, err = l.sweeper.Resume(ctx)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil { // the sweeper sends it later
		l.log.ErrorContext(ctx, "pending work was not resumed", "err", err)
	}
	return nil
}

// visibility is how long a delivered message is hidden: longer than any work on
// one machine takes.
const visibility = 5 * time.Minute

// queueTable is the table in which earlier versions kept their queues. Each message in
// it is a copy of pending work.
const queueTable = "queue"

// newQueue returns an empty queue.
func newQueue(o LocalOptions, name string) *local.Queue {
	return local.New(local.Options{Visibility: visibility, Now: o.Now, Dead: func(m queue.Message) {
		o.Log.Warn("message given up", "queue", name, "id", m.ID, "receives", m.Receives)
	}})
}

var errStopping = errors.New("stopping")

// wake ends the pause of every long poll: the answer of one may be finished.
func (l *Local) wake(context.Context, answer.Answer) {
	next := make(chan struct{})
	close(*l.ended.Swap(&next))
}

// wait pauses a long poll until a question is finished or the process stops.
func (l *Local) wait(ctx context.Context) error {
	pause := time.NewTimer(pollEvery)
	defer pause.Stop()
	select {
	case <-pause.C:
		return nil
	case <-*l.ended.Load():
		return nil
	case <-l.stopping:
		return errStopping
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Handler serves the API under /v1, and GET /healthz.
// baseURL is the address of the API as clients reach it.
func (l *Local) Handler(baseURL string) http.Handler {
	api := httpapi.New(l.surface(strings.TrimSuffix(baseURL, "/"), 0, nil), httpapi.Areas()...)
	if l.parts.Pages == nil {
		return root(api)
	}
	return withHome(root(withPages(l.parts.Pages, api)))
}

// Close releases the data.
func (l *Local) Close() error { return l.store.Close() }
