package bolt

import (
	"crypto/rand"
	"errors"
	"io"
	"os"
	"sync"
	"syscall"
	"time"

	"docent/shared/table"

	bbolt "go.etcd.io/bbolt"
)

// spareSuffix ends the name of the spare file, behind that of the database.
const spareSuffix = ".spare"

// spareEvery is how often the committer tries to make the spare file again.
const spareEvery = time.Second

// spare is a file that occupies room on the disk. When the disk is full, it is removed, and only Writes that free room are
// carried out until there is as much again: on the disk, or of free pages in the database.
type spare struct {
	path string

	mu    sync.Mutex // guards the following
	bytes int64      // 0: there is none
	used  bool       // the file is missing
	tried time.Time
}

// make makes the file, unless that fails for want of room. A disk on which it cannot be made at all has no spare.
func (p *spare) make(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bytes == 0 {
		return
	}
	if info, err := os.Stat(p.path); err == nil && info.Size() >= p.bytes {
		p.used = false
		return
	}
	p.tried = now
	err := p.write()
	if err != nil {
		_ = os.Remove(p.path) // it has no use
	}
	if p.used = table.IsFull(err); err != nil && !p.used {
		p.bytes = 0
	}
}

// write writes what no file system stores in less.
func (p *spare) write() error {
	f, err := os.OpenFile(p.path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = io.CopyN(f, rand.Reader, p.bytes)
	return errors.Join(err, f.Sync(), f.Close())
}

// give removes the file, and reports whether there was one.
func (p *spare) give(now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bytes == 0 || p.used {
		return false
	}
	p.used, p.tried = true, now
	return os.Remove(p.path) == nil
}

// isUsed reports whether the file is missing, and how large it is to be. due: it is time to try again to make it.
func (p *spare) isUsed(now time.Time) (used, due bool, bytes int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.used, now.Sub(p.tried).Abs() >= spareEvery, p.bytes
}

// hasRoom reports whether Writes that need room may be carried out.
func (s *Store) hasRoom() bool {
	now := s.now()
	used, due, bytes := s.spare.isUsed(now)
	if !used || int64(s.db.Stats().FreePageN)*int64(s.db.Info().PageSize) >= bytes {
		return true
	}
	if due {
		s.spare.make(now)
		used, _, _ = s.spare.isUsed(now)
	}
	return !used
}

// transactInRoom carries out group as far as the disk has room, and returns the errors of those that free room and of the others.
func (s *Store) transactInRoom(group []*request) (freeing, others error) {
	if s.hasRoom() {
		err := s.transact(group)
		if !table.IsFull(err) {
			return err, err
		}
		others = err
	} else {
		others = errNoRoom
	}
	var free []*request
	for _, r := range group {
		if r.freeing {
			free = append(free, r)
		}
	}
	if len(free) == 0 {
		return nil, others
	}
	if freeing = s.transact(free); table.IsFull(freeing) && s.spare.give(s.now()) {
		freeing = s.transact(free)
	}
	return freeing, others
}

// errNoRoom is the error of a Write that needs room while there is only what the spare file left.
var errNoRoom = &os.PathError{Op: "write", Path: "database", Err: syscall.ENOSPC}

// update is db.Update, unless a test fills the disk.
func (s *Store) update(do func(*bbolt.Tx) error) error {
	return s.db.Update(func(tx *bbolt.Tx) error {
		err := do(tx)
		if err == nil && s.full != nil {
			err = s.full()
		}
		return err
	})
}
