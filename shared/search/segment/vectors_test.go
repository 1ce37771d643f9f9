package segment_test

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"docent/shared/search/segment"
	"docent/shared/search/segment/segmenttest"
)

const numbers = 128 // of a vector in these tests

// vectorOf returns a vector of length 1 that depends on seed alone.
func vectorOf(seed uint64) []float32 {
	r := rand.New(rand.NewPCG(seed, 1))
	v, sum := make([]float32, numbers), 0.0
	for i := range v {
		v[i] = float32(r.NormFloat64())
		sum += float64(v[i]) * float64(v[i])
	}
	for i := range v {
		v[i] /= float32(math.Sqrt(sum))
	}
	return v
}

// seedOf returns the seed of the vector of a passage.
func seedOf(d document, passage int) uint64 {
	return uint64(d.id[0])<<32 + uint64(d.version)<<16 + uint64(passage)
}

// buildVectors returns the file of a segment of vectors. A document with two passages or more has a
// chunk for every second passage.
func buildVectors(t fataler, docs []document) []byte {
	w := segment.NewVectorWriter(segment.Prose, numbers)
	for _, d := range docs {
		d.begin(w)
		for i := range d.passages {
			starts := byte(0)
			if i == 0 {
				starts = segment.StartsDocument
			}
			if i%2 == 0 && len(d.passages) > 1 {
				starts |= segment.StartsChunk
			}
			w.Passage(0, starts)
			w.Vector(segment.Quantise(vectorOf(seedOf(d, i))))
		}
	}
	f, err := w.Finish()
	if err != nil {
		t.Fatalf("finish: %v", err)
	}
	return f.Data
}

func TestVectorsAreFoundByTheirPlace(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		docs := someDocuments(rt)
		s, err := segment.Open(buildVectors(rt, docs))
		if err != nil {
			rt.Fatal(err)
		}
		if err := s.Check(); err != nil {
			rt.Fatal(err)
		}
		for _, d := range docs {
			for i := range d.passages {
				chunk, within := 0, i
				if len(d.passages) > 1 {
					chunk, within = i/2+1, i%2
				}
				at, ok := s.PassageOf(d.id, d.version, chunk, within)
				if !ok {
					rt.Fatalf("passage %d of %d in chunk %d, %d is not found", i, len(d.passages), chunk, within)
				}
				scale, values, err := s.VectorAt(at)
				if err != nil {
					rt.Fatal(err)
				}
				for j, want := range vectorOf(seedOf(d, i)) {
					if got := scale * float32(values[j]); math.Abs(float64(got-want)) > float64(scale)/2+1e-6 {
						rt.Fatalf("number %d of passage %d is %v, want %v", j, i, got, want)
					}
				}
			}
			if _, ok := s.PassageOf(d.id, d.version+1, 0, 0); ok {
				rt.Fatal("another version is found")
			}
			if _, ok := s.PassageOf(d.id, d.version, len(d.passages)/2+2, 0); ok {
				rt.Fatal("a chunk after the last is found")
			}
		}
		if _, ok := s.PassageOf(uuid.New(), 1, 0, 0); ok {
			rt.Fatal("an unknown document is found")
		}
	})
}

func TestMergedVectorsEqualOnesBuiltWhole(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		docs := someDocuments(rt)
		keep, kept := map[uuid.UUID]int64{}, []document(nil)
		for _, d := range docs {
			if rapid.Bool().Draw(rt, "stays") {
				keep[d.id], kept = d.version, append(kept, d)
			}
		}
		half := len(docs) / 2
		got, err := combine(rt, keep, buildVectors(rt, docs[:half]), buildVectors(rt, docs[half:]))
		if err != nil {
			rt.Fatal(err)
		}
		if want := buildVectors(rt, kept); !bytes.Equal(got, want) {
			rt.Fatalf("%d bytes merged, %d built whole", len(got), len(want))
		}
	})
}

func TestVectorsAndPostingsAreNotMerged(t *testing.T) {
	t.Parallel()
	docs := []document{{id: uuid.UUID{1}, version: 1, passages: []string{"zebra"}}}
	if _, err := combine(t, nil, build(t, docs), buildVectors(t, docs)); err == nil {
		t.Error("merged")
	}
}

func vectorSample(t fataler) []byte {
	var docs []document
	for i := range 20 {
		docs = append(docs, document{id: uuid.UUID{byte(i + 1)}, version: 1, passages: slices.Repeat([]string{"zebra"}, 1+i%3)})
	}
	return buildVectors(t, docs)
}

func TestEveryDamagedByteOfVectorsIsNoticed(t *testing.T) {
	t.Parallel()
	data := vectorSample(t)
	if _, documents, err := readAll(data); err != nil || documents != 20 {
		t.Fatalf("%d documents: %v", documents, err)
	}
	for i := range data {
		data[i] ^= 0x10
		if _, _, err := readAll(data); err == nil {
			t.Errorf("byte %d of %d is changed without an error", i, len(data))
		}
		data[i] ^= 0x10
		if _, _, err := readAll(data[:i]); err == nil {
			t.Errorf("cut after byte %d of %d without an error", i, len(data))
		}
	}
}

// FuzzVectors reads segments of vectors with correct checksums and arbitrary content.
func FuzzVectors(f *testing.F) {
	f.Add(vectorSample(f), uint8(3))
	f.Add(vectorSetSample(f), uint8(3))
	f.Add([]byte("DSEG"), uint8(0))
	f.Fuzz(func(_ *testing.T, data []byte, id uint8) {
		_, _, _ = readAll(data) // must return
		s, err := segment.Open(segmenttest.Reseal(slices.Clone(data)))
		if err != nil || s.Numbers == 0 {
			return
		}
		_ = s.Check()
		s.PassageOf(uuid.UUID{id}, 1, 1, 1)
		for i := range s.Passages {
			_, _, _ = s.VectorAt(i)
			s.Sketch(i)
		}
	})
}

func TestTheEstimateIsTheSumOfTheNumbersWithTheSignsOfTheSketch(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.IntRange(1, 6).Draw(t, "words")
		v := segment.Vector{Values: make([]int8, 64*words)}
		for i := range v.Values {
			v.Values[i] = rapid.Int8().Draw(t, "number")
		}
		sketch := rapid.SliceOfN(rapid.Uint64(), words, words).Draw(t, "sketch")
		want := int32(0)
		for i, x := range v.Values {
			if sketch[i/64]>>(i%64)&1 != 0 {
				want += int32(x)
			} else {
				want -= int32(x)
			}
		}
		if got := v.Estimator().Of(sketch); got != want {
			t.Fatalf("estimated %d, want %d", got, want)
		}
	})
}
