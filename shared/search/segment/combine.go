package segment

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/google/uuid"
)

// PartError is an error of one of the segments that Combine merges.
type PartError struct {
	Part int // its place among them
	Err  error
}

func (e *PartError) Error() string { return fmt.Sprintf("segment %d: %v", e.Part, e.Err) }

// Unwrap returns the error of the segment.
func (e *PartError) Unwrap() error { return e.Err }

// Combine merges segments of one profile, all of postings or all of vectors of one model. It leaves out documents that keep does not
// list in the segment's version (nil lists all), and repetitions. It removes from keep what it has merged. The result equals a
// segment built from the remaining documents. The error about one of segments is a PartError.
func Combine(segments []*Segment, keep map[uuid.UUID]int64) (File, error) {
	w := NewVectorWriter(segments[0].Profile, segments[0].Numbers)
	for _, s := range segments {
		if s.Numbers != w.numbers {
			return File{}, fmt.Errorf("merge vectors of %d and of %d numbers", w.numbers, s.Numbers)
		}
	}
	if w.numbers > 0 {
		w.reserve(segments)
	}
	stay := taking(keep)
	numbers := make([][]int32, len(segments)) // old passage → new one, -1: left out
	for i, s := range segments {
		var err error
		if numbers[i], err = w.renumber(s, stay); err != nil {
			return File{}, &PartError{i, err}
		}
	}
	if w.numbers > 0 {
		return w.Finish()
	}
	w.reserve(segments)
	if err := w.mergeTerms(segments, numbers); err != nil {
		return File{}, err
	}
	return w.Finish()
}

// mergeTerms writes the terms of segments in order, each with its postings in all of them. numbers has the new number of each passage of
// each segment, -1 for one that is left out.
func (w *Writer) mergeTerms(segments []*Segment, numbers [][]int32) error {
	readers := make([]*termReader, 0, len(segments))
	of := make([]int, 0, len(segments)) // the segment of each reader
	for i, s := range segments {
		t := &termReader{s: s}
		ok, err := t.next()
		if err != nil {
			return &PartError{i, err}
		}
		if ok {
			readers, of = append(readers, t), append(of, i)
		}
	}
	var term []byte
	var list []Posting
	for len(readers) > 0 {
		term = append(term[:0], least(readers)...)
		list = list[:0]
		for i := 0; i < len(readers); {
			t := readers[i]
			if !bytes.Equal(t.term, term) {
				i++
				continue
			}
			own := numbers[of[i]]
			err := t.list.Each(func(passage int, frequency uint32) {
				if n := own[passage]; n >= 0 {
					list = append(list, Posting{uint32(n), frequency})
				}
			})
			if err != nil {
				return &PartError{of[i], err}
			}
			more, err := t.nextAfter(term)
			if err != nil {
				return &PartError{of[i], err}
			}
			if !more {
				readers, of = append(readers[:i], readers[i+1:]...), append(of[:i], of[i+1:]...)
				continue
			}
			i++
		}
		if len(list) > 0 {
			w.Term(string(term), list)
		}
	}
	return nil
}

// nextAfter reads one term like next. It returns an error for a term that does not follow term.
func (t *termReader) nextAfter(term []byte) (bool, error) {
	ok, err := t.next()
	if err == nil && ok && bytes.Compare(t.term, term) <= 0 {
		err = Damaged("terms out of order")
	}
	return ok, err
}

// reserve makes room for the largest sections, so that they are rarely copied while they grow. Vectors get room for all
// passages; postings only for the passages that remain.
func (w *Writer) reserve(segments []*Segment) {
	var sizes [sectionCount]int64
	all := 0
	for _, s := range segments {
		all += s.Passages
		for of, section := range s.sections {
			sizes[of] += section.size
		}
	}
	if w.numbers > 0 {
		w.vectors = make([]byte, 0, sizes[secVectors])
		return
	}
	remaining := func(size int64) int { return int(float64(size) * float64(w.passages) / float64(max(all, 1))) }
	w.dictionary = make([]byte, 0, remaining(sizes[secDictionary]))
	file := maxFooterBytes
	for _, size := range sizes {
		file += remaining(size)
	}
	w.file = slices.Grow(w.file, file)
}

func least(readers []*termReader) []byte {
	term := readers[0].term
	for _, t := range readers[1:] {
		if bytes.Compare(t.term, term) < 0 {
			term = t.term
		}
	}
	return term
}

// taking returns a function that reports, for each document once, whether it is in keep in that version. If keep is nil, all are.
func taking(keep map[uuid.UUID]int64) func(id uuid.UUID, version int64) bool {
	if keep == nil {
		seen := map[uuid.UUID]bool{}
		return func(id uuid.UUID, _ int64) bool {
			first := !seen[id]
			seen[id] = true
			return first
		}
	}
	return func(id uuid.UUID, version int64) bool {
		current, ok := keep[id]
		if !ok || current != version {
			return false
		}
		delete(keep, id)
		return true
	}
}

// renumber adds the remaining passages of s and returns their new numbers, -1 for one
// that is left out.
func (w *Writer) renumber(s *Segment, stay func(id uuid.UUID, version int64) bool) ([]int32, error) {
	numbers := make([]int32, s.Passages)
	sets, err := s.readAllSets()
	if err != nil {
		return nil, err
	}
	defer s.forgetWindows()
	given := w.setCopiers(sets)
	document, stays := -1, false
	for i := range numbers {
		starts := s.start(i)
		if starts&StartsDocument != 0 {
			document++
			id, version, err := s.Identify(document)
			if err != nil {
				return nil, err
			}
			if stays = stay(id, version); stays {
				w.Document(id, version)
				for k := range given {
					given[k].copy(document)
				}
			}
		}
		if !stays {
			numbers[i] = -1
			continue
		}
		numbers[i] = int32(w.passages)
		w.Passage(s.lengthOf(i), starts)
		if w.numbers > 0 {
			if err := w.copyVector(s, i); err != nil {
				return nil, err
			}
		}
	}
	return numbers, nil
}
