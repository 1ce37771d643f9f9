package segment

import (
	"bytes"
	"fmt"

	"github.com/google/uuid"
)

// Combine merges segments of one profile, all of postings or all of vectors of one model. It leaves out documents that keep does not
// list in the segment's version (nil lists all), and repetitions. The result equals a
// segment built from the remaining documents.
func Combine(segments []*Segment, keep map[uuid.UUID]int64) (File, error) {
	w := NewVectorWriter(segments[0].Profile, segments[0].Numbers)
	for _, s := range segments {
		if s.Numbers != w.numbers {
			return File{}, fmt.Errorf("merge vectors of %d and of %d numbers", w.numbers, s.Numbers)
		}
	}
	seen := map[uuid.UUID]bool{}
	numbers := make([][]int32, len(segments)) // old passage → new one, -1: left out
	for i, s := range segments {
		var err error
		if numbers[i], err = w.renumber(s, keep, seen); err != nil {
			return File{}, err
		}
	}
	if w.numbers > 0 {
		return w.Finish()
	}
	readers := make([]*termReader, 0, len(segments))
	of := make([]int, 0, len(segments))
	for i, s := range segments {
		t := &termReader{s: s}
		ok, err := t.next()
		if err != nil {
			return File{}, err
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
				return File{}, err
			}
			ok, err := t.next()
			if err != nil {
				return File{}, err
			}
			if ok && bytes.Compare(t.term, term) <= 0 {
				return File{}, Damaged("terms out of order")
			}
			if !ok {
				readers, of = append(readers[:i], readers[i+1:]...), append(of[:i], of[i+1:]...)
				continue
			}
			i++
		}
		if len(list) > 0 {
			w.Term(string(term), list)
		}
	}
	return w.Finish()
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

// renumber adds the remaining passages of s and returns their new numbers, -1 for one
// that is left out.
func (w *Writer) renumber(s *Segment, keep map[uuid.UUID]int64, seen map[uuid.UUID]bool) ([]int32, error) {
	numbers := make([]int32, s.Passages)
	sets, err := s.readAllSets()
	if err != nil {
		return nil, err
	}
	given := w.setCopiers(sets)
	document, stays := -1, false
	for i := range numbers {
		starts := s.start(i)
		if starts&StartsDocument != 0 {
			document++
			id, version := s.Identity(document)
			current, ok := keep[id]
			if stays = (keep == nil || ok && current == version) && !seen[id]; stays {
				seen[id] = true
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
			w.copyVector(s, i)
		}
	}
	return numbers, nil
}
