package search_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"docent/shared/access"
	"docent/shared/blob"
	"docent/shared/search"
	"docent/shared/table"
)

// largeIndex returns an index with one segment of some hundred kilobytes, read by range, and a
// second one of one document.
func largeIndex(t *testing.T) (*search.Index, *library) {
	t.Helper()
	x, lib, _ := newIndex(t)
	x.ReadByRange(10_000)
	publish(t, x, lib, newZipfText().docs(3000, 30)...)
	publish(t, x, lib, doc("wiki", "small", "zebra", 1))
	return x, lib
}

// again returns an index on the same stores with nothing in memory.
func again(x *search.Index, cache int64) *search.Index {
	return &search.Index{Table: x.Table, Blobs: x.Blobs, Corpus: x.Corpus, Now: x.Now, NewID: x.NewID, OnFault: x.OnFault, CacheBytes: cache,
		Embedder: x.Embedder, Model: x.Model}
}

func TestLargeSegmentsAnswerAsSmallOnes(t *testing.T) {
	t.Parallel()
	whole, _ := largeIndex(t)
	whole.ReadByRange(1 << 30)
	ranged := again(whole, 50_000)
	ranged.ReadByRange(10_000)
	blobs := &counting{Store: whole.Blobs}
	ranged.Blobs = blobs
	text := newZipfText()
	var g sync.WaitGroup
	for range 4 { // at the same time, over one small cache
		var questions []search.Query
		for i := range 15 {
			questions = append(questions, search.Query{Reader: access.Everything(), Text: text.words(1 + i%6), Limit: []int{3, 10, 200}[i%3]})
		}
		g.Go(func() {
			for _, q := range questions {
				want, err := whole.Search(t.Context(), team, q)
				if err != nil {
					t.Error(err)
				}
				got, err := ranged.Search(t.Context(), team, q)
				if err != nil {
					t.Error(err)
				}
				if !slices.Equal(plain(got), plain(want)) {
					t.Errorf("%q by range:\n%v\nwhole:\n%v", q.Text, plain(got), plain(want))
				}
			}
		})
	}
	g.Wait()
	// The 4 pages of a dictionary block at most, the lists, the ids: not the file.
	blobs.bytes.Store(0)
	cold := again(ranged, 0)
	cold.ReadByRange(10_000)
	ask(t, cold, search.Query{Text: "zebra"})
	if n := blobs.bytes.Load(); n == 0 || n > 200_000 {
		t.Errorf("a cold query read %d bytes", n)
	}
	blobs.requests.Store(0)
	ask(t, cold, search.Query{Text: "zebra"})
	if n := blobs.requests.Load(); n != 0 {
		t.Errorf("the same query again read blobs %d times", n)
	}
}

// TestIgnoredTermsOfAQuestionReadNothing: the terms of a question beyond the bound are ignored, so no block of a dictionary is read for them.
func TestIgnoredTermsOfAQuestionReadNothing(t *testing.T) {
	t.Parallel()
	made, _ := largeIndex(t)
	read := func(question string) int64 {
		cold := again(made, 0)
		cold.ReadByRange(10_000)
		blobs := &counting{Store: made.Blobs}
		cold.Blobs = blobs
		ask(t, cold, search.Query{Text: question})
		return blobs.bytes.Load()
	}
	var many strings.Builder
	for n := range search.MaxQuestionTerms {
		fmt.Fprintf(&many, "zz%d ", n) // all at one place of the dictionary
	}
	bound := read(many.String())
	if got := read(many.String() + newZipfText().words(1000)); got != bound {
		t.Errorf("%d bytes for a question of 1,000 more words, %d without them", got, bound)
	}
}

// TestPagesDoNotDisplaceTheParts: what every query of a large segment needs has a bound of its own, so
// that reading pages does not make the next query open the segment again.
func TestPagesDoNotDisplaceTheParts(t *testing.T) {
	t.Parallel()
	made, _ := largeIndex(t)
	own := again(made, 20_000)
	own.PartsBytes = 1 << 20
	own.ReadByRange(10_000)
	blobs := &counting{Store: made.Blobs}
	own.Blobs = blobs
	ask(t, own, search.Query{Text: "zebra"})
	text, opened := newZipfText(), int64(0)
	for range 10 {
		ask(t, own, search.Query{Text: text.words(6)})
		blobs.requests.Store(0)
		ask(t, own, search.Query{Text: "nowhereword"})
		opened += max(0, blobs.requests.Load()-3) // it may read blocks of the dictionary, for the word and for those like it
	}
	if opened > 0 {
		t.Errorf("ten questions read blobs %d times more than three times each", opened)
	}
	if cached := own.Cached(); cached <= 20_000 || cached > 20_000+1<<20 {
		t.Errorf("%d bytes in memory", cached)
	}
}

// spoiling changes a byte in every read of some offset.
type spoiling struct {
	blob.Store
	at atomic.Int64 // -1: nothing
}

func (b *spoiling) GetRange(ctx context.Context, name string, offset, length int64) ([]byte, error) {
	data, err := b.Store.GetRange(ctx, name, offset, length)
	if at := b.at.Load(); err == nil && at >= offset && at < offset+length {
		data = slices.Clone(data)
		data[at-offset] ^= 1
	}
	return data, err
}

func TestDamageThatARangeShowsLeavesTheSegmentOut(t *testing.T) {
	t.Parallel()
	x, _ := largeIndex(t)
	size := int64(0)
	for f, err := range x.Blobs.List(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}
		size = max(size, f.Size)
	}
	question := search.Query{Text: "zebra " + newZipfText().words(6)}
	sound, _ := ask(t, x, question)
	blobs := &spoiling{Store: x.Blobs}
	x.Blobs = blobs
	left, kept := 0, 0
	for at := int64(0); at < size; at += size/150 + 1 {
		blobs.at.Store(at)
		cold := again(x, 0)
		cold.ReadByRange(10_000)
		faults := 0
		cold.OnFault = func(context.Context, error) { faults++ }
		titles, _ := ask(t, cold, question)
		switch {
		case faults == 0 && slices.Equal(titles, sound):
			kept++ // it was not read
		case faults == 1 && slices.Equal(titles, []string{"small"}):
			left++
		default:
			t.Errorf("byte %d: %d faults, found %q", at, faults, titles)
		}
	}
	if left == 0 || kept == 0 {
		t.Errorf("damage was noticed %d times and not met %d times", left, kept)
	}
}

// vanishing loses all blobs once the query's first range has been read.
type vanishing struct {
	blob.Store
	after atomic.Int64 // ranges
	gone  func()
	lost  atomic.Bool // ranges are not found any more
}

func (b *vanishing) GetRange(ctx context.Context, name string, offset, length int64) ([]byte, error) {
	if b.after.Add(-1) == 0 {
		b.gone()
	}
	if b.lost.Load() {
		return nil, blob.ErrNotFound
	}
	return b.Store.GetRange(ctx, name, offset, length)
}

func TestSegmentThatGoesWhileItIsReadIsLookedForAgain(t *testing.T) {
	t.Parallel()
	for after := range 8 {
		t.Run(fmt.Sprint("before range ", after+1), func(t *testing.T) {
			t.Parallel()
			x, lib := largeIndex(t)
			question := search.Query{Text: "zebra " + newZipfText().words(6)}
			want, _ := ask(t, x, question)
			if err := x.Stale(t.Context(), team, "wiki", search.Documentation, 3000); err != nil {
				t.Fatal(err)
			}
			blobs := &vanishing{Store: x.Blobs}
			blobs.after.Store(int64(after + 1))
			cold := again(x, 0)
			cold.Blobs = blobs
			cold.ReadByRange(10_000)
			blobs.gone = func() { // merged, and cleaned long before its time
				merge(t, x)
				var named []string
				for f, err := range x.Blobs.List(t.Context(), "") {
					if err != nil {
						t.Error(err)
					}
					named = append(named, f.Name)
				}
				slices.Sort(named) // ids are in order of time: the last is the merged one
				if err := x.Blobs.Delete(t.Context(), named[:len(named)-1]...); err != nil {
					t.Error(err)
				}
			}
			if got, _ := ask(t, cold, question); !slices.Equal(got, want) {
				t.Errorf("found %q, want %q", got, want)
			}
			if len(lib.docs) != 3001 {
				t.Errorf("%d documents", len(lib.docs))
			}
		})
	}
}

// TestASegmentThatGoesIsLookedForAgainByMeaningToo: the question is embedded once, however often the segments are opened.
func TestASegmentThatGoesIsLookedForAgainByMeaningToo(t *testing.T) {
	t.Parallel()
	x, lib := largeIndex(t)
	e := &topics{name: "topics"}
	x.Embedder, x.Model = e, e.Model()
	if err := x.PublishMeaning(t.Context(), team, []search.Document{lib.docs[doc("wiki", "small", "", 1).ID]}, nil); err != nil {
		t.Fatal(err)
	}
	for after := range int64(8) {
		blobs := &vanishing{Store: x.Blobs}
		blobs.after.Store(after + 1)
		cold := again(x, 0)
		cold.Blobs = blobs
		cold.ReadByRange(10_000)
		cold.OnFault = func(context.Context, error) {}
		blobs.gone = func() { cold.Blobs.(*vanishing).lost.Store(true) }
		answered := make(chan error, 1)
		go func() {
			_, err := cold.Search(t.Context(), team, search.Query{Reader: access.Everything(), Text: "zebra " + newZipfText().words(6)})
			answered <- err
		}()
		select {
		case err := <-answered:
			if err != nil {
				t.Errorf("lost before range %d: %v", after+1, err)
			}
		case <-time.After(time.Minute):
			t.Fatalf("lost before range %d: no answer", after+1)
		}
	}
}

func TestOlderAnalysisAnswersUntilItIsRebuilt(t *testing.T) {
	t.Parallel()
	x, lib, _ := newIndex(t)
	publish(t, x, lib, doc("wiki", "old", "zebra and lion", 1))
	if err := x.SetAnalysis(t.Context(), team, search.AnalysisVersion-1); err != nil {
		t.Fatal(err)
	}
	publish(t, x, lib, doc("guide", "new", "zebra and grass", 1))
	x = again(x, 0) // as after an upgrade
	titles, r := ask(t, x, search.Query{Text: "zebra"})
	slices.Sort(titles)
	if !slices.Equal(titles, []string{"new", "old"}) || r.Passages != 2 {
		t.Errorf("found %q in %d passages", titles, r.Passages)
	}
	if n := merge(t, x); n != 0 {
		t.Errorf("replaced %d segments", n)
	}
	rebuild(t, rebuilder(x))
	if titles, _ = ask(t, x, search.Query{Text: "zebra"}); len(titles) != 2 {
		t.Errorf("after the rebuild found %q", titles)
	}
	if err := x.SetAnalysis(t.Context(), team, search.AnalysisVersion+1); err != nil {
		t.Fatal(err)
	}
	left := 0
	x.OnFault = func(context.Context, error) { left++ }
	if titles, _ = ask(t, again(x, 0), search.Query{Text: "zebra"}); len(titles) != 0 || left != 2 {
		t.Errorf("of a newer analysis found %q, %d reported", titles, left)
	}
}

func TestPublishAfterItsSourceIsDroppedLeavesNothing(t *testing.T) {
	t.Parallel()
	x, lib, _ := newIndex(t)
	publish(t, x, lib, doc("guide", "kept", "zebra", 1))
	lib.live("guide")
	if err := x.DropSource(t.Context(), team, "wiki"); err != nil {
		t.Fatal(err)
	}
	publish(t, x, lib, doc("wiki", "late", "zebra", 1)) // its worker was slow
	if err := x.Stale(t.Context(), team, "wiki", search.Documentation, 1); err != nil {
		t.Fatal(err)
	}
	if n := merge(t, x); n != 1 {
		t.Errorf("removed %d segments", n)
	}
	if got := levels(t, x); len(got) != 1 {
		t.Errorf("%d segment records are left", len(got))
	}
	for item, err := range table.All(t.Context(), x.Table, table.Query{Table: table.Index, Partition: team + "/stale"}) {
		t.Errorf("a count is left: %s %v", item.Sort, err)
	}
	if titles, _ := ask(t, x, search.Query{Text: "zebra"}); !slices.Equal(titles, []string{"kept"}) {
		t.Errorf("found %q", titles)
	}
}

var errListing = errors.New("sources cannot be listed")

// sourceless cannot list sources.
type sourceless struct{ search.Corpus }

func (sourceless) Sources(context.Context, string) (map[string]*access.Rule, error) {
	return nil, errListing
}

func TestMergeRemovesNothingWhenSourcesAreUnknown(t *testing.T) {
	t.Parallel()
	x, lib, _ := newIndex(t)
	publish(t, x, lib, doc("guide", "kept", "zebra "+strings.Repeat("lion ", 3), 1))
	x.Corpus = sourceless{lib}
	if _, err := x.Merge(t.Context(), team); !errors.Is(err, errListing) {
		t.Errorf("merge: %v", err)
	}
	if got := levels(t, x); len(got) != 1 {
		t.Errorf("%d segment records are left", len(got))
	}
}
