package search

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"
)

// FamilyStatus describes the segments of one space of a source, of postings or of vectors, and
// their rebuild.
type FamilyStatus struct {
	Source    string         `json:"source"`
	Space     Space          `json:"space"`
	Vectors   bool           `json:"vectors,omitempty"`
	Segments  int            `json:"segments"`
	Documents int            `json:"documents"` // versions in the segments, including replaced ones
	Passages  int            `json:"passages"`
	Bytes     int64          `json:"bytes"`
	Analyses  map[int]int    `json:"analyses"` // segments by version of their analysis
	Outdated  map[string]int `json:"outdated"` // segments to rebuild, by reason
	Newer     int            `json:"newer"`    // segments of a newer program, which are left to it
	Rebuild   *RebuildStatus `json:"rebuild,omitempty"`
}

// RebuildStatus describes the progress of a rebuild.
type RebuildStatus struct {
	Since time.Time     `json:"since"`
	Saved time.Time     `json:"saved,omitzero"` // when it made progress last; zero: it has not begun
	Done  int64         `json:"done"`           // documents read; never decreases
	Total int64         `json:"total"`          // documents to read
	Error *RebuildError `json:"error,omitempty"`
}

// RebuildError is the last failure of a rebuild. The rebuild is tried again.
type RebuildError struct {
	At   time.Time `json:"at"`
	Text string    `json:"text"`
}

// Status describes the families of a team that have segments or are being rebuilt, in
// the order of their sources, postings before vectors.
func (ix *Index) Status(ctx context.Context, teamID string) ([]FamilyStatus, error) {
	states, err := ix.rebuilds(ctx, teamID)
	if err != nil {
		return nil, err
	}
	records, err := ix.records(ctx, teamID, "")
	if err != nil {
		return nil, err
	}
	_, of := families(records)
	for f := range states {
		if _, ok := of[f]; !ok {
			of[f] = nil // its documents are in no segment yet
		}
	}
	order := slices.SortedFunc(maps.Keys(of), func(a, b family) int {
		return cmp.Or(cmp.Compare(a.source, b.source), cmp.Compare(a.space, b.space), cmp.Compare(a.name(), b.name()))
	})
	all := make([]FamilyStatus, 0, len(order))
	for _, f := range order {
		s := FamilyStatus{Source: f.source, Space: f.space, Vectors: f.meaning, Analyses: map[int]int{}, Outdated: map[string]int{}}
		for _, r := range of[f] {
			s.Segments++
			s.Documents += r.content.Documents
			s.Passages += r.content.Passages
			s.Bytes += int64(r.content.Bytes)
			if !f.meaning {
				s.Analyses[r.content.Analysis]++
			}
			if why := r.outdated(); why != "" {
				s.Outdated[string(why)]++
			}
			if r.newer() {
				s.Newer++
			}
		}
		if st, ok := states[f]; ok {
			s.Rebuild = st.status()
		}
		all = append(all, s)
	}
	return all, nil
}

func (st rebuildState) status() *RebuildStatus {
	s := &RebuildStatus{Since: time.UnixMilli(st.Began).UTC(), Done: st.Done, Total: st.Total, Error: st.Error}
	if st.Saved > 0 {
		s.Saved = time.UnixMilli(st.Saved).UTC()
	}
	return s
}
