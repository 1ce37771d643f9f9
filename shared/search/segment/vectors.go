package segment

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"unsafe"

	"github.com/google/uuid"
)

// Bounds of vectors.
const (
	numbersPerUnit = 64   // the head counts the numbers of a vector in these
	maxNumbers     = 4096 // of a vector
	scaleBytes     = 4
)

// Vector is a vector of length 1 as a segment stores it. Number i is about
// Scale * Values[i]. Its sketch has the sign of each number.
type Vector struct {
	Scale  float32
	Values []int8
	Sketch []uint64 // bit i is 1 if number i is positive
}

// Quantise returns v as a segment stores it. v must have a multiple of 64 numbers, at
// most 4,096, and be finite.
func Quantise(v []float32) Vector {
	most := float32(0)
	for _, x := range v {
		most = max(most, x, -x)
	}
	q := Vector{Scale: most / math.MaxInt8, Values: make([]int8, len(v)), Sketch: make([]uint64, len(v)/numbersPerUnit)}
	for i, x := range v {
		if most > 0 {
			q.Values[i] = int8(math.Round(float64(x / q.Scale)))
		}
		if x > 0 {
			q.Sketch[i/64] |= 1 << (i % 64)
		}
	}
	return q
}

// checkNumbers returns an error if a segment cannot contain vectors of this many numbers.
func checkNumbers(n int) error {
	if n <= 0 || n > maxNumbers || n%numbersPerUnit != 0 {
		return fmt.Errorf("vectors of %d numbers: not a multiple of %d up to %d", n, numbersPerUnit, maxNumbers)
	}
	return nil
}

// NewVectorWriter returns a Writer of an empty segment of vectors of this many numbers.
// It has no terms: after each Passage comes its Vector.
func NewVectorWriter(p Profile, numbers int) *Writer {
	w := NewWriter(p)
	w.numbers = numbers
	return w
}

// Vector adds the vector of the last passage.
func (w *Writer) Vector(v Vector) {
	for _, word := range v.Sketch {
		w.sketches = binary.LittleEndian.AppendUint64(w.sketches, word)
	}
	w.vectors = binary.LittleEndian.AppendUint32(w.vectors, math.Float32bits(v.Scale))
	for _, x := range v.Values {
		w.vectors = append(w.vectors, byte(x))
	}
}

// copyVector adds the vector of a passage of s for the last passage.
func (w *Writer) copyVector(s *Segment, passage int) error {
	sketch, vector := int64(s.Numbers/8), int64(scaleBytes+s.Numbers)
	b, err := s.bytes(secSketches, int64(passage)*sketch, sketch)
	if err != nil {
		return err
	}
	w.sketches = append(w.sketches, b...)
	if b, err = s.bytes(secVectors, int64(passage)*vector, vector); err != nil {
		return err
	}
	w.vectors = append(w.vectors, b...)
	return nil
}

// vectorParts are the parts of a segment of vectors that are always in memory.
type vectorParts struct {
	sketches []uint64 // Numbers / 64 for each passage
	names    Names
	firsts   []uint32 // first passage by document
	slots    []uint32 // a hash table of document numbers + 1, by id; 0: free
}

// layOutVectors checks the sizes of the sections of vectors.
func (s *Segment) layOutVectors() error {
	if err := checkNumbers(s.Numbers); err != nil {
		return Damaged("%v", err)
	}
	if s.sections[secSketches].size != int64(s.Numbers/8*s.Passages) || s.sections[secVectors].size != int64((scaleBytes+s.Numbers)*s.Passages) {
		return Damaged("sections of %d vectors of %d numbers", s.Passages, s.Numbers)
	}
	return nil
}

// openVectors takes the parts that are always in memory.
func (s *Segment) openVectors(sketches, documents []byte) {
	p := &vectorParts{sketches: make([]uint64, len(sketches)/8), names: documents, firsts: make([]uint32, 0, s.Documents)}
	for i := range p.sketches {
		p.sketches[i] = binary.LittleEndian.Uint64(sketches[8*i:])
	}
	for i := range s.Passages {
		if s.start(i)&StartsDocument != 0 {
			p.firsts = append(p.firsts, uint32(i))
		}
	}
	size := 16
	for size < 2*s.Documents {
		size *= 2
	}
	p.slots = make([]uint32, size)
	for d := range s.Documents {
		id, _ := p.names.At(d)
		at := slotOf(id, size)
		for p.slots[at] != 0 {
			at = (at + 1) % size
		}
		p.slots[at] = uint32(d) + 1
	}
	s.vectors = p
	s.size += 8*len(p.sketches) + 4*len(p.firsts) + 4*len(p.slots)
}

// slotOf returns the first place to look for a document in a hash table. The last bytes of ids
// are random or a hash.
func slotOf(id uuid.UUID, size int) int {
	return int(binary.LittleEndian.Uint64(id[8:])*0x9e3779b97f4a7c15>>32) % size
}

// Sketches returns the sketches of all passages, Numbers / 64 words each. The caller must not
// change them.
func (s *Segment) Sketches() []uint64 { return s.vectors.sketches }

// Sketch returns the sketch of a passage. The caller must not change it.
func (s *Segment) Sketch(passage int) []uint64 {
	words := s.Numbers / 64
	return s.vectors.sketches[passage*words:][:words]
}

// Estimator estimates from sketches how near vectors are to one vector.
type Estimator struct {
	planes [][8]uint64 // for each word of a sketch, the bits of the vector's numbers: first the lowest, last those of the sign
	sum    int32       // of the vector's numbers
}

// Estimator returns the estimator of distances to v.
func (v Vector) Estimator() *Estimator {
	e := &Estimator{planes: make([][8]uint64, len(v.Values)/64)}
	for i, x := range v.Values {
		e.sum += int32(x)
		for b := range 8 {
			e.planes[i/64][b] |= uint64(uint8(x)) >> b & 1 << (i % 64)
		}
	}
	return e
}

// Of returns a number that grows with the dot product of the estimator's vector and one with this
// sketch: the sum of its numbers, each with the sign in the sketch.
func (e *Estimator) Of(sketch []uint64) int32 {
	positive := 0 // the sum of the numbers whose bit is set
	for i, word := range sketch {
		p := &e.planes[i]
		positive += bits.OnesCount64(word&p[0]) + bits.OnesCount64(word&p[1])<<1 + bits.OnesCount64(word&p[2])<<2 + bits.OnesCount64(word&p[3])<<3 +
			bits.OnesCount64(word&p[4])<<4 + bits.OnesCount64(word&p[5])<<5 + bits.OnesCount64(word&p[6])<<6 - bits.OnesCount64(word&p[7])<<7
	}
	return 2*int32(positive) - e.sum
}

// Named returns the id and version of a document by its number. Only a segment of vectors
// has them in memory.
func (s *Segment) Named(document int) (uuid.UUID, int64) { return s.vectors.names.At(document) }

// PassageOf returns the number of the passage at a place of a document version, as Place
// returns it, or false if the segment does not contain it.
func (s *Segment) PassageOf(id uuid.UUID, version int64, chunk, within int) (int, bool) {
	p := s.vectors
	for at := slotOf(id, len(p.slots)); p.slots[at] != 0; at = (at + 1) % len(p.slots) {
		d := int(p.slots[at]) - 1
		if named, v := p.names.At(d); named != id || v != version {
			continue
		}
		first, end := int(p.firsts[d]), s.Passages
		if d+1 < len(p.firsts) {
			end = int(p.firsts[d+1])
		}
		passage := s.chunkStart(first, end, chunk) + within
		if passage >= end {
			return 0, false
		}
		c, w := s.Place(passage)
		return passage, c == chunk && w == within
	}
	return 0, false
}

// chunkStart returns the first passage of a chunk of the document with the passages [first, end).
func (s *Segment) chunkStart(first, end, chunk int) int {
	if chunk <= 1 {
		return first
	}
	n := 0
	for i := first; i < end; i++ {
		if s.start(i)&StartsChunk != 0 {
			if n++; n == chunk {
				return i
			}
		}
	}
	return end
}

// FetchVectors reads the vectors of passages in one round.
func (s *Segment) FetchVectors(passages []int) error {
	if s.pages == nil {
		return nil
	}
	size := int64(scaleBytes + s.Numbers)
	spans := make([]span, len(passages))
	for i, p := range passages {
		spans[i] = s.span(secVectors, int64(p)*size, size)
	}
	return s.pages.fetch(spans, spreadJoin)
}

// VectorAt returns the scale and the values of the vector of a passage. The caller must not
// change the values.
func (s *Segment) VectorAt(passage int) (scale float32, values []int8, err error) {
	size := int64(scaleBytes + s.Numbers)
	b, err := s.bytes(secVectors, int64(passage)*size, size)
	if err != nil {
		return 0, nil, err
	}
	scale = math.Float32frombits(binary.LittleEndian.Uint32(b))
	if !(scale >= 0 && scale <= 1) {
		return 0, nil, Damaged("scale of vector %d", passage)
	}
	return scale, unsafe.Slice((*int8)(unsafe.Pointer(&b[scaleBytes])), s.Numbers), nil //nolint:gosec // a byte is an int8
}

// checkVectors reads all vectors and compares them with their sketches.
func (s *Segment) checkVectors() error {
	words := s.Numbers / 64
	for p := range s.Passages {
		_, values, err := s.VectorAt(p)
		if err != nil {
			return err
		}
		sketch := s.vectors.sketches[p*words:][:words]
		for i, x := range values {
			// A number that is rounded to 0 may have either sign.
			if positive := sketch[i/64]>>(i%64)&1 != 0; x > 0 && !positive || x < 0 && positive {
				return Damaged("sketch of vector %d", p)
			}
		}
	}
	return nil
}
