package gitlab

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/url"

	"docent/shared/connect/rest"
	"docent/shared/source"
)

const wikiAPage = 50 // wiki pages per page

// readWiki reads all pages of the wiki if they changed. Its full scan is exact.
func (s *session) readWiki(ctx context.Context, p checkpoint, whole bool, yield func(source.SyncPage) bool) error {
	text, err := s.api.Text(ctx, "/wikis?with_content=1", rest.MaxReply)
	if err != nil {
		return err
	}
	if text == nil {
		return &source.SyncError{Code: source.TooLarge, Detail: "The wiki of " + s.project + " is larger than 64 MB."}
	}
	digest := sha256.Sum256(text)
	sum := hex.EncodeToString(digest[:])
	if p.Done {
		if sum != p.Sum {
			return source.ErrFullScanNeeded
		}
		yield(source.SyncPage{Checkpoint: source.EncodeCheckpoint(p), Last: true})
		return nil
	}
	if whole || sum != p.Sum {
		p.Sum, p.Skip = sum, 0 // from the start, also if it changed during an interruption
	}
	var all []struct {
		Slug    string `json:"slug"`
		Title   string `json:"title"`
		Content string `json:"content"`
	}
	if err := json.Unmarshal(text, &all); err != nil || all == nil { // what a whole wiki lacks is removed
		return &source.SyncError{Code: source.Unreadable, Detail: "GitLab sent no list of wiki pages.", Cause: err}
	}
	readers, err := s.readers(ctx, false, nil)
	if err != nil {
		return err
	}
	for {
		n := min(p.Skip+wikiAPage, len(all))
		var page source.SyncPage
		for _, w := range all[min(p.Skip, n):n] {
			page.Items = append(page.Items, source.Item{URI: s.html + "wikis/" + (&url.URL{Path: w.Slug}).EscapedPath(), Title: source.ClipTitle(w.Title),
				Body: w.Content, SourceType: "documentation", Project: s.project, Access: readers})
		}
		p.Skip, p.Done = n, n == len(all)
		if p.Done {
			p.Skip = 0
		}
		page.Checkpoint, page.Last, page.Exact = source.EncodeCheckpoint(p), p.Done, p.Done
		if !yield(page) {
			return source.ErrStopped
		}
		if p.Done {
			return nil
		}
	}
}
