package search_test

import (
	"context"
	"slices"
	"testing"

	"docent/shared/blob"
	"docent/shared/filter"
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

// bestFor returns the best passages that a query may find.
func bestFor(t *testing.T, all search.Ranking, q search.Query, question string) ([]search.Place, error) {
	some, err := all.For(t.Context(), q)
	if err != nil || some.Empty() {
		return nil, err
	}
	best, _, _, err := some.Best(t.Context(), question, 5)
	return best, err
}

// FuzzRanking searches files with correct checksums and arbitrary content.
func FuzzRanking(f *testing.F) {
	product := filterOf(f, `{"product": "api"}`)
	f.Add(sampleSegment(f), "zebra lion word7")
	small, err := search.BuildSegment(search.Code, []search.Document{doc("w", "t", "zebra lion zebra", 1), doc("w", "u", "lion", 2)})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(small, "lyon")
	closed := skewed(3, 300)
	for i := range closed {
		closed[i].Access = rules[i%len(rules)]
		closed[i].Metadata = filter.Metadata{"product": filter.Text([]string{"api", "app"}[i%2])}
	}
	sets, err := search.BuildSegment(search.Messages, closed)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(sets, "bak dak gak")
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
		q := search.Query{Reader: ada, Filter: product}
		want, wantErr = bestFor(t, whole, q, question)
		if got, err := bestFor(t, ranged, q, question); (err == nil) != (wantErr == nil) || !slices.Equal(got, want) {
			t.Errorf("for one reader by range %v, %v; whole %v, %v", got, err, want, wantErr)
		}
	})
}
