package simulate

import (
	"math"
	"time"
)

// What a search needs grows with the passages that it searches as a power of their number. These are the figures for a
// million passages and the exponents from a hundred thousand to a million, from the table "By size" in
// shared/search/MEASURED.md.
const (
	measuredPassages = 1_000_000
	bytesPerPassage  = 108
	// Documents have pages of some sections; a passage has up to 200 words.
	passagesPerDocument = 3

	coldGets, coldGetsGrowth   = 84, 0.54  // requests of a cold question: 24, then 84
	coldBytes, coldBytesGrowth = 2.1, 0.54 // MiB that it reads: 0.6, then 2.1
	rankTime, rankGrowth       = 2.4, 0.75 // ms: 0.43, then 2.4
	otherTime                  = 0.3       // ms of a search besides ranking
	// After 300 questions 51 MiB were in memory, after one 2.1: what n questions read in all grows as n to this power.
	// (It is 0.58 for a hundred thousand passages.)
	distinctGrowth = 0.56

	// By meaning in addition: processor time of docent above that by words, from the table "Compared with the other
	// engines": 1.7 ms for 10,000 passages, 3.1 for 150,000, 7.3 for a million. Sketches are scanned, so it grows as they do.
	meaningTime, meaningPerMillion = 1.9, 5.4 // ms
	vectorReads                    = 150      // nearByRange in shared/search: vectors that a question reads, each from a page of its own
	bytesPerVector                 = 388
	pageSize                       = 4 << 10

	segmentsALevel = 5 // on average: ten become one of the next
	mergeWidth     = 10
	batchDocuments = 10 // of a new segment
)

// Shape is the work of a search in an index.
type Shape struct {
	Passages int
	Segments int           // records that each question reads
	Gets     float64       // requests of a cold question
	MiB      float64       // that a cold question reads
	Compute  time.Duration // on a whole processor
	Meaning  bool          // by words and vectors
}

// ShapeOf extrapolates the measured figures to a number of documents, searched by words, or by words and meaning.
func ShapeOf(documents int, meaning bool) Shape {
	s := Shape{Passages: documents * passagesPerDocument, Meaning: meaning}
	times := float64(s.Passages) / measuredPassages
	s.Gets = max(coldGets*math.Pow(times, coldGetsGrowth), 1)
	s.MiB = coldBytes * math.Pow(times, coldBytesGrowth)
	ms := otherTime + rankTime*math.Pow(times, rankGrowth)
	if meaning {
		ms += meaningTime + meaningPerMillion*times
	}
	s.Compute = time.Duration(ms * float64(time.Millisecond))
	levels := max(math.Ceil(math.Log(float64(documents)/batchDocuments)/math.Log(mergeWidth)), 1)
	s.Segments = segmentsALevel * int(levels)
	return s
}

// Missing returns the share of a cold question's requests that the next question makes, in an environment with cache MiB
// of memory for segments that has answered n questions. The cache holds what the last questions read.
func (s Shape) Missing(n int, cache float64) float64 {
	if n == 0 {
		return 1
	}
	kept := math.Pow(max(cache/s.MiB, 1), 1/distinctGrowth) // questions whose reads fit
	if cache >= float64(s.Passages)*bytesPerPassage/(1<<20) {
		kept = math.Inf(1)
	}
	last := min(float64(n+1), kept)
	return distinctGrowth * math.Pow(max(last, 1), distinctGrowth-1)
}

// MissingVectors returns how many vectors the next question reads from the bucket, where n questions have been answered
// and every page that was read is kept. Neighbours of questions are anywhere.
func (s Shape) MissingVectors(n int) float64 {
	if !s.Meaning {
		return 0
	}
	pages := float64(s.Passages) * bytesPerVector / pageSize
	return vectorReads * math.Exp(-vectorReads*float64(n)/pages)
}
