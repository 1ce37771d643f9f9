package search

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"docent/shared/access"
	"docent/shared/blob"
	"docent/shared/filter"
	"docent/shared/search/segment"
)

// What a query may find is decided for whole sets of documents before anything is ranked, and once more on the
// record of each hit. The README has the reasons.
const (
	admittedDivisor = 8 // the share of the bound in bytes for what queries may find
	admittedCost    = 200
	metadataBetween = "\x00" // the name of a metadata entry and its value
)

// describe gives the current document of w its sets: the tokens that open it, and its metadata.
func describe(w *segment.Writer, d Document) error {
	if tokens := d.Access.Tokens(); tokens != nil {
		entries := make([]string, len(tokens))
		for i, t := range tokens {
			entries[i] = string(t)
		}
		w.Set(segment.Access, entries)
	}
	var entries []string
	for name, value := range d.Metadata {
		text, err := json.Marshal(value)
		if err != nil {
			return fmt.Errorf("encode the metadata of %s: %w", d.ID, err)
		}
		entries = append(entries, name+metadataBetween+string(text))
	}
	w.Set(segment.Metadata, entries)
	return nil
}

// admission decides which documents of a segment a query may find.
type admission struct {
	reader access.Reader
	filter *filter.Filter
	names  []string // that the filter has
	sum    [sha256.Size]byte
}

// admittedKey names what one kind of query may find in a segment.
type admittedKey struct {
	blob      string
	query     [sha256.Size]byte // of what the reader is known by, and the filter
	byDefault bool              // the reader may read documents without a rule of their own
}

// admissionBuffers has *[]byte for what newAdmission hashes: of a person in thousands of groups, hundreds of KB.
var admissionBuffers sync.Pool

func newAdmission(q Query) *admission {
	a := &admission{reader: q.Reader, filter: q.Filter, names: q.Filter.Names()}
	about := q.Filter.String()
	buffer, _ := admissionBuffers.Get().(*[]byte)
	if buffer == nil {
		buffer = new([]byte)
	}
	defer admissionBuffers.Put(buffer)
	b := (*buffer)[:0]
	add := func(s string) { b = append(binary.AppendUvarint(b, uint64(len(s))), s...) }
	add(about)
	for _, t := range q.Reader.Tokens() { // none: the reader reads everything
		add(string(t))
	}
	*buffer = b
	a.sum = sha256.Sum256(b)
	return a
}

// admit replaces each segment by a view of what q may find in it, or by nil if that is nothing. It stores an error
// about one segment in faults, at the place of the segment.
func (ix *Index) admit(q Query, defaults map[string]*access.Rule, records []record, segments []*segment.Segment, faults []error) error {
	if q.Reader.All() && q.Filter == nil {
		return nil
	}
	a := newAdmission(q)
	views := make([]*segment.Segment, len(segments))
	var known []*segment.Segment // opened
	var at []int                 // their places
	for i, s := range segments {
		if s != nil {
			known, at = append(known, s), append(at, i)
		}
	}
	err := parallel(known, func(i int, s *segment.Segment) (err error) {
		i = at[i]
		views[i], err = ix.view(a, records[i], s, defaults[records[i].source])
		if errors.Is(err, segment.ErrDamaged) || errors.Is(err, blob.ErrNotFound) {
			faults[i] = fmt.Errorf("segment %s: %w", records[i].id, err)
			return nil
		}
		return err
	})
	copy(segments, views)
	return err
}

// view returns a view of what may be found in a segment, or nil if that is nothing.
func (ix *Index) view(a *admission, r record, s *segment.Segment, byDefault *access.Rule) (*segment.Segment, error) {
	open := a.reader.MayRead(nil, byDefault)
	if !s.HasSets() {
		if open && a.filter.MayMatch(nil) {
			return s, nil
		}
		return nil, nil //nolint:nilnil // nothing
	}
	key := admittedKey{r.blob, a.sum, open}
	admitted, ok := ix.admitted.Get(key)
	if !ok {
		var err error
		if admitted, err = a.admit(s, open); err != nil {
			return nil, err
		}
		ix.admitted.Put(key, admitted, admitted.Size()+admittedCost)
	}
	if admitted.Passages == 0 {
		return nil, nil //nolint:nilnil // nothing
	}
	return s.Only(admitted), nil
}

// admit returns the passages of s that may be found, where open says whether the reader may read documents
// without a rule of their own.
func (a *admission) admit(s *segment.Segment, open bool) (*segment.Admitted, error) {
	var kinds []segment.Kind
	if !a.reader.All() {
		kinds = append(kinds, segment.Access)
	}
	if a.filter != nil {
		kinds = append(kinds, segment.Metadata)
	}
	if err := s.FetchSets(kinds...); err != nil {
		return nil, err
	}
	all := func(int) bool { return true }
	readable, included := all, all
	if !a.reader.All() {
		t, err := s.Sets(segment.Access)
		if err != nil {
			return nil, err
		}
		readable = bySet(t, open, a.openSets(t))
	}
	if a.filter != nil {
		t, err := s.Sets(segment.Metadata)
		if err != nil {
			return nil, err
		}
		sets, err := a.includedSets(t)
		if err != nil {
			return nil, err
		}
		included = bySet(t, a.filter.MayMatch(nil), sets)
	}
	return s.Admit(func(document int) bool { return readable(document) && included(document) })
}

// bySet returns a function that decides about a document by its set, or by without if it has none.
func bySet(t *segment.Sets, without bool, sets []bool) func(document int) bool {
	return func(document int) bool {
		if n := t.Of(document); n >= 0 {
			return sets[n]
		}
		return without
	}
}

// openSets says which sets of tokens open to the reader: those with one of the reader's, which is what
// Reader.MayRead decides by.
func (a *admission) openSets(t *segment.Sets) []bool {
	own := a.reader.Tokens()
	held := make([]bool, len(t.Entries))
	for i, entry := range t.Entries { // both ascend
		for len(own) > 0 && string(own[0]) < entry {
			own = own[1:]
		}
		held[i] = len(own) > 0 && string(own[0]) == entry
	}
	open := make([]bool, t.Count())
	for n := range open {
		open[n] = slices.ContainsFunc(t.Set(n), func(place uint32) bool { return held[place] })
	}
	return open
}

// includedSets says which sets of metadata the filter may include. It decides once about all sets that are the
// same in what the filter names.
func (a *admission) includedSets(t *segment.Sets) ([]bool, error) {
	named := make([]bool, len(t.Entries))
	for _, name := range a.names {
		from, _ := slices.BinarySearch(t.Entries, name+metadataBetween)
		for ; from < len(t.Entries) && strings.HasPrefix(t.Entries[from], name+metadataBetween); from++ {
			named[from] = true
		}
	}
	included := make([]bool, t.Count())
	known := map[string]bool{} // by the places of the named entries
	var places []byte
	for n := range included {
		places = places[:0]
		for _, place := range t.Set(n) {
			if named[place] {
				places = binary.LittleEndian.AppendUint32(places, place)
			}
		}
		may, ok := known[string(places)]
		if !ok {
			m, err := metadataOf(t.Entries, places)
			if err != nil {
				return nil, err
			}
			may = a.filter.MayMatch(m)
			known[string(places)] = may
		}
		included[n] = may
	}
	return included, nil
}

// metadataOf returns the metadata of the entries at places, 4 bytes each.
func metadataOf(entries []string, places []byte) (filter.Metadata, error) {
	m := filter.Metadata{}
	for place := range slices.Chunk(places, 4) {
		name, text, _ := strings.Cut(entries[binary.LittleEndian.Uint32(place)], metadataBetween)
		var value filter.Value
		if err := json.Unmarshal([]byte(text), &value); err != nil {
			return nil, segment.Damaged("metadata %q: %v", name, err)
		}
		m[name] = value
	}
	return m, nil
}
