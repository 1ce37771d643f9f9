package search

import (
	"bytes"

	"github.com/google/uuid"
)

// combine makes one segment of several of one profile. Documents that keep does
// not hold in the segment's version are left out (nil holds all), and so is one that
// was in a segment before. The result is what building it whole from the rest would give.
func combine(segments []*segment, keep map[uuid.UUID]int64) (built, error) {
	w := newWriter(segments[0].profile)
	seen := map[uuid.UUID]bool{}
	numbers := make([][]int32, len(segments)) // old passage → new one, -1: left out
	for i, s := range segments {
		numbers[i] = w.renumber(s, keep, seen)
	}
	readers := make([]*termReader, 0, len(segments))
	of := make([]int, 0, len(segments))
	for i, s := range segments {
		t := &termReader{s: s}
		ok, err := t.next()
		if err != nil {
			return built{}, err
		}
		if ok {
			readers, of = append(readers, t), append(of, i)
		}
	}
	var term []byte
	var list []posting
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
			err := t.list.each(func(passage int, frequency uint32) {
				if n := own[passage]; n >= 0 {
					list = append(list, posting{uint32(n), frequency})
				}
			})
			if err != nil {
				return built{}, err
			}
			ok, err := t.next()
			if err != nil {
				return built{}, err
			}
			if ok && bytes.Compare(t.term, term) <= 0 {
				return built{}, damaged("terms out of order")
			}
			if !ok {
				readers, of = append(readers[:i], readers[i+1:]...), append(of[:i], of[i+1:]...)
				continue
			}
			i++
		}
		if len(list) > 0 {
			w.term(string(term), list)
		}
	}
	return w.finish()
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

// renumber numbers the passages of s that stay.
func (w *writer) renumber(s *segment, keep map[uuid.UUID]int64, seen map[uuid.UUID]bool) []int32 {
	numbers := make([]int32, s.passages)
	document, stays := -1, false
	for i := range numbers {
		starts := s.start(i)
		if starts&startsDocument != 0 {
			document++
			id, version := s.identity(document)
			current, ok := keep[id]
			if stays = (keep == nil || ok && current == version) && !seen[id]; stays {
				seen[id] = true
				w.document(id, version)
			}
		}
		if !stays {
			numbers[i] = -1
			continue
		}
		numbers[i] = int32(w.passages)
		w.passage(int(s.length(i)), starts)
	}
	return numbers
}
