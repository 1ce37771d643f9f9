package bolt

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"docent/shared/table"

	bbolt "go.etcd.io/bbolt"
)

// spareSuffix ends the name of the spare file, behind that of the database.
const spareSuffix = ".spare"

// How often the committer tries to make the spare file: while it was given up, and while there never was room for it. Trying fills the disk
// for a moment.
const (
	spareEvery  = time.Second
	spareSeldom = 10 * time.Minute
)

// spare is a file that occupies room on the disk. When the disk is full, it is removed, and only Writes that free room are
// carried out until there is as much again: on the disk, or of free pages in the database. A disk that had no room for it
// when the store was opened is written to until it is full.
type spare struct {
	path string

	mu      sync.Mutex // guards the following
	bytes   int64      // 0: there is none
	missing bool       // the file is to be made
	used    bool       // it is missing, and the disk was full
	tried   time.Time
}

// make makes the file, unless that fails for want of room. A disk on which it cannot be made at all has no spare.
func (p *spare) make(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bytes == 0 {
		return
	}
	if info, err := os.Stat(p.path); err == nil && info.Size() >= p.bytes {
		p.missing, p.used = false, false
		return
	}
	p.tried = now
	err := p.write()
	if err != nil {
		_ = os.Remove(p.path) // it has no use
	}
	switch {
	case err == nil:
		p.missing, p.used = false, false
	case table.IsFull(err):
		p.missing = true
	default:
		p.bytes, p.missing, p.used = 0, false, false
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

// give removes the file, and reports whether there was one. The disk is full.
func (p *spare) give(now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bytes == 0 || p.used {
		return false
	}
	p.missing, p.used, p.tried = true, true, now
	return os.Remove(p.path) == nil
}

// lack notes that the disk is full. What is left of it is for removals, if there is no file.
func (p *spare) lack(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.missing && !p.used {
		p.used, p.tried = true, now
	}
}

// state returns how large the file is to be, and whether it was given up. due: it is time to make it.
func (p *spare) state(now time.Time) (bytes int64, used, due bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	every := spareSeldom
	if p.used {
		every = spareEvery
	}
	return p.bytes, p.used, p.missing && now.Sub(p.tried).Abs() >= every
}

// hasRoom reports whether Writes that need room may be carried out. due: that may change when the file is made, which only the
// committer does.
func (s *Store) hasRoom() (room, due bool) {
	bytes, used, due := s.spare.state(s.now())
	if used && int64(s.db.Stats().FreePageN)*s.pageSize >= bytes {
		return true, false
	}
	return !used, due
}

// makeRoom is hasRoom after the file was made, if that was due.
func (s *Store) makeRoom() bool {
	room, due := s.hasRoom()
	if due {
		s.spare.make(s.now())
		room, _ = s.hasRoom()
	}
	return room
}

// CheckRoom returns the error of a Write that needs room while there is only what the spare file left, unless ctx is one of table.Freeing.
// It is for what else is written to the same disk. It wraps table.ErrFull, or table.ErrMoved as a Write does.
func (s *Store) CheckRoom(ctx context.Context) error {
	if err := table.CheckPlace(s.path, s.file); err != nil {
		return err
	}
	if table.IsFreeing(ctx) {
		return nil
	}
	switch room, due := s.hasRoom(); {
	case room:
		return nil
	case !due:
		return s.errNoRoom()
	}
	_, err := s.submit(ctx, nil) // nothing; the committer looks whether there is room
	return err
}

// transactInRoom carries out group as far as the disk has room, and returns the errors of those that free room and of the others.
func (s *Store) transactInRoom(group []*request) (freeing, others error) {
	if err := table.CheckPlace(s.path, s.file); err != nil {
		return err, err
	}
	if s.makeRoom() {
		err := s.transact(group)
		if !table.IsFull(err) {
			return err, err
		}
		others = err
		s.spare.lack(s.now())
	} else {
		others = s.errNoRoom()
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
	if freeing = s.transact(free); s.giveFor(freeing) {
		freeing = s.transact(free)
	}
	return freeing, others
}

// giveFor gives up the spare file after err if that makes room.
func (s *Store) giveFor(err error) bool {
	return table.IsFull(err) && !errors.Is(err, syscall.EFBIG) && s.spare.give(s.now())
}

// errNoRoom returns the error of a Write that needs room while there is only what the spare file left.
func (s *Store) errNoRoom() error {
	bytes, _, _ := s.spare.state(s.now())
	return fmt.Errorf("%w: less than %d MB are free, which are kept for removing data: %w", table.ErrFull, bytes>>20, syscall.ENOSPC)
}

// update is db.Update, unless a test fills the disk.
func (s *Store) update(do func(*bbolt.Tx) error) error {
	return withErrno(s.db.Update(func(tx *bbolt.Tx) error {
		err := do(tx)
		if err == nil && s.full != nil {
			err = s.full()
		}
		return err
	}))
}

// withErrno returns err with the errno of a disk that is full or fails, if only its text contains that: bbolt does not wrap the error of
// making its file larger.
func withErrno(err error) error {
	if err == nil || table.IsFull(err) || table.IsUnwritable(err) {
		return err
	}
	for _, no := range []syscall.Errno{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG, syscall.EIO, syscall.EROFS} {
		if strings.HasSuffix(err.Error(), ": "+no.Error()) {
			return fmt.Errorf("%w (%w)", err, no)
		}
	}
	return err
}
