package dir

import (
	"math"
	"os"
	"sync"

	"docent/shared/blob"
)

// maxKept bounds the files that are kept open, far below the usual limit of a process.
const maxKept = 64

// keptFiles has the files of objects that were read by range. A question reads a large object in
// hundreds of pieces, and opening its path costs more than reading a piece.
type keptFiles struct {
	mu     sync.Mutex
	byName map[string]*keptFile
	uses   int64
	closed bool
}

type keptFile struct {
	file *os.File
	used int64 // value of uses at the last use
}

// get returns the kept file of an object, or nil.
func (k *keptFiles) get(name string) *os.File {
	k.mu.Lock()
	defer k.mu.Unlock()
	kept := k.byName[name]
	if kept == nil {
		return nil
	}
	k.uses++
	kept.used = k.uses
	return kept.file
}

// put keeps the file of an object instead of the least recently used one. It closes file if
// another one is kept for the object, or after close.
func (k *keptFiles) put(name string, file *os.File) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.byName[name] != nil || k.closed {
		_ = file.Close() // it was only read
		return
	}
	if len(k.byName) == maxKept {
		oldest, least := "", int64(math.MaxInt64)
		for n, kept := range k.byName {
			if kept.used < least {
				oldest, least = n, kept.used
			}
		}
		k.remove(oldest)
	}
	if k.byName == nil {
		k.byName = map[string]*keptFile{}
	}
	k.uses++
	k.byName[name] = &keptFile{file, k.uses}
}

// drop closes the kept file of an object if it is file, or whichever it is if file is nil. A
// read in progress ends first.
func (k *keptFiles) drop(name string, file *os.File) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if kept := k.byName[name]; kept != nil && (file == nil || kept.file == file) {
		k.remove(name)
	}
}

func (k *keptFiles) remove(name string) {
	_ = k.byName[name].file.Close() // it was only read
	delete(k.byName, name)
}

// close closes all files; none is kept afterwards.
func (k *keptFiles) close() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.closed = true
	for name := range k.byName {
		k.remove(name)
	}
}

// rangeOf reads a part of an object from its kept file, or opens it by name.
func (s *Store) rangeOf(name string, offset, length int64) ([]byte, error) {
	if file := s.kept.get(name); file != nil {
		data, links, err := readRange(file, offset, length)
		if err == nil && links == 1 {
			return data, nil
		}
		// The object was removed, or the file was closed in the meantime: what counts is its name.
		s.kept.drop(name, file)
	}
	file, err := s.root.Open(pathOf(name))
	if err != nil {
		return nil, err
	}
	data, links, err := readRange(file, offset, length)
	if err == nil && links == 1 {
		s.kept.put(name, file)
	} else {
		_ = file.Close() // it was only read
	}
	return data, err
}

// readRange reads a part of an open file, and returns how many names the file has. A file is kept
// only as long as it has one: when that is removed, by whichever process, it has none.
func readRange(file *os.File, offset, length int64) (data []byte, links int, err error) {
	info, err := file.Stat()
	if err != nil {
		return nil, 0, err
	}
	if err := blob.CheckRange(offset, length, info.Size()); err != nil {
		return nil, 0, err
	}
	data = make([]byte, length)
	if _, err := file.ReadAt(data, offset); err != nil {
		return nil, 0, err
	}
	return data, linksOf(info), nil
}
