package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"docent/shared/blob/dir"
	"docent/shared/moving"
	"docent/shared/signon"
	"docent/shared/source"
	"docent/shared/table"
	"docent/shared/table/bolt"
	"docent/shared/table/dynamo"
	"docent/shared/webhook"
)

// secretsOf finds all encrypted parts of items.
var secretsOf = []moving.SecretOf{source.SecretOf, webhook.SecretOf, signon.SecretOf}

// MoveOptions say how data is moved between a folder and an installation on AWS.
type MoveOptions struct {
	Config Config                // of the installation
	Vault  Vault                 // of the installation
	Name   string                // of the installation, always the same for the same one
	Finish bool                  // copy the rest, compare, and bring the copy to life; nothing writes to the original any more
	Tell   func(moving.Progress) // may be nil
	Now    func() time.Time      // nil: time.Now
}

func (o MoveOptions) now() time.Time {
	if o.Now == nil {
		return time.Now().UTC()
	}
	return o.Now().UTC()
}

var (
	// ErrMoved means that the data of a folder is in use elsewhere.
	ErrMoved = errors.New("this data has moved")
	// ErrInhabited means that an installation to import into has teams of its own.
	ErrInhabited = errors.New("has teams already; import into a new one")
	// ErrUninhabited means that an installation to export has no teams: what is there is no whole installation.
	ErrUninhabited = errors.New("has no teams yet; if docent import copies to it, run that with --finish first")
)

// moveFile in a data directory says where its data moves to, or comes from.
const moveFile = "moving.json"

// moveState is the content of moveFile.
type moveState struct {
	With  string    `json:"with"`  // the name of the other home
	State string    `json:"state"` // one of the states below
	At    time.Time `json:"at"`
}

const (
	stateCopying   = "copying"   // the copy is lifeless
	stateFinishing = "finishing" // it is compared, and still lifeless
	stateEntering  = string(moving.Entering)
	stateEntered   = string(moving.Entered)
	stateFinished  = "finished" // the copy replaces the original
)

// reached returns the milestone of an import that was interrupted while it finished.
func (s moveState) reached() moving.Milestone {
	switch s.State {
	case stateEntering, stateEntered:
		return moving.Milestone(s.State)
	}
	return ""
}

func readMove(folder string) (s moveState, err error) {
	text, err := os.ReadFile(filepath.Join(folder, moveFile))
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	if err != nil {
		return s, fmt.Errorf("read how far the move is: %w", err)
	}
	return s, nil
}

// writeMove stores the state, durably.
func writeMove(folder string, s moveState) error {
	text, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("encode how far the move is: %w", err)
	}
	if err := replaceFile(filepath.Join(folder, moveFile), text); err != nil {
		return fmt.Errorf("save how far the move is: %w", err)
	}
	return nil
}

// refuseMoved returns ErrMoved for a directory whose data is in use elsewhere.
func refuseMoved(dataDir string) error {
	s, err := readMove(dataDir)
	switch {
	case err != nil:
	case s.reached() != "":
		err = fmt.Errorf("%w to %s, but not all of it: the import was interrupted at %s while the copy came to life. Run docent import --finish again. "+
			"To use %s nevertheless, remove %s from it", ErrMoved, s.With, s.At.Format(time.RFC3339), dataDir, moveFile)
	case s.State == stateFinished:
		err = fmt.Errorf("%w to %s at %s; what happens there is not in %s. To use it nevertheless, remove %s from it",
			ErrMoved, s.With, s.At.Format(time.RFC3339), dataDir, moveFile)
	}
	return err
}

// Export copies an installation on AWS into a data directory. The directory must be empty or
// have an unfinished export of the same installation, which continues. It can be used after an
// export that finishes.
func Export(ctx context.Context, dataDir string, o MoveOptions) (moving.Report, error) {
	unfinished := filepath.Join(dataDir, unfinishedFolder)
	state, err := readMove(unfinished)
	switch {
	case err != nil:
		return moving.Report{}, err
	case state.With == "":
		if err := makeEmpty(dataDir); err != nil {
			return moving.Report{}, err
		}
		if err := os.Mkdir(unfinished, 0o700); err != nil {
			return moving.Report{}, fmt.Errorf("export: %w", err)
		}
		if err := writeMove(unfinished, moveState{o.Name, stateCopying, o.now()}); err != nil {
			return moving.Report{}, err
		}
	case state.With != o.Name:
		return moving.Report{}, fmt.Errorf("%s has an unfinished export of %s; use another folder", dataDir, state.With)
	case state.State == stateFinished:
		return moving.Report{}, publish(dataDir) // which was interrupted
	}
	if o.Finish {
		if err := o.checkInhabited(ctx); err != nil {
			return moving.Report{}, err
		}
	}
	report, err := o.intoFolder(ctx, unfinished)
	if err != nil || !o.Finish {
		return report, err
	}
	if err := writeMove(unfinished, moveState{o.Name, stateFinished, o.now()}); err != nil {
		return report, err
	}
	return report, publish(dataDir)
}

func (o MoveOptions) intoFolder(ctx context.Context, folder string) (report moving.Report, err error) {
	begun := o.now()
	to, closeFolder, err := openFolder(ctx, filepath.Join(folder, databaseFile), folder, begun)
	if err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, closeFolder()) }()
	return o.move(ctx, moving.Move{From: o.onAWS(begun), To: to, Now: begun})
}

func (o MoveOptions) move(ctx context.Context, m moving.Move) (moving.Report, error) {
	m.Secrets, m.Tell = secretsOf, o.Tell
	if o.Finish {
		return m.Finish(ctx)
	}
	return m.Copy(ctx)
}

// Import copies a data directory into a new installation on AWS. A server may run on the data
// until the import that finishes; after that one, the directory is not opened any more.
func Import(ctx context.Context, dataDir string, o MoveOptions) (report moving.Report, err error) {
	state, err := readMove(dataDir)
	if err := errors.Join(err, refuseUnfinished(dataDir)); err != nil {
		return report, err
	}
	if goesOn := o.Finish && state.With == o.Name && state.reached() != ""; !goesOn {
		if err := refuseMoved(dataDir); err != nil {
			return report, err
		}
	}
	begun := o.now()
	to := o.onAWS(begun)
	if err := o.checkUninhabited(ctx, to.Rows, state); err != nil {
		return report, err
	}
	database, remove, err := databaseOf(ctx, dataDir, o.Finish)
	if err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, remove()) }()
	from, closeFolder, err := openFolder(ctx, database, dataDir, begun)
	if err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, closeFolder()) }()
	m := moving.Move{From: from, To: to, Now: begun, Reached: state.reached()}
	if !o.Finish {
		return o.move(ctx, m)
	}
	m.Note = func(at moving.Milestone) error { return writeMove(dataDir, moveState{o.Name, string(at), o.now()}) }
	if m.Reached == "" {
		if err := writeMove(dataDir, moveState{o.Name, stateFinishing, begun}); err != nil {
			return report, err
		}
	}
	if report, err = o.move(ctx, m); err != nil {
		return report, err
	}
	if err := writeMove(dataDir, moveState{o.Name, stateFinished, o.now()}); err != nil {
		return report, err
	}
	return report, o.resume(ctx)
}

// resume sends all pending work to the queues of the installation, which have none of the
// messages of the original.
func (o MoveOptions) resume(ctx context.Context) error {
	c := o.Config
	c.Now = o.now
	if _, err := joinOnAWS(c, Parts{}, slog.New(slog.DiscardHandler)).sweeper.Resume(ctx); err != nil {
		return fmt.Errorf("the copy is alive, but some of its pending work waits for up to an hour: %w", err)
	}
	return nil
}

// checkUninhabited returns ErrInhabited if the installation has a team. The first teams may be
// there if an earlier import was interrupted while the copy came to life.
func (o MoveOptions) checkUninhabited(ctx context.Context, rows table.Store, state moveState) error {
	if state.With == o.Name && state.reached() != "" {
		return nil
	}
	found, err := hasTeams(ctx, rows)
	if err == nil && found {
		err = fmt.Errorf("%s %w", o.Name, ErrInhabited)
	}
	return err
}

// checkInhabited returns ErrUninhabited if the installation has no team: it is new, or the copy of an import that is not finished.
func (o MoveOptions) checkInhabited(ctx context.Context) error {
	found, err := hasTeams(ctx, o.onAWS(o.now()).Rows)
	if err == nil && !found {
		err = fmt.Errorf("%s %w", o.Name, ErrUninhabited)
	}
	return err
}

func hasTeams(ctx context.Context, rows table.Store) (bool, error) {
	page, err := rows.Query(ctx, table.Query{Table: table.Identities, Partition: "teams", Limit: 1})
	if err != nil {
		return false, fmt.Errorf("look for teams: %w", err)
	}
	return len(page.Items) > 0, nil
}

// copyPrefix begins the names of folders with a copy of the database.
const copyPrefix = "copy-"

// databaseOf returns the file with the tables of a data directory: its own, or a copy if a
// server uses that, which remove removes. With stopped, no server may use it.
func databaseOf(ctx context.Context, dataDir string, stopped bool) (file string, remove func() error, err error) {
	file, remove = filepath.Join(dataDir, databaseFile), func() error { return nil }
	if stopped {
		return file, remove, nil
	}
	left, err := filepath.Glob(filepath.Join(dataDir, copyPrefix+"*"))
	for _, of := range left { // killed imports
		err = errors.Join(err, os.RemoveAll(of))
	}
	if err != nil {
		return "", nil, fmt.Errorf("remove earlier copies of the database: %w", err)
	}
	folder, err := os.MkdirTemp(dataDir, copyPrefix)
	if err != nil {
		return "", nil, fmt.Errorf("copy the database: %w", err)
	}
	err = askServer(ctx, dataDir, "/database", func(r io.Reader) error { return writeNew(filepath.Join(folder, databaseFile), r) })
	if err != nil {
		err = errors.Join(err, os.RemoveAll(folder))
		if errors.Is(err, errNotRunning) {
			return file, remove, nil
		}
		return "", nil, fmt.Errorf("copy the database: %w", err)
	}
	return filepath.Join(folder, databaseFile), func() error { return os.RemoveAll(folder) }, nil
}

// openFolder opens the database and the other files of folder as a home, as of now.
func openFolder(ctx context.Context, database, folder string, now time.Time) (h moving.Home, closeAll func() error, err error) {
	store, err := bolt.Open(database, bolt.Options{Remove: []string{queueTable}, Now: func() time.Time { return now }, Fresh: isFresh(folder)})
	if errors.Is(err, bolt.ErrInUse) {
		return h, nil, fmt.Errorf("%w: %s", ErrInUse, folder)
	}
	if err != nil {
		return h, nil, fmt.Errorf("open the data: %w", err)
	}
	objects, err := dir.Open(filepath.Join(folder, blobsFolder))
	if err != nil {
		return h, nil, errors.Join(fmt.Errorf("open the objects: %w", err), store.Close())
	}
	closeAll = func() error { return errors.Join(objects.Close(), store.Close()) }
	secrets, err := openKey(ctx, filepath.Join(folder, keyFile), store)
	if err != nil {
		return h, nil, errors.Join(err, closeAll())
	}
	return moving.Home{Rows: store, Blobs: objects, Seal: secrets.Seal, Open: secrets.Open}, closeAll, nil
}

// moveRetry is how long a batch waits for new tables, whose capacity grows as they are filled.
const moveRetry = 5 * time.Minute

// onAWS returns the home of the installation, as of now. It sends no request.
func (o MoveOptions) onAWS(now time.Time) moving.Home {
	e := openAWS(o.Config)
	rows := dynamo.New(dynamodb.NewFromConfig(AWSConfig(o.Config)), dynamo.Options{Names: o.Config.Tables, Prefix: o.Config.TablePrefix,
		Now: func() time.Time { return now }, RetryFor: moveRetry})
	vault := o.Vault
	if vault == nil {
		vault = noVault{}
	}
	return moving.Home{Rows: rows, Blobs: e.blobs, Seal: vault.Seal, Open: vault.Open}
}
