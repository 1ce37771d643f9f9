package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"docent/shared/blob/dir"
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

	process
	folder        string // of the data
	store         *bolt.Store
	objects       *dir.Store
	questionQueue *local.Queue // questions to answer
	documentQueue *local.Queue // documents to index or clean up after
	syncQueue     *local.Queue // data sources to read
	rebuildQueue  *local.Queue // parts of the index to rebuild
	hookQueue     *local.Queue // notices for webhook endpoints
	extractQueue  *local.Queue // files to read
	embedQueue    *local.Queue // documents and parts of the index that wait for vectors; nil: search is by words alone
	opened        time.Time    // with a monotonic reading
	jumps         jumpWatch    // of the clock, for tidy
	resumed       int          // pieces of work that were pending when the data was opened
}

// localPoll is the longest pause between two reads of a long poll. An answer that is finished
// just before a pause starts is thus read soon.
const localPoll = 50 * time.Millisecond

// LocalOptions changes how OpenLocal opens.
type LocalOptions struct {
	Parts  Parts            // without a Vault, it is the key in the data directory
	Log    *slog.Logger     // nil: slog.Default()
	Now    func() time.Time // nil: time.Now
	NoSync bool             // acknowledge writes before they are on disk: for tests
}

// spareBytes is the room on the disk that is kept for removing data.
const spareBytes = 8 << 20

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
	if err := cmp.Or(refuseUnfinished(dataDir), refuseMoved(dataDir), refuseWithoutDatabase(dataDir)); err != nil {
		return nil, err
	}
	spare := int64(spareBytes)
	if o.NoSync {
		spare = 0
	}
	store, err := bolt.Open(filepath.Join(dataDir, databaseFile),
		bolt.Options{Remove: []string{queueTable}, Now: o.Now, Fresh: isFresh(dataDir), Spare: spare, NoSync: o.NoSync})
	if errors.Is(err, bolt.ErrInUse) {
		return nil, fmt.Errorf("%w: %s", ErrInUse, dataDir)
	}
	if errors.Is(err, bolt.ErrDamaged) {
		err = fmt.Errorf("%w; if it had data, restore a backup into an empty folder", err)
	}
	if err != nil {
		return nil, fmt.Errorf("open the data: %w", err)
	}
	l := &Local{folder: dataDir, store: store, opened: time.Now(), jumps: jumpWatch{begun: o.Now()}}
	if err := l.join(ctx, dataDir, o); err != nil {
		return nil, errors.Join(err, store.Close())
	}
	return l, nil
}

// HasData reports whether something is or was to be stored in the directory dataDir: it has a database, or a restore
// or an export into it did not finish.
func HasData(dataDir string) bool {
	for _, name := range []string{databaseFile, unfinishedFolder} {
		if _, err := os.Lstat(filepath.Join(dataDir, name)); !errors.Is(err, fs.ErrNotExist) {
			return true // also if it cannot be looked at: opening it returns the reason
		}
	}
	return false
}

// isFresh reports whether nothing was stored in the directory dataDir yet: the objects, whose folder is made right after the database, are
// missing.
func isFresh(dataDir string) bool {
	_, err := os.Lstat(filepath.Join(dataDir, blobsFolder))
	return errors.Is(err, fs.ErrNotExist)
}

// errNoDatabase means that the database of a directory is missing, and there are objects.
var errNoDatabase = errors.New("the database is missing, and there are objects")

// refuseWithoutDatabase returns errNoDatabase for a directory that has lost its database. With a new one, all objects would be removed
// after a day, because nothing names them.
func refuseWithoutDatabase(dataDir string) error {
	file := filepath.Join(dataDir, databaseFile)
	if _, err := os.Stat(file); !errors.Is(err, fs.ErrNotExist) { // a link to a disk that is missing is not a file
		return nil
	}
	err := filepath.WalkDir(filepath.Join(dataDir, blobsFolder), func(_ string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() {
			err = errNoDatabase
		}
		return err
	})
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case errors.Is(err, errNoDatabase):
		return fmt.Errorf("%w: put %s back, restore a backup into an empty folder, or start without data in one", err, file)
	case err != nil:
		return fmt.Errorf("look for objects: %w", err)
	}
	return nil
}

func (l *Local) join(ctx context.Context, dataDir string, o LocalOptions) error {
	blobs, err := dir.Open(filepath.Join(dataDir, blobsFolder))
	if err != nil {
		return fmt.Errorf("open the segments: %w", err)
	}
	l.objects = blobs
	secrets, err := openKey(ctx, filepath.Join(dataDir, keyFile), l.store)
	if err != nil {
		return err
	}
	if o.Parts.Vault == nil {
		o.Parts.Vault = secrets
	}
	l.questionQueue, l.documentQueue = newQueue(o, "questions", byMessages), newQueue(o, "documents", byMessages)
	l.syncQueue, l.rebuildQueue = newQueue(o, "sources", byMessages), newQueue(o, "rebuilds", byMessages)
	l.hookQueue = newQueue(o, "deliveries", byMessages)
	l.extractQueue = newQueue(o, "files", byTime) // one file may take milliseconds, another minutes
	objects := spared{blobs, l.store.CheckRoom}
	e := engines{table: l.store, blobs: objects, questions: l.questionQueue, documents: l.documentQueue, syncs: l.syncQueue, rebuilds: l.rebuildQueue, deliveries: l.hookQueue,
		extractions: l.extractQueue, receive: objects.PutFrom, openObject: objects.Open, fallible: true}
	if o.Parts.Embedder != nil {
		l.embedQueue = newQueue(o, "embeddings", byMessages)
		e.embeddings = l.embedQueue
	}
	l.process.start(base{engines: e, log: o.Log, now: o.Now}, o.Parts, localPoll)
	l.services.teams.TakeInvitation = invitations(dataDir).take
	l.extracting.Alone, l.delivering.Alone = true, o.Now()
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

// spared refuses objects, as the table refuses Writes, while there is only the room that is kept for removing data. Segments that are
// stored for Writes which the table then refuses would fill it.
type spared struct {
	*dir.Store
	room func(ctx context.Context) error
}

// Put implements blob.Store.
func (s spared) Put(ctx context.Context, name string, data []byte) error {
	if err := s.room(ctx); err != nil {
		return fmt.Errorf("put object %s: %w", name, err)
	}
	return s.Store.Put(ctx, name, data)
}

// PutFrom is that of dir.Store.
func (s spared) PutFrom(ctx context.Context, name string, from io.Reader) error {
	if err := s.room(ctx); err != nil {
		return fmt.Errorf("put object %s: %w", name, err)
	}
	return s.Store.PutFrom(ctx, name, from)
}

// visibility is how long a delivered message is hidden. Work that takes longer hides it
// again.
const visibility = 5 * time.Minute

// queueTable is the table in which earlier versions kept their queues. Each message in
// it is a copy of pending work.
const queueTable = "queue"

// What teams take turns by in a queue: each receive is one, or local.Options.Timed.
const byMessages, byTime = false, true

// newQueue returns an empty queue.
func newQueue(o LocalOptions, name string, timed bool) *local.Queue {
	return local.New(local.Options{Visibility: visibility, Now: o.Now, Once: true, Timed: timed, Dead: func(m queue.Message) {
		o.Log.Warn("message given up", "queue", name, "id", m.ID, "receives", m.Receives)
	}})
}

// Close releases the data.
func (l *Local) Close() error { return l.store.Close() }
