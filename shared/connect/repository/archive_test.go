package repository

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"docent/shared/source"
)

// TestAnArchiveThatIsCutByTheLimitIsNotWhole, wherever the limit is: what a whole one lacks is removed.
func TestAnArchiveThatIsCutByTheLimitIsNotWhole(t *testing.T) {
	t.Parallel()
	packed := pack("a.md", "b.md", "c.md")
	const one, end = 1024, 1024 // bytes of a file, and of what follows the last one
	for most := int64(1); most <= 3*one+end+1; most++ {
		read, whole := 0, false
		err := bounded(most, io.NopCloser(bytes.NewReader(packed)), 0, time.Now,
			func(name string, _ []byte) *source.Item { return &source.Item{URI: name} },
			func(items []source.Item, _ int, last bool) bool {
				read, whole = read+len(items), whole || last
				return true
			})
		var failed *source.SyncError
		if whole && read < 3 || !whole && (!errors.As(err, &failed) || failed.Code != source.TooLarge) {
			t.Errorf("of %d bytes: %d files, whole: %t, %v", most, read, whole, err)
		}
	}
}

// TestASlowArchiveIsSavedAsItIsRead: 50 files of it may take longer than the turn of a source. What is left out is no part of that time.
func TestASlowArchiveIsSavedAsItIsRead(t *testing.T) {
	t.Parallel()
	packed := pack("a.md", "b.md", "c.md", "d.md", "e.md")
	for skip, want := range map[int][]string{0: {"a.md b.md c.md 3", "d.md e.md 0"}, 1: {"b.md c.md d.md 4", "e.md 0"}, 3: {"d.md e.md 0"}} {
		at := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
		var got []string
		err := Archive(io.NopCloser(bytes.NewReader(packed)), skip, func() time.Time { return at },
			func(name string, _ []byte) *source.Item {
				at = at.Add(source.LongPage / 3)
				return &source.Item{URI: name}
			},
			func(items []source.Item, skip int, _ bool) bool {
				var names []string
				for _, i := range items {
					names = append(names, i.URI)
				}
				got = append(got, strings.Join(append(names, strconv.Itoa(skip)), " "))
				return true
			})
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("after %d: %q, %v, want %q", skip, got, err, want)
		}
	}
}

// TestFilesAreSavedBeforeALongOneIsPassed: the turn of a source may end within a file that is not read.
func TestFilesAreSavedBeforeALongOneIsPassed(t *testing.T) {
	t.Parallel()
	long := make([]byte, 4<<20)
	_, _ = rand.NewChaCha8([32]byte{}).Read(long) // what does not get smaller when it is packed
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	files := tar.NewWriter(z)
	for _, f := range []struct{ name, text string }{{"a.md", "Text."}, {"b.bin", string(long)}, {"c.md", "Text."}} {
		_ = files.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: "top/" + f.name, Size: int64(len(f.text)), Mode: 0o644})
		_, _ = io.WriteString(files, f.text)
	}
	_ = files.Close()
	_ = z.Close()
	for cut, want := range map[int][]string{packed.Len() - 1<<20: {"a.md 1"}, packed.Len(): {"a.md 1", "c.md 3"}} {
		body := bytes.NewReader(packed.Bytes()[:cut])
		var got []string
		err := Archive(io.NopCloser(body), 0, func() time.Time { // a second for each 64 KB
			return time.Date(2026, 5, 1, 0, 0, (cut-body.Len())>>16, 0, time.UTC)
		}, func(name string, _ []byte) *source.Item { return &source.Item{URI: name} },
			func(items []source.Item, skip int, _ bool) bool {
				for _, i := range items {
					got = append(got, i.URI+" "+strconv.Itoa(skip))
				}
				return true
			})
		if (err == nil) != (cut == packed.Len()) || !slices.Equal(got, want) {
			t.Errorf("of %d bytes: %q, %v, want %q", cut, got, err, want)
		}
	}
}

// TestAnArchiveThatBringsNothingNewIsGivenUp: it may take longer than the turn of a source to get to what is new.
func TestAnArchiveThatBringsNothingNewIsGivenUp(t *testing.T) {
	t.Parallel()
	packed := pack("a.md", "b.md", "c.md", "d.md", "e.md", "f.md", "g.md", "h.md")
	for name, tt := range map[string]struct {
		skip int
		step time.Duration // for each look at the clock
		want error
	}{
		"what was read before":    {7, slowest / 10, ErrSlow},
		"a new file now and then": {0, slowest / 10, nil},
		"what was read, in time":  {7, slowest / 100, nil},
	} {
		at := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
		err := Archive(io.NopCloser(bytes.NewReader(packed)), tt.skip, func() time.Time { at = at.Add(tt.step); return at },
			func(name string, _ []byte) *source.Item { return &source.Item{URI: name} }, func([]source.Item, int, bool) bool { return true })
		if !errors.Is(err, tt.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	var body io.Reader = bytes.NewReader(packed[:20])
	at := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
	err := Archive(io.NopCloser(io.MultiReader(body, slowReader{func() { at = at.Add(slowest / 10) }})), 0, func() time.Time { return at }, nil, nil)
	if !errors.Is(err, ErrSlow) {
		t.Errorf("a trickle: %v", err)
	}
}

// slowReader sends one byte of an endless gzip at a time.
type slowReader struct{ wait func() }

func (r slowReader) Read(b []byte) (int, error) {
	r.wait()
	b[0] = 0
	return 1, nil
}

// pack returns the archive of a commit with files of five bytes.
func pack(names ...string) []byte {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	files := tar.NewWriter(z)
	for _, name := range names {
		_ = files.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: "top/" + name, Size: 5, Mode: 0o644})
		_, _ = io.WriteString(files, "Text.")
	}
	_ = files.Close()
	_ = z.Close()
	return packed.Bytes()
}
