package segment_test

import (
	"fmt"
	"testing"

	"github.com/google/uuid"

	"docent/shared/search/segment"
)

// BenchmarkCombine merges ten segments of 20,000 documents that are read in parts.
func BenchmarkCombine(b *testing.B) {
	keep := map[uuid.UUID]int64{}
	var files [][]byte
	for n := range 10 {
		w := segment.NewWriter(segment.Prose)
		terms := map[string][]segment.Posting{}
		for i := range 20_000 {
			id := uuid.NewSHA1(uuid.Nil, fmt.Append(nil, n, i))
			keep[id] = 1
			w.Document(id, 1)
			w.Passage(3, segment.StartsDocument)
			term := fmt.Sprintf("t%05d", i/5)
			terms[term] = append(terms[term], segment.Posting{Passage: uint32(i), Frequency: 1})
		}
		for i := range 4000 {
			term := fmt.Sprintf("t%05d", i)
			w.Term(term, terms[term])
		}
		f, err := w.Finish()
		if err != nil {
			b.Fatal(err)
		}
		files = append(files, f.Data)
	}
	b.ReportAllocs()
	for b.Loop() {
		own := make(map[uuid.UUID]int64, len(keep))
		b.StopTimer()
		for id, version := range keep {
			own[id] = version
		}
		b.StartTimer()
		var segments []*segment.Segment
		for _, data := range files {
			s, err := segment.OpenInOrder(b.Context(), oneFile{data: data}, "s", int64(len(data)))
			if err != nil {
				b.Fatal(err)
			}
			segments = append(segments, s)
		}
		if _, err := segment.Combine(segments, own); err != nil {
			b.Fatal(err)
		}
	}
}
