package source

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"docent/shared/access"
	"docent/shared/apierr"
	"docent/shared/document"
	"docent/shared/extract"
	"docent/shared/plaintext"
)

// MaxFile is the most bytes of a file that a connector hands over. It is read into memory.
const MaxFile = 10 << 20

// File is the file of an item. The item must have the time of its last change.
type File struct {
	MediaType string // one that package extract supports; empty: it is plain text or Markdown
	Bytes     int64  // its size; a file of more than MaxFile, or than what is read of its media type, is left out
	// Read downloads it. It is called only if the file is not stored yet or has changed. It returns a
	// *FileError if only this file cannot be read, and otherwise the errors of Connector.Read.
	Read func(ctx context.Context) ([]byte, error)
}

// checkSize returns a *FileError if a file of this size in bytes is not read.
func (f *File) checkSize(size int64) error {
	if most := min(MaxFile, extract.MaxSize(f.MediaType)); size > most {
		return &FileError{fmt.Sprintf("it has more than %d MB", most>>20)}
	}
	return nil
}

// FileError says why a file is not read. Why is half a sentence for the team's admins.
type FileError struct{ Why string }

func (e *FileError) Error() string { return e.Why }

// FileType returns the media type of the file with a name, which is empty for text, and whether such files are
// read. declared is what the provider says about it; it decides if the name does not.
func FileType(name, declared string) (mediaType string, read bool) {
	if mediaType, read = extract.MediaTypeOf(name); read {
		return mediaType, true
	}
	declared, _, _ = strings.Cut(declared, ";")
	switch extension := strings.ToLower(path.Ext(name)); {
	case slices.Contains(textFiles, extension):
		return "", true
	case extract.Supported(declared):
		return declared, true
	default:
		return "", declared == "text/plain" || declared == "text/markdown"
	}
}

// textFiles are the extensions of the names of plain text and Markdown.
var textFiles = []string{".txt", ".text", ".md", ".markdown"}

// storeFiles stores items with files, one after the other, because each file is in memory. It calls reject for an item
// that is left out, and returns the uris of those that failed again. After an item that fails for the first time it
// continues, if that failure is remembered.
func (r *syncRun) storeFiles(ctx context.Context, a Access, items []Item, reject func(i Item, why string)) (left []string, err error) {
	var first error
	for _, i := range items {
		var why *FileError
		again, err := r.storeFile(ctx, a, i)
		switch {
		case again:
			reject(i, "its file could not be downloaded; "+triedAgain)
			left = append(left, i.URI)
			if err := r.keepFile(ctx, i); err != nil {
				return nil, err
			}
		case errors.Is(err, document.ErrOtherSource):
			reject(i, otherSource)
		case errors.As(err, &why):
			reject(i, why.Why)
			// What is stored is the text of an earlier file.
			if _, err := r.Documents.Forget(ctx, r.teamID, r.id, i.URI); err != nil {
				return nil, err
			}
		case IsOfOne(err) && a.tries != nil: // else nothing limits the time of all that fail
			first = cmp.Or(first, err)
		case err != nil:
			return nil, err
		}
		if err := r.stillTime(ctx); err != nil {
			return nil, err
		}
	}
	return left, first
}

// keepFile stores an item whose file cannot be read: everything but the file is updated, such as who may read it. An
// earlier file stays, with its time, so that the next sync that lists the item downloads the file again.
func (r *syncRun) keepFile(ctx context.Context, i Item) error {
	e, ok, err := r.storedItem(ctx, i.URI)
	if err != nil || !ok {
		return err
	}
	i.UpdatedAt = e.Facts.Changed
	return r.keep(ctx, i)
}

// keep stores i with the content that is stored, if any. An item whose content is damaged goes.
func (r *syncRun) keep(ctx context.Context, i Item) error {
	rules, err := r.Resolve(ctx, r.teamID, i.Access)
	if err != nil {
		return fmt.Errorf("resolve who may read: %w", err)
	}
	in := i.input(r.id, "")
	in.KeepContent, in.Access = true, rules[0]
	if err := r.Documents.KeepOrForget(ctx, r.teamID, in); !errors.Is(err, document.ErrNoContent) {
		return err
	}
	return nil
}

// storeFile stores an item with its file. An unchanged file is not read again: only what else is known about the item
// changes. It returns a *FileError for a file that is left out, and otherwise what Access.Try returns for the download.
func (r *syncRun) storeFile(ctx context.Context, a Access, i Item) (leftOut bool, err error) {
	if err := i.File.checkSize(i.File.Bytes); err != nil {
		return false, err
	}
	rules, err := r.Resolve(ctx, r.teamID, i.Access)
	if err != nil {
		return false, fmt.Errorf("resolve who may read: %w", err)
	}
	unchanged, err := r.hasFile(ctx, i)
	if err != nil {
		return false, err
	}
	if unchanged {
		err := r.putFile(ctx, i, rules[0], nil)
		// It was removed in between, or the stored text is damaged.
		if !errors.Is(err, document.ErrNoContent) && !apierr.IsCode(err, apierr.CodeDocumentDamaged) {
			return false, err
		}
	}
	var file []byte
	if lost := r.hold(ctx, func() {
		leftOut, err = a.Try(ctx, i.URI, func(ctx context.Context) error {
			file, err = i.File.Read(ctx)
			return err
		})
	}); lost != nil || leftOut || err != nil {
		return leftOut, cmp.Or(lost, err)
	}
	return false, r.putFile(ctx, i, rules[0], file)
}

// hasFile reports whether the stored item of i has the file of i.
func (r *syncRun) hasFile(ctx context.Context, i Item) (bool, error) {
	e, ok, err := r.storedItem(ctx, i.URI)
	return ok && e.MediaType == i.File.MediaType && !i.UpdatedAt.IsZero() &&
		e.Facts.Changed.Equal(i.UpdatedAt.UTC().Truncate(time.Millisecond)), err
}

// storedItem returns the stored item of uri, without its body. ok is false if there is none.
func (r *syncRun) storedItem(ctx context.Context, uri string) (e document.Found, ok bool, err error) {
	id, err := document.ID(r.teamID, uri)
	if err != nil {
		return e, false, fmt.Errorf("team id: %w", err)
	}
	found, err := r.Documents.Find(ctx, r.teamID, []string{id}, false)
	e, ok = found[id]
	return e, ok && e.CollectionID == r.id && e.Facts != nil, err
}

// putFile stores i with its file; nil: with the one that is stored.
func (r *syncRun) putFile(ctx context.Context, i Item, rule *access.Rule, file []byte) error {
	in := i.input(r.id, "")
	in.Access = rule
	if err := i.File.checkSize(int64(len(file))); err != nil { // the provider may have said another size
		return err
	}
	switch {
	case file == nil:
		in.KeepContent = true
	case len(file) == 0:
		return &FileError{"it is empty"}
	case in.MediaType != "":
		in.File = file
	default:
		text, err := plaintext.Decode(file)
		if err != nil {
			return &FileError{err.Error()}
		}
		if in.Body = text; text == "" {
			return &FileError{"it is empty"}
		}
	}
	_, _, err := r.Documents.Put(ctx, r.teamID, in)
	var refused *apierr.Error
	if errors.As(err, &refused) && refused.Kind == apierr.Invalid {
		return &FileError{"it is not what its name says"}
	}
	return err
}
