package source

import "crypto/sha256"

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
