package web

import (
	"slices"
	"time"
)

// checkpoint is the checkpoint of a source.
type checkpoint struct {
	Since time.Time `json:"since,omitzero"` // skip pages that changed before
	Begun time.Time `json:"begun,omitzero"` // when the current reading started
	Last  string    `json:"last,omitempty"` // URL of the page that was read last
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
