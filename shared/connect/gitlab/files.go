package gitlab

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	names "docent/shared/access"
	"docent/shared/connect/repository"
	"docent/shared/connect/rest"
	"docent/shared/source"
)

const (
	filesAPage  = 50  // changed files per page
	maxCompared = 500 // changed files that are read one by one; more are read from an archive
	maxTree     = 100_000
)

// readFiles reads the files of the default branch: all of them, or the changes since the
// last commit read.
func (s *session) readFiles(ctx context.Context, p checkpoint, whole bool, yield func(source.SyncPage) bool) error {
	resumed := p.Target != ""
	if !resumed {
		if p.Branch != "" && p.Branch != s.about.Branch {
			return source.ErrFullScanNeeded // every file has another URI
		}
		p.Branch = s.about.Branch
		head, err := s.head(ctx)
		if err != nil {
			return err
		}
		if head == p.Commit {
			yield(source.SyncPage{Checkpoint: source.EncodeCheckpoint(p), Last: true, Exact: head == "" && whole})
			return nil
		}
		if !whole && (head == "" || p.Commit == "") {
			return source.ErrFullScanNeeded // no file is left, or these are the first
		}
		p.Target, p.Skip, p.Whole = head, 0, whole
	}
	readers, err := s.readers(ctx, false, nil)
	if err != nil {
		return err
	}
	if p.Whole {
		if err = s.readWhole(ctx, p, readers, yield); resumed && isGone(err) {
			return source.ErrFullScanNeeded // the commit is gone since the interruption, for ever
		}
		return err
	}
	return s.readChanges(ctx, p, readers, yield)
}

// head returns the last commit of the default branch, or "" of an empty repository. A full scan of that removes all files, so other reasons
// for which GitLab has no commit are errors.
func (s *session) head(ctx context.Context) (string, error) {
	if s.about.Branch == "" {
		if s.about.hasCommits() {
			return "", &source.SyncError{Code: source.Unauthorized, Detail: "GitLab does not say what the default branch of " + s.project + " is. The access token needs the role Reporter there."}
		}
		return "", nil
	}
	commit, _, err := rest.Get[struct {
		ID string `json:"id"`
	}](ctx, s.api, "/repository/commits/"+url.PathEscape(s.about.Branch)+"?stats=false")
	var failed *source.SyncError
	if errors.As(err, &failed) && failed.Code == source.NotThere {
		return "", s.checkEmpty(ctx)
	}
	if err == nil && (len(commit.ID) < 40 || strings.Trim(commit.ID, "0123456789abcdef") != "") {
		err = &source.SyncError{Code: source.Unreadable, Detail: "GitLab returned no commit."}
	}
	return commit.ID, err
}

// hasCommits reports whether GitLab says that the repository is not empty.
func (b *about) hasCommits() bool { return b.Empty != nil && !*b.Empty }

// checkEmpty asks for the project, because the default branch may have been replaced since that was done, and returns an error unless it may
// be that there is no commit yet.
func (s *session) checkEmpty(ctx context.Context) error {
	now, _, err := rest.Get[about](ctx, s.api, "")
	if err == nil && (now.hasCommits() || now.Branch != s.about.Branch) {
		s.forget()
		err = &source.SyncError{Code: source.Unreadable, Detail: "GitLab does not return the last commit of " + s.project + "."}
	}
	return err
}

// blob returns the URI of a file.
func (s *session) blob(p checkpoint, name string) string {
	return s.html + "blob/" + (&url.URL{Path: p.Branch + "/" + name}).EscapedPath()
}

// read returns the checkpoint after p.Target was read.
func (p checkpoint) read() checkpoint {
	return checkpoint{Readers: p.Readers, Branch: p.Branch, Commit: p.Target}
}

// readWhole reads all files of the commit p.Target, one by one if its archive is too slow.
func (s *session) readWhole(ctx context.Context, p checkpoint, readers *names.Names, yield func(source.SyncPage) bool) error {
	if !p.Single {
		if err := s.readArchive(ctx, p, readers, yield); !errors.Is(err, repository.ErrSlow) {
			return err
		}
	}
	p.Single = true
	found, err := s.listFiles(ctx, p.Target)
	if err != nil {
		return err
	}
	read := func(name string) (*source.Item, error) { return s.readRaw(ctx, p, readers, name) }
	return repository.Each(found, p.Next, s.Now, read, func(items []source.Item, next int, last bool) bool {
		p.Next = next
		return yield(p.wholePage(items, last))
	})
}

// wholePage returns a page of a full scan, after which p is the checkpoint unless it is the last one.
func (p checkpoint) wholePage(items []source.Item, last bool) source.SyncPage {
	if last {
		p = p.read()
	}
	return source.SyncPage{Items: items, Checkpoint: source.EncodeCheckpoint(p), Last: last, Exact: last}
}

// listFiles returns the sorted names of the files of a commit that may be wanted.
func (s *session) listFiles(ctx context.Context, commit string) ([]string, error) {
	exported, err := s.exported(ctx, commit)
	if err != nil {
		return nil, err
	}
	var found []string
	for page, read := 1, 0; page > 0; {
		text, err := s.api.Text(ctx, fmt.Sprintf("/repository/tree?ref=%s&recursive=true&per_page=%d&page=%d", commit, perPage, page), rest.MaxReply)
		if err != nil {
			return nil, err
		}
		var some []struct {
			Path string `json:"path"`
			Type string `json:"type"`
			Mode string `json:"mode"`
		}
		if err := json.Unmarshal(text, &some); err != nil || some == nil { // what a whole list lacks is removed
			return nil, &source.SyncError{Code: source.Unreadable, Detail: "GitLab sent no list of files.", Cause: err}
		}
		if read += len(some); read > maxTree {
			return nil, &source.SyncError{Code: source.TooLarge, Detail: "The archive of the repository takes too long, and it has more files than are read one by one."}
		}
		for _, f := range some {
			if f.Type == "blob" && f.Mode != isLink && exported.Has(f.Path) && repository.Wanted(f.Path, 0) {
				found = append(found, f.Path)
			}
		}
		page = nextPage(nil, page, len(some)) // all but the last are full
	}
	slices.Sort(found)
	return found, nil
}

// exported returns which files of a commit its archive has: neither a comparison nor a list tells.
func (s *session) exported(ctx context.Context, commit string) (repository.Exported, error) {
	text, err := s.api.Text(ctx, "/repository/files/"+url.PathEscape(repository.Attributes)+"/raw?ref="+commit, repository.MaxFile)
	if isGone(err) {
		return repository.Exported{}, nil
	}
	return repository.ExportedBy(text), err
}

// readArchive reads all files of the commit p.Target from its archive.
func (s *session) readArchive(ctx context.Context, p checkpoint, readers *names.Names, yield func(source.SyncPage) bool) error {
	body, err := s.api.Stream(ctx, "/repository/archive.tar.gz?include_lfs_blobs=false&sha="+p.Target) // which may have gigabytes
	if err != nil {
		return err
	}
	defer body.Close()
	file := func(name string, text []byte) *source.Item { return s.file(p, readers, name, text) }
	return repository.Archive(body, p.Skip, s.Now, file, func(items []source.Item, skip int, last bool) bool {
		p.Skip = skip
		return yield(p.wholePage(items, last))
	})
}

// file returns a file as an item, or nil if it contains no text.
func (s *session) file(p checkpoint, readers *names.Names, name string, text []byte) *source.Item {
	i := repository.Item(s.project, s.blob(p, name), name, text)
	if i != nil {
		i.Access = readers
	}
	return i
}

// fileChange is a file that differs between two commits.
type fileChange struct {
	Old     string `json:"old_path"`
	New     string `json:"new_path"`
	Renamed bool   `json:"renamed_file"`
	Deleted bool   `json:"deleted_file"`
	Mode    string `json:"b_mode"`
}

// isLink is the mode of a symbolic link, whose text is the name of another file.
const isLink = "120000"

// compare returns the files that differ between the commits of p. It returns
// source.ErrFullScanNeeded if GitLab cannot list them all.
func (s *session) compare(ctx context.Context, p checkpoint) ([]fileChange, error) {
	all, _, err := rest.Get[struct {
		Diffs      []fileChange `json:"diffs"`
		Incomplete bool         `json:"compare_timeout"`
	}](ctx, s.api, "/repository/compare?straight=true&from="+p.Commit+"&to="+p.Target)
	var failed *source.SyncError
	if errors.As(err, &failed) && (failed.Code == source.NotThere || failed.Code == source.TooLarge) || err == nil && (all.Incomplete || len(all.Diffs) > maxCompared) {
		return nil, source.ErrFullScanNeeded
	}
	return all.Diffs, err
}

// readChanges reads the files that changed between the commits of p and that an archive has.
func (s *session) readChanges(ctx context.Context, p checkpoint, readers *names.Names, yield func(source.SyncPage) bool) error {
	changes, err := s.compare(ctx, p)
	if err != nil {
		return err
	}
	var exported repository.Exported
	if len(changes) > 0 {
		if exported, err = s.exported(ctx, p.Target); err != nil {
			return err
		}
	}
	exists := map[string]bool{}
	for _, f := range changes {
		if repository.IsAttributes(f.Old) || repository.IsAttributes(f.New) {
			return source.ErrFullScanNeeded // archives have other files from now on
		}
		exists[f.New] = exists[f.New] || !f.Deleted
	}
	for {
		n, begun := min(p.Skip, len(changes)), s.Now()
		end := min(n+filesAPage, len(changes))
		var page source.SyncPage
		for ; n < end && s.Now().Sub(begun) < source.LongPage; n++ {
			f := changes[n]
			if (f.Renamed || f.Deleted) && !exists[f.Old] {
				page.Removed = append(page.Removed, s.blob(p, f.Old))
			}
			if f.Deleted {
				continue
			}
			var i *source.Item
			if f.Mode != isLink && exported.Has(f.New) {
				if i, err = s.readFile(ctx, p, readers, f.New); err != nil {
					return err
				}
			}
			if i == nil { // it may have been text before
				page.Removed = append(page.Removed, s.blob(p, f.New))
				continue
			}
			page.Items = append(page.Items, *i)
		}
		done := n == len(changes)
		p.Skip = n
		page.Checkpoint, page.Last = source.EncodeCheckpoint(p), done
		if done {
			page.Checkpoint = source.EncodeCheckpoint(p.read())
		}
		if !yield(page) {
			return source.ErrStopped
		}
		if done {
			return nil
		}
	}
}

// readFile returns a file of the commit p.Target as an item, or nil if it is not wanted.
func (s *session) readFile(ctx context.Context, p checkpoint, readers *names.Names, name string) (*source.Item, error) {
	if !repository.Wanted(name, 0) {
		return nil, nil //nolint:nilnil // a file that is left out
	}
	i, err := s.readRaw(ctx, p, readers, name)
	if isGone(err) {
		return nil, nil //nolint:nilnil // a submodule, or a file that is no longer kept
	}
	return i, err
}

// readRaw returns a file of the commit p.Target as an item, or nil if it is too large or contains no text.
func (s *session) readRaw(ctx context.Context, p checkpoint, readers *names.Names, name string) (*source.Item, error) {
	text, err := s.api.Text(ctx, "/repository/files/"+url.PathEscape(name)+"/raw?ref="+p.Target, repository.MaxFile)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", strconv.Quote(name), err)
	}
	return s.file(p, readers, name, text), nil
}
