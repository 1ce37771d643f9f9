package segment_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"docent/shared/blob"
	"docent/shared/search/segment"
	"docent/shared/search/segment/segmenttest"
)

// someSets draws the sets of a document: none, empty ones, or of a few entries.
func someSets(rt *rapid.T) (sets [2][]string) {
	for k := range sets {
		if rapid.Bool().Draw(rt, "has a set") {
			sets[k] = append([]string{}, rapid.SliceOfN(rapid.SampledFrom([]string{"", "u:ada", "u:eve", "g:engineering", "product\x00\"api\""}), 0, 4).Draw(rt, "entries")...)
		}
	}
	return sets
}

// setSamples are the documents of a file whose sets are longer than a page.
func setSamples() (docs []document) {
	for i := range 300 {
		d := document{id: uuid.UUID{byte(i >> 8), byte(i)}, version: 1, passages: []string{fmt.Sprintf("zebra w%d", i%50)}}
		if i%3 > 0 {
			d.sets[segment.Access] = []string{fmt.Sprintf("u:somebody %d", i), "g:engineering"}
		}
		if i%2 > 0 {
			d.sets[segment.Metadata] = []string{fmt.Sprintf("version\x00%d", i%7)}
		}
		docs = append(docs, d)
	}
	return docs
}

func setSample(t fataler) []byte { return build(t, setSamples()) }

func vectorSetSample(t fataler) []byte { return buildVectors(t, setSamples()[:30]) }

// oneFile is a blob store of one file under any name, read by range only.
type oneFile struct {
	blob.Store
	data []byte
}

func (f oneFile) GetRange(_ context.Context, _ string, offset, length int64) ([]byte, error) {
	if offset < 0 || length < 0 || offset > int64(len(f.data)) || length > int64(len(f.data))-offset {
		return nil, blob.ErrInvalid
	}
	return f.data[offset : offset+length], nil
}

// bothWays opens a file whole and by range.
func bothWays(ctx context.Context, data []byte) (map[string]*segment.Segment, error) {
	whole, err := segment.Open(data)
	if err != nil {
		return nil, err
	}
	ranged, err := segment.OpenRanged(ctx, oneFile{data: data}, "s", int64(len(data)), segment.NewCache(1<<20, 0))
	if err != nil {
		return nil, fmt.Errorf("by range: %w", err)
	}
	return map[string]*segment.Segment{"whole": whole, "by range": ranged.View(ctx)}, nil
}

// canonical returns entries as a segment has them.
func canonical(entries []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(entries)))
}

func TestSetsAreReadAsWritten(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		docs := someDocuments(rt)
		opened, err := bothWays(t.Context(), build(rt, docs))
		if err != nil {
			rt.Fatal(err)
		}
		for how, s := range opened {
			any := slices.ContainsFunc(docs, func(d document) bool { return d.sets[0] != nil || d.sets[1] != nil })
			if s.HasSets() != any {
				rt.Fatalf("%s: has sets: %v, want %v", how, s.HasSets(), any)
			}
			for k := range docs[0].sets {
				sets, err := s.Sets(segment.Kind(k))
				if err != nil || (sets != nil) != any {
					rt.Fatalf("%s: %v, %v", how, sets, err)
				}
				distinct := map[string]bool{}
				for i, d := range docs {
					if d.sets[k] == nil {
						if sets != nil && sets.Of(i) != -1 {
							rt.Fatalf("%s: document %d has set %d of kind %d", how, i, sets.Of(i), k)
						}
						continue
					}
					got := []string{}
					for _, place := range sets.Set(sets.Of(i)) {
						got = append(got, sets.Entries[place])
					}
					if want := canonical(d.sets[k]); !slices.Equal(got, want) {
						rt.Fatalf("%s: document %d has %q, want %q", how, i, got, want)
					}
					distinct[fmt.Sprintf("%q", got)] = true
				}
				if sets != nil && sets.Count() != len(distinct) {
					rt.Fatalf("%s: %d sets, want %d", how, sets.Count(), len(distinct))
				}
			}
		}
	})
}

// Older programs read these files.
func TestFilesWithoutSetsAreAsBefore(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"postings": {sample(t), "b11dbe290db245c33ea0e5bc4e6160359a1c64418963d807efc94863c1dba296"},
		"vectors":  {vectorSample(t), "ba8119d0b99f8af812e653d364cb3f2afe4fe2e9bb129c553a9b2bd47747c100"},
	} {
		c.data[5] = 0 // the version of the analysis
		if got := fmt.Sprintf("%x", sha256.Sum256(segmenttest.Reseal(c.data))); got != c.want {
			t.Errorf("%s: the file has the sum %s, want %s", name, got, c.want)
		}
	}
}

func TestFormatsTellWhetherThereAreSets(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		vectors, sets bool
		want          byte
	}{
		{false, false, segment.FormatVersion}, {true, false, segment.VectorFormat},
		{false, true, segment.SetsFormat}, {true, true, segment.VectorSetsFormat},
	} {
		w := segment.NewWriter(segment.Prose)
		if c.vectors {
			w = segment.NewVectorWriter(segment.Prose, numbers)
		}
		w.Document(uuid.UUID{1}, 1)
		if c.sets {
			w.Set(segment.Access, []string{})
		}
		w.Passage(0, segment.StartsDocument)
		if c.vectors {
			w.Vector(segment.Quantise(vectorOf(1)))
		}
		f, err := w.Finish()
		if err != nil || f.Format != c.want || f.Data[4] != c.want {
			t.Errorf("%+v: format %d, in the file %d, %v", c, f.Format, f.Data[4], err)
		}
	}
}

func TestSetsAreGoneWithTheirDocuments(t *testing.T) {
	t.Parallel()
	plain := document{id: uuid.UUID{1}, version: 1, passages: []string{"zebra"}}
	closed := document{id: uuid.UUID{2}, version: 1, passages: []string{"lion"}, sets: [2][]string{{}, nil}}
	got, err := combine(t, map[uuid.UUID]int64{plain.id: 1}, build(t, []document{plain}), build(t, []document{closed}))
	if err != nil || !bytes.Equal(got, build(t, []document{plain})) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

// TestAViewHasOnlyWhatIsAdmitted compares a view of some documents with all postings of the segment.
func TestAViewHasOnlyWhatIsAdmitted(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		var docs []document
		for i := range rapid.IntRange(1, 900).Draw(rt, "documents") {
			docs = append(docs, document{id: uuid.UUID{byte(i >> 8), byte(i)}, version: 1, passages: []string{strings.Repeat("all ", 1+i%131/130*8), fmt.Sprint("all all some", i%5, " few", i%100)}})
		}
		run := rapid.IntRange(1, 400).Draw(rt, "run")
		admits := func(d int) bool { return d/run%2 == 0 || d%7 == 3 }
		opened, err := bothWays(t.Context(), build(rt, docs))
		if err != nil {
			rt.Fatal(err)
		}
		for how, s := range opened {
			a, err := s.Admit(admits)
			if err != nil {
				rt.Fatal(err)
			}
			v := s.Only(a)
			passages, lengths := 0, 0
			for i := range 2 * len(docs) {
				if v.Admits(i) != admits(i/2) {
					rt.Fatalf("%s: passage %d is admitted: %v", how, i, v.Admits(i))
				}
				if admits(i / 2) {
					passages, lengths = passages+1, lengths+int(s.Length(i))
				}
			}
			if n, sum := v.Statistics(); n != passages || int(sum) != lengths {
				rt.Fatalf("%s: %d passages of %d terms, want %d of %d", how, n, sum, passages, lengths)
			}
			last := 0
			for from, to := range v.Stretches() {
				for i := last; i < from; i++ {
					if v.Admits(i) {
						rt.Fatalf("%s: passage %d is in no stretch", how, i)
					}
				}
				last = to
			}
			for i := last; i < 2*len(docs); i++ {
				if v.Admits(i) {
					rt.Fatalf("%s: passage %d is in no stretch", how, i)
				}
			}
			// The first time the postings are counted, the second time the count is known.
			for _, term := range []string{"all", "some3", "few42", "missing", "all", "some3", "few42", "missing"} {
				if err := compareList(s, v, term, func(passage int) bool { return admits(passage / 2) }); err != nil {
					rt.Fatalf("%s, %s: %v", how, term, err)
				}
			}
		}
	})
}

// compareList compares the list of a term in a view with the postings in s that are admitted.
func compareList(s, v *segment.Segment, term string, admitted func(passage int) bool) error {
	all, err := s.Find(term)
	if err == nil {
		err = s.Load([]*segment.List{&all})
	}
	if err != nil {
		return err
	}
	var want []segment.Posting
	if err := all.Each(func(passage int, frequency uint32) {
		if admitted(passage) {
			want = append(want, segment.Posting{Passage: uint32(passage), Frequency: frequency})
		}
	}); err != nil {
		return err
	}
	l, err := v.Find(term)
	if err != nil {
		return err
	}
	found, err := v.Findable([]segment.List{l})
	if err != nil {
		return err
	}
	if found[0] != (len(want) > 0) {
		return fmt.Errorf("findable %v, want %v", found, len(want) > 0)
	}
	if v.Restricted() && l.DF > 0 {
		if err := l.Each(func(int, uint32) {}); err == nil || l.Loaded() {
			return errors.New("the postings of all passages can be read")
		}
	}
	if err := v.Load([]*segment.List{&l}); err != nil {
		return err
	}
	var got []segment.Posting
	if err := l.Each(func(passage int, frequency uint32) {
		got = append(got, segment.Posting{Passage: uint32(passage), Frequency: frequency})
	}); err != nil {
		return err
	}
	if l.DF != len(want) || !slices.Equal(got, want) {
		return fmt.Errorf("%d postings %v, want %v", l.DF, got, want)
	}
	blocks, err := l.Blocks(nil)
	if err != nil {
		return err
	}
	var d segment.Decoded
	for i := range blocks {
		b := &blocks[i]
		if err := d.Decode(b, s.Passages); err != nil {
			return err
		}
		for k := range d.N {
			p := int(d.Passages[k])
			if b.Last >= 0 && (p <= b.Previous || p > b.Last || d.Frequencies[k] > b.Highest || v.Length(p) < b.Lowest) {
				return fmt.Errorf("posting of passage %d is outside the bounds of its block %+v", p, *b)
			}
		}
	}
	return nil
}

func TestEveryDamagedByteOfSetsIsNoticed(t *testing.T) {
	t.Parallel()
	for name, data := range map[string][]byte{"postings": setSample(t), "vectors": vectorSetSample(t)} {
		if _, _, err := readAll(data); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for i := range data {
			data[i] ^= 0x10
			if _, _, err := readAll(data); err == nil {
				t.Errorf("%s: byte %d of %d is changed without an error", name, i, len(data))
			}
			data[i] ^= 0x10
		}
	}
}

// FuzzSets reads sections of sets with correct checksums and arbitrary content, whole and by range.
func FuzzSets(f *testing.F) {
	small := []document{{id: uuid.UUID{1}, version: 1, passages: []string{"zebra"}, sets: [2][]string{{"u:ada"}, {"a\x001", "b\x002"}}}, {id: uuid.UUID{2}, version: 1, passages: []string{"lion"}}}
	for _, data := range [][]byte{build(f, small), buildVectors(f, small), setSample(f)} {
		f.Add(data, uint(len(data)/2), []byte{1, 0})
	}
	f.Fuzz(func(t *testing.T, data []byte, at uint, patch []byte) {
		data = slices.Clone(data)
		if len(data) > 0 {
			copy(data[at%uint(len(data)):], patch)
		}
		data = segmenttest.Reseal(data)
		opened, err := bothWays(t.Context(), data)
		if err != nil {
			if whole, wholeErr := segment.Open(data); wholeErr == nil {
				t.Fatalf("%d passages open whole, not %v", whole.Passages, err)
			}
			return
		}
		for k := range segment.Metadata + 1 {
			var entries []string
			for how, s := range opened {
				sets, err := s.Sets(k)
				if err != nil && !errors.Is(err, segment.ErrDamaged) {
					t.Fatalf("%s: %v", how, err)
				}
				if err != nil || sets == nil {
					continue
				}
				for d := range s.Documents {
					if n := sets.Of(d); n >= 0 {
						for _, place := range sets.Set(n) {
							_ = sets.Entries[place]
						}
					}
				}
				if entries != nil && !slices.Equal(entries, sets.Entries) {
					t.Fatalf("%s: entries %q, the other way %q", how, sets.Entries, entries)
				}
				entries = sets.Entries
			}
		}
		if _, _, err := readAll(data); err == nil {
			if _, err := combine(t, nil, data); err != nil {
				t.Errorf("reads well and does not merge: %v", err)
			}
		}
	})
}
