// Package put sends folders of Markdown, text, reStructuredText, HTML, PDF and Office files to a collection: many files
// in parallel, only what has changed. A run that was stopped at any point continues when it is started again.
package put

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"docent/client"
	"docent/cmd/docent/internal/page"
	"docent/cmd/docent/internal/walk"
	"docent/shared/filter"
)

// giveUpAfter is how many files in a row may reach no working server, each after all its tries, before the run
// stops.
const giveUpAfter = 3

// Config describes one run.
type Config struct {
	Client *client.Client
	// Exactly one of CollectionID and CollectionName is set. If no collection has the name, it is created with
	// Description.
	CollectionID, CollectionName, Description string

	// Metadata is of every document. A member of the same name in a file's front matter takes precedence.
	Metadata filter.Metadata
	// Access is who may read every document; nil: a document keeps the access that it has, and a new one has none of its
	// own. That in a file's front matter replaces it.
	Access *client.Access
	// CollectionAccess takes the access from documents that have none by Access or front matter: their collection decides.
	CollectionAccess bool

	Paths   []string // files and folders, at least one
	BaseURI string   // see walk.Find

	Parallel int  // files sent at a time, at least 1
	DryRun   bool // change nothing, on the server or in the state
	Delete   bool // remove documents whose files are gone
	Force    bool // send unchanged files too
	NoWait   bool // do not wait until the server has read the text of PDF and Office files

	StateDir string                        // where the state is stored; empty: nowhere
	Progress func(done, failed, total int) // called after each file, never concurrently
	Warn     func(string)                  // receives problems that do not fail the run
	Reason   func(error) string            // the reason of a failed file, for a person; nil: the text of the error
	Now      func() time.Time
}

// Run puts the files. The summary is complete even if an error ends the run early. Failures of single files are in
// the summary and are not an error.
func Run(ctx context.Context, c Config) (Summary, error) {
	start := c.Now()
	r := run{Config: c, uploads: make(chan struct{}, parallelUploads), unknown: map[string]bool{}, leftOut: leftOut{}}
	r.sum.DryRun = c.DryRun
	err := r.all(ctx)
	r.sum.finish(c.Now().Sub(start))
	if ctx.Err() != nil {
		err = ErrStopped
	}
	return r.sum, err
}

// ErrStopped means that the run was interrupted.
var ErrStopped = errors.New("stopped; run the same command again to continue; files already sent are skipped")

type run struct {
	Config
	collection string // its id; empty only when a dry run would create it
	state      *state
	uploads    chan struct{} // has one for each large file that is being sent

	mu        sync.Mutex // guards what is below
	sum       Summary
	done      int
	unreached int             // files in a row that reached no server
	unknown   map[string]bool // names of access that a warning was about
	leftOut   leftOut
	unread    []reading // files whose text the server reads
	waiting   int       // of them, those that are no longer waited for
	finished  time.Time // when the last of them was read
}

func (r *run) all(ctx context.Context) error {
	tree, err := walk.Find(ctx, r.Paths, r.BaseURI)
	if err != nil {
		return err
	}
	if r.Delete {
		if err := tree.CheckDelete(); err != nil {
			return err
		}
	} else if len(tree.Files)+len(tree.Failures) == 0 {
		return nothing(r.Paths, tree.Skipped)
	}
	if err := r.find(ctx); err != nil {
		return err
	}
	r.sum.Skipped, r.sum.SkippedTypes = tree.Skipped, tree.Types
	for _, f := range tree.Failures {
		r.sum.fail(f.Path, f.Err)
	}
	listed := map[string]client.Listed{}
	if r.collection != "" {
		if listed, err = r.Client.Documents(ctx, r.collection); err != nil {
			return err
		}
	}
	if err := r.open(listed); err != nil {
		return err
	}
	err = r.files(ctx, tree.Files)
	r.warnLeftOut()
	if err == nil && r.Delete {
		err = r.deletions(ctx, tree, listed)
	}
	if err == nil {
		err = r.readings(ctx)
	}
	r.close(ctx, err == nil)
	return err
}

// nothing returns the error for paths that hold no file to put, but others that were skipped.
func nothing(paths []string, skipped int) error {
	text := "no file that Docent reads was found below " + strings.Join(paths, ", ")
	switch skipped {
	case 0:
		return errors.New(text)
	case 1:
		return fmt.Errorf("%s: 1 file has another type (see docent put --help)", text)
	}
	return fmt.Errorf("%s: %d files have other types (see docent put --help)", text, skipped)
}

// find finds or creates the collection.
func (r *run) find(ctx context.Context) error {
	if r.CollectionID != "" {
		found, err := r.Client.Collection(ctx, r.CollectionID)
		if client.IsStatus(err, http.StatusNotFound) {
			return fmt.Errorf("there is no collection %s", r.CollectionID)
		}
		r.collection = found.ID
		r.sum.CollectionID = found.ID
		return err
	}
	found, err := r.Client.CollectionsNamed(ctx, r.CollectionName)
	if err != nil {
		return err
	}
	if len(found) > 1 {
		return fmt.Errorf("%d collections have the name %q; choose one by --collection, such as %s",
			len(found), r.CollectionName, found[0].ID)
	}
	if len(found) == 0 {
		if r.DryRun {
			return nil
		}
		made, err := r.Client.CreateCollectionOnce(ctx, r.CollectionName, r.Description)
		if err != nil {
			return err
		}
		found = append(found, made)
	}
	r.collection = found[0].ID
	r.sum.CollectionID = r.collection
	return nil
}

// open reads the state and compares it with the server's list. If the state cannot be stored, that is a warning and
// does not stop the run.
func (r *run) open(listed map[string]client.Listed) error {
	var err error
	if r.state, err = openState(r.StateDir, r.Client.Base(), r.collection); err != nil {
		r.warnOfState(err)
	}
	r.state.reconcile(listed, false)
	if r.DryRun {
		return nil
	}
	if err := r.state.save(); err != nil {
		r.warnOfState(err)
	}
	return nil
}

func (r *run) warnOfState(err error) {
	r.Warn("what was sent cannot be remembered, so unchanged files may be sent again: " + err.Error())
}

// close asks the server how it lists what was put, if the run was completed, and saves the state. The next run asks
// for what is missing.
func (r *run) close(ctx context.Context, whole bool) {
	if r.DryRun {
		return
	}
	if whole && r.sum.Put > 0 {
		if listed, err := r.Client.Documents(ctx, r.collection); err == nil {
			r.state.reconcile(listed, true)
		}
	}
	if err := errors.Join(r.state.save(), r.state.close()); err != nil {
		r.warnOfState(err)
	}
}

// files puts every file, Parallel at a time. It returns an error if continuing makes no sense.
func (r *run) files(ctx context.Context, files []walk.File) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(r.Parallel)
	for _, f := range files {
		if ctx.Err() != nil {
			break
		}
		g.Go(func() error {
			what, err := r.file(ctx, f)
			if ctx.Err() != nil && errors.Is(err, context.Canceled) {
				return nil // interrupted, neither done nor failed
			}
			return r.count(f, what, err, len(files))
		})
	}
	return g.Wait()
}

// outcome is the result of a file that did not fail.
type outcome int

const (
	wasPut outcome = iota
	wasUnchanged
)

// file puts one file, unless the state says that it has not changed.
func (r *run) file(ctx context.Context, f walk.File) (outcome, error) {
	large, err := openLarge(f.Path)
	if err != nil {
		return 0, err
	}
	defer large.close()
	p, content, err := readPage(f.Path, large)
	if err != nil {
		return 0, err
	}
	if n := len(p.Title) + len(p.Body) + len(f.URI) + len(r.collection); n > client.MaxDocument {
		return 0, page.TooLarge(int64(n))
	}
	metadata, err := r.metadata(f, p)
	if err != nil {
		return 0, err
	}
	access := cmp.Or(p.Access, r.Access)
	hash := hashOf(p.Title, p.MediaType+content, metadata, access)
	if access == nil && r.CollectionAccess {
		hash += "-collection" // its access may have been set since it was put
	}
	if e, ok := r.state.has(f.URI, hash); ok && !r.Force {
		if e.Unread {
			r.awaits(reading{f, e.ID, wasUnchanged})
		}
		return wasUnchanged, nil
	}
	if r.DryRun {
		return wasPut, nil
	}
	done, err := r.send(ctx, large, client.Document{
		CollectionID: r.collection, Title: p.Title, Body: p.Body, MediaType: p.MediaType, URI: f.URI, Metadata: metadata,
		Access: access, KeepAccess: access == nil && !r.CollectionAccess,
	})
	if err != nil {
		return 0, err
	}
	r.warnUnknown(done.Unknown)
	e := entry{URI: f.URI, Hash: hash, ID: done.ID, PutAt: done.At, Unread: p.MediaType != ""}
	r.state.record(e)
	if e.Unread {
		r.awaits(reading{f, e.ID, wasPut})
	}
	return wasPut, nil
}

// readPage reads the file at path, and returns its page and the content that decides whether it has changed. For a large file the page
// has no body, and the content is a hash.
func readPage(path string, large *largeFile) (page.Page, string, error) {
	if large != nil {
		content, err := large.hash()
		return page.Uploaded(path), content, err
	}
	data, err := read(path)
	if err != nil {
		return page.Page{}, "", err
	}
	p, err := page.Read(path, data)
	return p, p.Body, err
}

// send puts a document. It uploads a large file first, of which at most parallelUploads are in progress.
func (r *run) send(ctx context.Context, large *largeFile, d client.Document) (client.Put, error) {
	if large != nil {
		r.uploads <- struct{}{}
		defer func() { <-r.uploads }()
		var err error
		if d.Upload, err = r.Client.Upload(ctx, d.MediaType, large.file, large.size); err != nil {
			return client.Put{}, err
		}
	}
	return r.Client.PutDocument(ctx, d)
}

// warnUnknown warns once about each name that no user or group of the team has.
func (r *run) warnUnknown(names []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, name := range names {
		if !r.unknown[name] {
			r.unknown[name] = true
			r.Warn(fmt.Sprintf("warning: %s is not a user or group of the team yet, so the name gives nobody access", name))
		}
	}
}

// metadata returns the metadata of a file. It notes front matter that metadata cannot hold.
func (r *run) metadata(f walk.File, p page.Page) (filter.Metadata, error) {
	if len(p.LeftOut) > 0 {
		r.mu.Lock()
		r.leftOut.add(f.Path, p.LeftOut)
		r.mu.Unlock()
	}
	all := filter.Metadata{}
	maps.Copy(all, r.Metadata)
	maps.Copy(all, p.Metadata)
	if err := all.Check(""); err != nil {
		return nil, errors.New("its metadata and that of --metadata exceed 20 members or 8 KB together")
	}
	return all, nil
}

// count records the result of f. Its error, if any, ends the run.
func (r *run) count(f walk.File, what outcome, err error, total int) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.done++
	var refused *client.Error
	switch {
	case err == nil && what == wasUnchanged:
		r.sum.Unchanged++
	case err == nil:
		r.unreached = 0
		r.sum.Put++
		if r.DryRun {
			r.sum.plan("put", f.URI)
		}
	default:
		r.sum.fail(f.Path, err)
		if r.Reason != nil {
			r.sum.Failures[len(r.sum.Failures)-1].Reason = r.Reason(err)
		}
		if errors.As(err, &refused) && !client.Unreached(err) {
			r.unreached = 0
		}
	}
	r.Progress(r.done, r.sum.Failed, total)
	if err != nil {
		return r.fatal(err)
	}
	return nil
}

// fatal returns err if every other document would fail the same way, else nil.
func (r *run) fatal(err error) error {
	switch {
	case client.FailsEveryCall(err):
		return err
	case client.IsStatus(err, http.StatusNotFound):
		return fmt.Errorf("the collection %s is gone: %w", r.collection, err)
	case client.Unreached(err):
		if r.unreached++; r.unreached >= giveUpAfter {
			return fmt.Errorf("%d files in a row could not be put, the last: %w", r.unreached, err)
		}
	}
	return nil
}
