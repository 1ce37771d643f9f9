package github

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"docent/shared/connect/repository"
	"docent/shared/source"
)

// Bounds of files.
const (
	filesAPage  = 50  // changed files per page
	maxCompared = 300 // files that a comparison of commits lists
	keptFolders = 20  // folders that are remembered while changes are read
	maxInFolder = 10_000
)

const (
	shaType     = "application/vnd.github.sha"
	rawType     = "application/vnd.github.raw+json"
	archiveType = "application/gzip, */*;q=0.1"
)

// readFiles reads the files of the default branch: all of them, or the changes since
// the last commit read.
func (s *session) readFiles(ctx context.Context, p checkpoint, whole bool, yield func(source.SyncPage) bool) error {
	resumed := p.Target != ""
	if !resumed {
		head, tag, err := s.head(ctx, p)
		if err != nil {
			return err
		}
		if head == "" || head == p.Commit {
			p.ETag = tag
			yield(source.SyncPage{Checkpoint: source.EncodeCheckpoint(p), Last: true, Exact: head == "" && whole})
			return nil
		}
		branch, err := s.defaultBranch(ctx)
		if err != nil {
			return err
		}
		if !whole && branch != p.Branch {
			return source.ErrFullScanNeeded // every file has another URI
		}
		p.Branch = branch
		p.Target, p.ETag, p.Skip, p.Whole = head, tag, 0, whole
	}
	s.branch = p.Branch
	if p.Whole {
		err := s.readWhole(ctx, p, yield)
		var failed *source.SyncError
		if resumed && errors.As(err, &failed) && failed.Code == source.NotThere {
			return source.ErrFullScanNeeded // the commit is gone since the interruption, for ever
		}
		return err
	}
	changes, err := s.compare(ctx, p.Commit, p.Target)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(changes, func(f fileChange) bool { return repository.IsAttributes(f.Name) || repository.IsAttributes(f.Previous) }) {
		return source.ErrFullScanNeeded // archives have other files from now on
	}
	var exported repository.Exported
	if len(changes) > 0 {
		if exported, err = s.exported(ctx, p.Target); err != nil {
			return err
		}
	}
	return s.readChanges(ctx, p, changes, exported, yield)
}

// exported returns which files of a commit its archive has: neither a comparison nor a list tells.
func (s *session) exported(ctx context.Context, commit string) (repository.Exported, error) {
	var text limitedBuffer
	_, _, err := s.get(ctx, "repos/"+s.repository+"/contents/"+repository.Attributes+"?ref="+commit, rawType, "", func() any { text = limitedBuffer{}; return &text })
	var failed *source.SyncError
	if errors.As(err, &failed) && failed.Code == source.NotThere {
		return repository.Exported{}, nil
	}
	return repository.ExportedBy(text.Bytes()), err
}

// defaultBranch returns the default branch of the repository.
func (s *session) defaultBranch(ctx context.Context) (string, error) {
	var about struct {
		Branch string `json:"default_branch"`
	}
	_, _, err := s.get(ctx, "repos/"+s.repository, "", "", func() any { return &about })
	if err == nil && about.Branch == "" {
		err = emptyReply()
	}
	return about.Branch, err
}

// head returns the last commit of the default branch: that of p if nothing has changed, and
// none for an empty repository.
func (s *session) head(ctx context.Context, p checkpoint) (commit, tag string, err error) {
	var sha bytes.Buffer
	tag, unchanged, err := s.get(ctx, "repos/"+s.repository+"/commits/HEAD", shaType, p.ETag, func() any { sha.Reset(); return &sha })
	var answered *statusError
	switch {
	case errors.As(err, &answered) && answered.status == http.StatusConflict && strings.Contains(strings.ToLower(answered.message), "empty"):
		return "", "", nil // there is no commit yet
	case errors.As(err, &answered) && answered.status == http.StatusConflict: // a full scan of an empty repository removes all files
		return "", "", &source.SyncError{Code: source.Unreadable, Detail: "GitHub says that the repository is not available now.", Cause: err}
	case err != nil:
		return "", "", err
	case unchanged:
		return p.Commit, tag, nil
	}
	commit = strings.TrimSpace(sha.String())
	if !isSHA(commit) {
		return "", "", &source.SyncError{Code: source.Unreadable, Detail: "GitHub returned no commit."}
	}
	return commit, tag, nil
}

func isSHA(text string) bool {
	return (len(text) == 40 || len(text) == 64) && strings.Trim(text, "0123456789abcdef") == ""
}

// blob returns the URI of a file.
func (s *session) blob(name string) string {
	return s.html + "blob/" + (&url.URL{Path: s.branch + "/" + name}).EscapedPath()
}

// readWhole reads all files of the commit p.Target, one by one if its archive is too slow.
func (s *session) readWhole(ctx context.Context, p checkpoint, yield func(source.SyncPage) bool) error {
	if !p.Single {
		if err := s.readArchive(ctx, p, yield); !errors.Is(err, repository.ErrSlow) {
			return err
		}
	}
	p.Single = true
	names, shas, err := s.listFiles(ctx, p.Target)
	if err != nil {
		return err
	}
	read := func(name string) (*source.Item, error) { return s.readBlob(ctx, name, shas[name]) }
	return repository.Each(names, p.Next, s.Now, read, func(items []source.Item, next int, last bool) bool {
		p.Next = next
		return yield(p.wholePage(items, last))
	})
}

// wholePage returns a page of a full scan, after which p is the checkpoint unless it is the last one.
func (p checkpoint) wholePage(items []source.Item, last bool) source.SyncPage {
	if last {
		p = checkpoint{Branch: p.Branch, Commit: p.Target, ETag: p.ETag}
	}
	return source.SyncPage{Items: items, Checkpoint: source.EncodeCheckpoint(p), Last: last, Exact: last}
}

// listFiles returns the sorted names of the wanted files of a commit, and their SHAs by name.
func (s *session) listFiles(ctx context.Context, commit string) (names []string, shas map[string]string, err error) {
	var all struct {
		Entries   []entry `json:"tree"`
		Truncated bool    `json:"truncated"`
	}
	_, _, err = s.get(ctx, "repos/"+s.repository+"/git/trees/"+commit+"?recursive=1", "", "", func() any { all.Entries = nil; return &all })
	switch {
	case err != nil:
		return nil, nil, err
	case all.Truncated:
		return nil, nil, &source.SyncError{Code: source.TooLarge, Detail: "The archive of the repository takes too long, and GitHub does not list all of its files."}
	case all.Entries == nil:
		return nil, nil, emptyReply()
	}
	exported, err := s.exported(ctx, commit)
	if err != nil {
		return nil, nil, err
	}
	shas = map[string]string{}
	for _, e := range all.Entries {
		if e.Type == "blob" && exported.Has(e.Name) && e.Mode != linkMode && isSHA(e.SHA) && repository.Wanted(e.Name, e.Size) {
			names, shas[e.Name] = append(names, e.Name), e.SHA
		}
	}
	slices.Sort(names)
	return names, shas, nil
}

// readArchive reads all files of the commit p.Target from its archive.
func (s *session) readArchive(ctx context.Context, p checkpoint, yield func(source.SyncPage) bool) error {
	reply, err := s.send(ctx, "repos/"+s.repository+"/tarball/"+p.Target, archiveType, "") // no time limit as long as data arrives
	if err != nil {
		return s.failure(err)
	}
	defer reply.Body.Close()
	file := func(name string, text []byte) *source.Item {
		return repository.Item(s.repository, s.blob(name), name, text)
	}
	return repository.Archive(reply.Body, p.Skip, s.Now, file, func(items []source.Item, skip int, last bool) bool {
		p.Skip = skip
		return yield(p.wholePage(items, last))
	})
}

// fileChange is a file that differs between two commits.
type fileChange struct {
	Name     string `json:"filename"`
	Previous string `json:"previous_filename"`
	Status   string `json:"status"`
	SHA      string `json:"sha"`
}

// compare returns the files that differ between two commits. It returns
// source.ErrFullScanNeeded if to does not descend from from, or if the list is
// incomplete.
func (s *session) compare(ctx context.Context, from, to string) ([]fileChange, error) {
	var all struct {
		Status string       `json:"status"`
		Files  []fileChange `json:"files"`
	}
	at := "repos/" + s.repository + "/compare/" + from + "..." + to + "?per_page=1"
	_, _, err := s.get(ctx, at, "", "", func() any { all.Files = nil; return &all })
	var failed *source.SyncError
	if errors.As(err, &failed) && failed.Code == source.NotThere {
		return nil, source.ErrFullScanNeeded // a commit no longer exists
	}
	var answered *statusError
	if errors.As(err, &answered) && strings.Contains(answered.message, "diff is taking too long") {
		return nil, source.ErrFullScanNeeded // it always will: the commits differ too much
	}
	if err != nil {
		return nil, err
	}
	if all.Status != "ahead" || all.Files == nil || len(all.Files) >= maxCompared {
		return nil, source.ErrFullScanNeeded
	}
	return all.Files, nil
}

// readChanges reads the changed files that an archive has.
func (s *session) readChanges(ctx context.Context, p checkpoint, changes []fileChange, exported repository.Exported, yield func(source.SyncPage) bool) error {
	for {
		n, begun := min(p.Skip, len(changes)), s.Now()
		end := min(n+filesAPage, len(changes))
		var page source.SyncPage
		for ; n < end && s.Now().Sub(begun) < source.LongPage; n++ {
			f := changes[n]
			if f.Status == "removed" {
				page.Removed = append(page.Removed, s.blob(f.Name))
				continue
			}
			if f.Previous != "" && f.Status == "renamed" {
				page.Removed = append(page.Removed, s.blob(f.Previous))
			}
			var i *source.Item
			if exported.Has(f.Name) {
				var err error
				if i, err = s.readFile(ctx, p.Target, f); err != nil {
					return err
				}
			}
			if i == nil { // it may have been text before
				page.Removed = append(page.Removed, s.blob(f.Name))
				continue
			}
			page.Items = append(page.Items, *i)
		}
		done := n == len(changes)
		p.Skip = n
		if done {
			p = checkpoint{Branch: p.Branch, Commit: p.Target, ETag: p.ETag}
		}
		page.Checkpoint, page.Last = source.EncodeCheckpoint(p), done
		if !yield(page) {
			return source.ErrStopped
		}
		if done {
			return nil
		}
	}
}

// readFile returns one file of a commit as an item, or nil if it is not wanted.
func (s *session) readFile(ctx context.Context, commit string, f fileChange) (*source.Item, error) {
	if !repository.Wanted(f.Name, 0) || !isSHA(f.SHA) {
		return nil, nil
	}
	i, err := s.readBlob(ctx, f.Name, f.SHA)
	var failed *source.SyncError
	if errors.As(err, &failed) && failed.Code == source.NotThere {
		return nil, nil // a submodule, whose SHA is that of a commit elsewhere
	}
	if err != nil || i == nil || !mayBeLink(i.Body) {
		return i, err
	}
	if link, err := s.isLink(ctx, commit, f.Name); err != nil || link {
		return nil, err
	}
	return i, nil
}

// readBlob returns a file with an SHA as an item, or nil if it is too large or contains no text.
func (s *session) readBlob(ctx context.Context, name, sha string) (*source.Item, error) {
	var text limitedBuffer
	_, _, err := s.get(ctx, "repos/"+s.repository+"/git/blobs/"+sha, rawType, "", func() any { text = limitedBuffer{}; return &text })
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", strconv.Quote(name), err)
	}
	if text.full {
		return nil, nil
	}
	return repository.Item(s.repository, s.blob(name), name, text.Bytes()), nil
}

// mayBeLink reports whether text may be that of a symbolic link: the name of another file. A comparison does not tell.
func mayBeLink(text string) bool {
	const longest = 4096 // bytes
	return len(text) <= longest && !strings.Contains(text, "\n")
}

// entry is a file or folder in a folder of a commit.
type entry struct {
	Name string `json:"path"` // below the folder that is listed
	Mode string `json:"mode"`
	Type string `json:"type"`
	SHA  string `json:"sha"`
	Size int64  `json:"size"`
}

// The modes of symbolic links and folders.
const (
	linkMode   = "120000"
	folderMode = "040000"
)

// isLink reports whether a file of a commit is a symbolic link, which an archive has no text of.
func (s *session) isLink(ctx context.Context, commit, name string) (bool, error) {
	var at entry
	for sha, rest, more := commit, name, true; more; sha = at.SHA {
		var first string
		first, rest, more = strings.Cut(rest, "/")
		all, err := s.folder(ctx, sha)
		if err != nil {
			return false, fmt.Errorf("read the folder of %s: %w", strconv.Quote(name), err)
		}
		n := slices.IndexFunc(all, func(e entry) bool { return e.Name == first })
		if n < 0 {
			return false, nil // or GitHub does not list all that is in the folder
		}
		at = all[n]
	}
	return at.Mode == linkMode, nil
}

// folder lists the links and folders in a folder. Several changed files are often in the same ones.
func (s *session) folder(ctx context.Context, sha string) ([]entry, error) {
	if known, ok := s.folders[sha]; ok {
		return known, nil
	}
	var all struct {
		Entries []entry `json:"tree"`
	}
	_, _, err := s.get(ctx, "repos/"+s.repository+"/git/trees/"+sha, "", "", func() any { all.Entries = nil; return &all })
	if err == nil && all.Entries == nil {
		err = emptyReply()
	}
	if err != nil {
		return nil, err
	}
	found := slices.DeleteFunc(all.Entries, func(e entry) bool { return e.Mode != linkMode && e.Mode != folderMode })
	if len(s.folders) >= keptFolders {
		clear(s.folders)
	}
	s.folders[sha] = slices.Clone(found[:min(len(found), maxInFolder)])
	return s.folders[sha], nil
}

// limitedBuffer keeps up to repository.MaxFile bytes and notes whether there were more.
type limitedBuffer struct {
	bytes.Buffer
	full bool
}

func (b *limitedBuffer) Write(p []byte) (int, error) {
	if b.Len()+len(p) > repository.MaxFile {
		b.full = true
		return len(p), nil
	}
	return b.Buffer.Write(p)
}
