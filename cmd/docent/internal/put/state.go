package put

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"docent/client"
	"docent/shared/filter"
)

// slack is how much later than a put reply's Date (whole seconds) updatedAt may be and still be from that put.
const slack = 2 * time.Second

// entry is the last put of a URI.
type entry struct {
	URI       string    `json:"uri"`
	Hash      string    `json:"hash"` // of title, body, metadata and access
	ID        string    `json:"id"`
	UpdatedAt time.Time `json:"updatedAt,omitzero"` // from the server's list; zero until it is listed
	PutAt     time.Time `json:"putAt,omitzero"`     // the time of the server's reply, until it lists the document
	Unread    bool      `json:"unread,omitempty"`   // the server has not said yet whether it can read the text of the file
}

// header is the first line of a state file.
type header struct {
	Format       int    `json:"docentPut"`
	Server       string `json:"server"`
	CollectionID string `json:"collectionId"`
}

// state remembers what was put into one collection of one server, so that unchanged files are not sent again. It is
// a file of JSON lines: a header, then one entry per put, appended as soon as the server has accepted the document,
// so that a killed run loses nothing. Of several entries for a URI the last counts; an incomplete line is ignored.
// Saving rewrites the file and renames it into place.
//
// The file is never trusted alone: reconcile drops every entry that the server does not confirm. Losing the file
// costs time, never correctness.
type state struct {
	path    string // empty: kept in memory only
	header  header
	mu      sync.Mutex
	entries map[string]entry
	journal *os.File
	failed  error // the first write error
}

// openState reads the state below dir. With an empty dir nothing is stored. A file that is missing, damaged or of
// another format is an empty state.
func openState(dir, server, collectionID string) (*state, error) {
	s := &state{header: header{Format: 1, Server: server, CollectionID: collectionID}, entries: map[string]entry{}}
	if dir == "" {
		return s, nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return s, fmt.Errorf("make the folder of the list of sent files: %w", err)
	}
	sum := sha256.Sum256([]byte(server + "\n" + collectionID))
	s.path = filepath.Join(dir, "put-"+hex.EncodeToString(sum[:12])+".jsonl")
	if err := s.load(); err != nil {
		return s, fmt.Errorf("read the list of sent files: %w", err)
	}
	return s, nil
}

func (s *state) load() error {
	f, err := os.Open(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	var h header
	if !lines.Scan() || json.Unmarshal(lines.Bytes(), &h) != nil || h != s.header {
		return nil
	}
	for lines.Scan() {
		var e entry
		if json.Unmarshal(lines.Bytes(), &e) == nil && e.URI != "" {
			s.entries[e.URI] = e
		}
	}
	return lines.Err()
}

// reconcile compares the state with a new list of the collection's documents. At the start of a run it drops what
// the list does not confirm. At the end (final) it only looks at what was just put, because a list may lag behind.
func (s *state) reconcile(listed map[string]client.Listed, final bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for uri, e := range s.entries {
		l, ok := listed[uri]
		switch {
		case final && (e.PutAt.IsZero() || !ok):
		case !ok || l.ID != e.ID:
			delete(s.entries, uri)
		case !e.PutAt.IsZero() && !l.UpdatedAt.After(e.PutAt.Add(slack)):
			e.UpdatedAt, e.PutAt = l.UpdatedAt, time.Time{}
			s.entries[uri] = e
		case !e.PutAt.IsZero() || !l.UpdatedAt.Equal(e.UpdatedAt):
			delete(s.entries, uri) // changed by someone else
		}
	}
}

// has returns the entry of uri if it already has exactly this content.
func (s *state) has(uri, hash string) (entry, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, ok := s.entries[uri]
	return e, ok && e.Hash == hash
}

// read records that the server has finished reading the text of a file.
func (s *state) read(uri string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e, ok := s.entries[uri]; ok {
		e.Unread = false
		s.entries[uri] = e
	}
}

// record adds an entry that the server has accepted.
func (s *state) record(e entry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.entries[e.URI] = e
	if s.journal == nil {
		return
	}
	line, err := json.Marshal(e)
	if err == nil {
		_, err = s.journal.Write(append(line, '\n'))
	}
	s.note(err)
}

// forget removes the entry of a document that was deleted, or whose text cannot be read.
func (s *state) forget(uri string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.entries, uri)
}

// save writes the whole state and leaves it open for further entries.
func (s *state) save() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.path == "" {
		return nil
	}
	if s.journal != nil {
		s.note(s.journal.Close())
		s.journal = nil
	}
	if err := s.replace(); err != nil {
		return fmt.Errorf("save the list of sent files: %w", err)
	}
	var err error
	if s.journal, err = os.OpenFile(s.path, os.O_WRONLY|os.O_APPEND, 0); err != nil {
		return fmt.Errorf("save the list of sent files: %w", err)
	}
	return nil
}

func (s *state) replace() error {
	tmp, err := os.CreateTemp(filepath.Dir(s.path), "put-*.tmp")
	if err != nil {
		return err
	}
	err = errors.Join(s.write(tmp), tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), s.path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(tmp.Name()))
	}
	return nil
}

func (s *state) write(f *os.File) error {
	w := bufio.NewWriter(f)
	out := json.NewEncoder(w)
	if err := out.Encode(s.header); err != nil {
		return err
	}
	for _, e := range s.entries {
		if err := out.Encode(e); err != nil {
			return err
		}
	}
	return w.Flush()
}

// close ends the journal and returns its first write error.
func (s *state) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.journal != nil {
		s.note(s.journal.Close())
		s.journal = nil
	}
	return s.failed
}

func (s *state) note(err error) {
	if s.failed == nil && err != nil {
		s.failed = fmt.Errorf("write the list of sent files: %w", err)
	}
}

func hashOf(title, body string, metadata filter.Metadata, access *client.Access) string {
	h := sha256.New()
	h.Write([]byte(title + "\x00")) // a title has no NUL
	h.Write([]byte(body))
	if len(metadata) > 0 { // without metadata, the hash is the same as in states from before metadata
		h.Write([]byte("\x00" + metadata.JSON())) // nor has a body
	}
	if access != nil {
		text, err := json.Marshal(access)
		if err != nil {
			panic(err) // lists of strings always encode
		}
		h.Write([]byte("\x00access"))
		h.Write(text)
	}
	return hex.EncodeToString(h.Sum(nil))
}
