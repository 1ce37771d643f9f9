package search_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"docent/shared/blob/dir"
	"docent/shared/search"
)

// skewed returns documents whose words have very different frequencies, so that lists have from
// one to all passages, over several windows.
func skewed(seed uint64, n int) []search.Document {
	random := rand.New(rand.NewPCG(seed, 1))
	zipf := rand.NewZipf(random, 1.2, 2, 3000)
	docs := make([]search.Document, n)
	var b strings.Builder
	for i := range docs {
		b.Reset()
		for range 1 + random.IntN(30) {
			fmt.Fprintf(&b, "%s ", word(zipf.Uint64()))
		}
		id := uuid.NewSHA1(uuid.NameSpaceOID, []byte(b.String())) // the same texts, the same id: ties
		docs[i] = search.Document{ID: id, Version: int64(random.IntN(3)), Source: "wiki", Space: search.Messages, Body: b.String()}
	}
	return docs
}

// word returns a name for a number.
func word(n uint64) string {
	var b []byte
	for n += 1; n > 0; n /= 60 {
		b = append(b, "bdgklmnprstv"[n%12], "aiou"[n/12%4]) // 48 of 60 syllables are distinct
		b = append(b, "kmx"[n/48%3])
	}
	return string(b)
}

func skewedQuestion(random *rand.Rand, zipf *rand.Zipf) string {
	words := make([]string, 1+random.IntN(8))
	for i := range words {
		words[i] = word(zipf.Uint64())
		if random.IntN(3) == 0 {
			words[i] = word(uint64(random.IntN(3000)))
		}
	}
	return strings.Join(words, " ")
}

func TestPruningChangesNoRanking(t *testing.T) {
	t.Parallel()
	var files [][]byte
	for i, n := range []int{9_000, 1, 4097, 300} {
		f, err := search.BuildSegment(search.Messages, skewed(uint64(i), n))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	for _, c := range []struct {
		name  string
		files [][]byte
	}{{"one segment", files[:1]}, {"several", files}, {"small first", [][]byte{files[3], files[1], files[0]}}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r, err := search.OpenFiles(c.files...)
			if err != nil {
				t.Fatal(err)
			}
			random := rand.New(rand.NewPCG(7, 7))
			zipf := rand.NewZipf(random, 1.2, 2, 3000)
			read, of := 0, 0
			for range 200 {
				question, n := skewedQuestion(random, zipf), []int{1, 2, 10, 100, 20_000}[random.IntN(5)]
				want, err := r.Plain(question, n)
				if err != nil {
					t.Fatal(err)
				}
				got, some, all, err := r.Best(t.Context(), question, n)
				if err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(got, want) {
					t.Fatalf("%q, best %d:\n%v\nwant\n%v", question, n, got, want)
				}
				if n <= 10 {
					read, of = read+some, of+all
				}
			}
			if read*10 > of*9 {
				t.Errorf("%d of %d postings were read: nothing is skipped", read, of)
			}
		})
	}
}

func TestRangedAndWholeRankAlike(t *testing.T) {
	t.Parallel()
	data, err := search.BuildSegment(search.Messages, skewed(1, 9000))
	if err != nil {
		t.Fatal(err)
	}
	blobs, err := dir.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := blobs.Put(t.Context(), "s", data); err != nil {
		t.Fatal(err)
	}
	whole, err := search.OpenFiles(data)
	if err != nil {
		t.Fatal(err)
	}
	for _, cache := range []int64{0, 20_000, 1 << 20} { // nothing fits, some, all
		t.Run(fmt.Sprint("cache of ", cache), func(t *testing.T) {
			t.Parallel()
			ranged, err := search.OpenRanged(t.Context(), blobs, "s", int64(len(data)), cache)
			if err != nil {
				t.Fatal(err)
			}
			random := rand.New(rand.NewPCG(9, 9))
			zipf := rand.NewZipf(random, 1.2, 2, 3000)
			for range 100 {
				question := skewedQuestion(random, zipf)
				want, _, _, err := whole.Best(t.Context(), question, 50)
				if err != nil {
					t.Fatal(err)
				}
				got, _, _, err := ranged.Best(t.Context(), question, 50)
				if err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(got, want) {
					t.Fatalf("%q:\n%v\nwant\n%v", question, got, want)
				}
			}
		})
	}
}
