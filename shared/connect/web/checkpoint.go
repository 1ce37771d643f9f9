package web

import (
	"slices"
	"time"
)

// maxFailed bounds the URLs in checkpoint.Failed, in bytes.
const maxFailed = 16 << 10

// checkpoint is the checkpoint of a source.
type checkpoint struct {
	Since time.Time `json:"since,omitzero"` // skip pages that changed before
	Begun time.Time `json:"begun,omitzero"` // when the current reading started
	Last  string    `json:"last,omitempty"` // URL of the page that was read last
	// Failed are URLs of pages that the current reading found unreadable for now, and Again those of the one before: they are
	// read whatever the sitemap says about changes.
	Failed []string `json:"failed,omitempty"`
	Again  []string `json:"again,omitempty"`
	Waited bool     `json:"waited,omitempty"` // as long as a site asked for, and no page was read since
	Scans  bool     `json:"scans,omitempty"`  // the current reading is a full scan
}

// failsMuch reports whether there are more pages in Failed than a checkpoint should have.
func (p checkpoint) failsMuch() bool {
	size := 0
	for _, address := range p.Failed {
		size += len(address)
	}
	return size > maxFailed
}

// end returns the checkpoint that the next reading begins with. If many pages failed, it repeats this one.
func (p checkpoint) end() checkpoint {
	if p.failsMuch() {
		return checkpoint{Since: p.Since, Again: p.Again}
	}
	// A day earlier, because the times of sitemaps are rarely exact.
	return checkpoint{Since: p.Begun.Add(-24 * time.Hour), Again: p.Failed}
}

// after returns the index of the page after the one with a URL. A sitemap may have changed since that was read, so that it is not
// listed any more; then it is the first page with a greater URL.
func after(all []listed, last string) int {
	for i := len(all) - 1; i >= 0 && last != ""; i-- {
		if all[i].url == last {
			return i + 1
		}
	}
	i := slices.IndexFunc(all, func(l listed) bool { return l.url > last })
	if i < 0 {
		return len(all)
	}
	return i
}
