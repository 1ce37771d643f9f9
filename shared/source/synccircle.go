package source

import (
	"bytes"
	"crypto/sha256"
)

// passedPages are the checkpoints of a reading, by their hashes.
type passedPages struct {
	hashes map[[sha256.Size]byte]bool
	latest [sha256.Size]byte
}

// comesBack notes a checkpoint, and reports whether there was another one since it was noted first. A provider whose cursors lead back to an
// earlier page would be read for ever.
func (p *passedPages) comesBack(checkpoint []byte) bool {
	hash := sha256.Sum256(checkpoint)
	if hash == p.latest {
		return false
	}
	if p.hashes == nil {
		p.hashes = map[[sha256.Size]byte]bool{}
	}
	back := p.hashes[hash]
	p.hashes[hash], p.latest = true, hash
	return back
}

// trail finds out whether the pages of a reading of many turns lead back to an earlier one. It is stored with the part, so it keeps one
// checkpoint only, which it replaces after 1, 2, 4 … pages: at last all of the circle is read before the next one (Brent's algorithm).
type trail struct {
	Mark   []byte `json:"mark,omitempty"`   // start of the hash of that checkpoint
	Since  int    `json:"since,omitempty"`  // pages since then
	Length int    `json:"length,omitempty"` // pages after which it is replaced
	Met    int    `json:"met,omitempty"`    // how often it was met again
}

// trailWith returns the trail of the reading after page; nil after the last one.
func (p *partState) trailWith(page SyncPage) *trail {
	switch {
	case page.Last:
		return nil
	case bytes.Equal(page.Checkpoint, p.Checkpoint):
		return p.Trail
	}
	hash := sha256.Sum256(page.Checkpoint)
	mark := hash[:8]
	var t trail
	if p.Trail != nil {
		t = *p.Trail
	}
	t.Since++
	switch {
	case bytes.Equal(mark, t.Mark):
		t.Met++
	case t.Since >= t.Length:
		t = trail{Mark: mark, Length: max(1, 2*t.Length)}
	}
	return &t
}

// isCircle reports whether the same checkpoint was met for the third time. Once more is not a circle: a connector whose cursor has expired
// begins again.
func (t *trail) isCircle() bool { return t != nil && t.Met == 2 }
