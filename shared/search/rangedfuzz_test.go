package search_test

import (
	"context"
	"slices"
	"testing"

	"docent/shared/blob"
	"docent/shared/search"
	"docent/shared/search/segment/segmenttest"
)

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

// FuzzRanking searches files with correct checksums and arbitrary content.
func FuzzRanking(f *testing.F) {
	f.Add(sampleSegment(f), "zebra lion word7")
	small, err := search.BuildSegment(search.Code, []search.Document{doc("w", "t", "zebra lion zebra", 1), doc("w", "u", "lion", 2)})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(small, "lyon")
	f.Fuzz(func(t *testing.T, data []byte, question string) {
		data = segmenttest.Reseal(slices.Clone(data))
		whole, err := search.OpenFiles(data)
		if err != nil {
			return
		}
		want, _, _, wantErr := whole.Best(t.Context(), question, 5) // must return
		ranged, err := search.OpenRanged(t.Context(), oneFile{data: data}, "s", int64(len(data)), 1<<20)
		if err != nil {
			t.Fatalf("opens whole and not by range: %v", err)
		}
		got, _, _, err := ranged.Best(t.Context(), question, 5)
		if (err == nil) != (wantErr == nil) || !slices.Equal(got, want) {
			t.Errorf("by range %v, %v; whole %v, %v", got, err, want, wantErr)
		}
	})
}
