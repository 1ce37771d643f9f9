package document

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime/debug"
	"strings"
	"time"

	"docent/shared/extract"
	"docent/shared/pending"
	"docent/shared/queue"
	"docent/shared/search/text"
	"docent/shared/table"
)

// extractAttempts is how often reading a file is begun. A file that kills the process is not read forever.
const extractAttempts = 3

// ExtractTime bounds the time of reading one file.
const ExtractTime = 4 * time.Minute

// extractGrace is the time after ExtractTime in which a worker stores the text.
const extractGrace = time.Minute

// Extractor reads the text of files from their queue.
type Extractor struct {
	*Service
	// Read takes the text out of a file of size bytes. It returns an *extract.Error for a file that cannot be read,
	// and ends with ctx.
	Read func(ctx context.Context, mediaType string, file io.ReaderAt, size int64) (extract.Document, error)
	// Alone says that no other process reads files of this installation. A file that this process was reading when it
	// was killed is then read again at once.
	Alone  bool
	Outbox *pending.Outbox // sends notices to webhook endpoints
	Log    *slog.Logger
}

// Batch reads the files that a batch of messages names, and returns the ids of the messages that failed. It acts on
// the current records: a message that is delivered twice, late or out of order changes nothing.
func (x *Extractor) Batch(ctx context.Context, batch []queue.Message) (failed []string) {
	return pending.Worker{Kind: pending.ExtractDocument, Do: x.do, Log: x.Log,
		GiveUp: func(ctx context.Context, work pending.Work, _ error) error { return x.GiveUp(ctx, work) }}.Batch(ctx, batch)
}

// unreadable is why a file will not be read. It is for clients.
type unreadable struct{ code, detail string }

func (e *unreadable) Error() string { return e.detail }

// The codes of files that are not read.
const (
	codeUnreadable = "unreadable-file"
	codeNoText     = "no-text"
	codeTooSlow    = "too-slow"
)

// codeInternal is of what failed through no fault of the document.
const codeInternal = "internal"

// do reads the file of work, and stores its text.
func (x *Extractor) do(ctx context.Context, work pending.Work) error {
	r, current, err := x.waiting(ctx, work)
	if err != nil {
		return err
	}
	if !current { // there is nothing to read any more
		return x.Table.Write(ctx, table.Delete{Key: work.Key()})
	}
	begun := x.Now()
	attempt, err := pending.Begin(ctx, x.Table, work, begun, begun.Add(ExtractTime+extractGrace), !x.Alone)
	if err != nil || attempt == 0 {
		return err
	}
	if attempt > extractAttempts {
		return x.fail(ctx, work, &unreadable{codeUnreadable, "Reading the file was begun several times and never ended. Put a simpler file, or its text."})
	}
	err = x.extract(ctx, work, r)
	var refused *unreadable
	if errors.As(err, &refused) {
		return x.fail(ctx, work, refused)
	}
	if err != nil { // of a store, or this process ends: only what kills its worker counts
		return errors.Join(err, pending.Leave(context.WithoutCancel(ctx), x.Table, work))
	}
	return nil
}

// waiting returns the record whose file work is to read, and whether it still is to be read.
func (x *Extractor) waiting(ctx context.Context, work pending.Work) (record, bool, error) {
	item, err := x.Table.Get(ctx, recordKey(work.TeamID, work.ID))
	if errors.Is(err, table.ErrNotFound) {
		return record{}, false, nil
	}
	if err != nil {
		return record{}, false, fmt.Errorf("read document: %w", err)
	}
	r := recordFrom(item)
	return r, r.version == work.Version && r.extracting, nil
}

// extract reads the file of r and stores its text as the next version. It returns an *unreadable for a file that will
// never be read.
func (x *Extractor) extract(ctx context.Context, work pending.Work, r record) error {
	reading, cancel := context.WithTimeout(ctx, ExtractTime)
	defer cancel()
	file := &blobReader{ctx: reading, blobs: x.Blobs, name: r.Original.Blob, size: r.Original.Bytes}
	found, err := x.read(reading, r, file)
	var wrong *extract.Error
	switch {
	case err == nil:
	case ctx.Err() != nil:
		return fmt.Errorf("read the file: %w", ctx.Err())
	case reading.Err() != nil:
		return &unreadable{codeTooSlow, fmt.Sprintf("Reading the file took longer than %d minutes. Put it in parts, or put its text.", int(ExtractTime.Minutes()))}
	case file.err != nil:
		return fmt.Errorf("read the file: %w", file.err)
	case errors.As(err, &wrong):
		return &unreadable{codeUnreadable, sentence(r.MediaType, wrong)}
	default:
		return fmt.Errorf("read the file: %w", err)
	}
	body, pages := joinPages(found.Pages)
	if body == "" {
		return &unreadable{codeNoText, noText(found.Notes)}
	}
	return x.storeText(ctx, work, r, body, text.CutPages(body, pages), clipNotes(found.Notes))
}

// noText says why a file has no text. A note names what was left out, such as a hidden sheet.
func noText(notes []string) string {
	for _, n := range clipNotes(notes) {
		if strings.Contains(n, " left out") {
			return "The file has no text that is shown. " + n
		}
	}
	return "The file has no text. Pictures are not read; put a file with text in it."
}

// read calls Read. A reader that panics has met a file that it cannot read.
func (x *Extractor) read(ctx context.Context, r record, file io.ReaderAt) (found extract.Document, err error) {
	defer func() {
		if p := recover(); p != nil {
			x.Log.ErrorContext(ctx, "a reader of files panicked", "mediaType", r.MediaType, "document", r.ID, "panic", p, "stack", string(debug.Stack()))
			err = extract.Errorf("The file is damaged, or of a kind that is not supported.")
		}
	}()
	return x.Read(ctx, r.MediaType, file, r.Original.Bytes)
}

// sentence returns what a client reads of e, with the page that failed.
func sentence(mediaType string, e *extract.Error) string {
	if e.Page == 0 {
		return e.Reason
	}
	return fmt.Sprintf("%s %d: %s", extract.PageName(mediaType), e.Page, e.Reason)
}

// Bounds of the notes about a file.
const (
	maxNotes  = 20
	noteBytes = 300
)

func clipNotes(notes []string) []string {
	if more := len(notes) - maxNotes + 1; more > 1 {
		notes = append(notes[:maxNotes-1:maxNotes-1], fmt.Sprintf("%d more pages have such notes.", more))
	}
	for i, n := range notes {
		if len(n) > noteBytes {
			notes[i] = strings.ToValidUTF8(n[:noteBytes], "")
		}
	}
	return notes
}

// joinPages returns the body of a file, and where its pages begin in it.
func joinPages(all []extract.Page) (body string, pages []text.Page) {
	var b strings.Builder
	for _, p := range all {
		markdown := strings.ToValidUTF8(strings.TrimSpace(p.Markdown), "\uFFFD")
		if markdown == "" {
			continue
		}
		pages = append(pages, text.Page{Start: b.Len(), Number: p.Number})
		title := strings.Join(strings.Fields(strings.ToValidUTF8(p.Title, "")), " ")
		if first, _, _ := strings.Cut(markdown, "\n"); title != "" && !strings.Contains(first, title) {
			b.WriteString("## " + title + "\n\n")
		}
		b.WriteString(markdown + "\n\n")
	}
	return b.String(), pages
}

// storeText makes r with its text the current version, and leaves its indexing pending. Of two workers only the first
// does so, and none if the document has been put again or deleted.
func (x *Extractor) storeText(ctx context.Context, work pending.Work, r record, body string, chunks []text.Chunk, notes []string) error {
	next := newRecord(r.Entry, nextVersion(x.Now(), x.Random(), r.version), body, chunks)
	next.accepted, next.notes = r.version, notes
	intent, err := x.putChunks(ctx, work.TeamID, next, body, chunks)
	if err != nil {
		return err
	}
	index := indexing(work.TeamID, r.ID, next.version)
	index.RequestID = work.RequestID
	err = x.Table.Write(ctx,
		table.Check{Key: x.SourceKey(work.TeamID, r.CollectionID), If: table.Exists()},
		table.Put{Item: next.item(work.TeamID), If: table.VersionIs(r.version)},
		work.Complete(), intent.Complete(), index.Promise())
	if failed := table.AsConditionFailed(err); failed != nil && failed.Key != intent.Key() {
		return x.Table.Write(ctx, table.Delete{Key: work.Key()}) // removed or replaced, or another worker was first
	}
	if err != nil {
		return fmt.Errorf("store the text of a file: %w", err)
	}
	x.send(ctx, index)
	return nil
}

// GiveUp records that a file will not be read.
func (x *Extractor) GiveUp(ctx context.Context, work pending.Work) error {
	return x.fail(ctx, work, &unreadable{codeInternal, "The file is stored but could not be read. Put it again to retry."})
}

func (x *Extractor) fail(ctx context.Context, work pending.Work, why *unreadable) error {
	return x.failVersion(ctx, x.Outbox, work, why.code, why.detail)
}
