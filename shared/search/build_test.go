package search_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"docent/shared/search"
	"docent/shared/search/text"
)

// someDocs draws documents of few words, so that terms are shared, some of them
// longer than one chunk.
func someDocs(rt *rapid.T) []search.Document {
	words := strings.Fields("zebra lion grass water Stone parseHTTP run_time v1.2 é 日本語 north south the of")
	n := rapid.IntRange(1, 12).Draw(rt, "documents")
	docs := make([]search.Document, n)
	for i := range docs {
		body := strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 0, 20).Draw(rt, "words"), " ")
		if rapid.IntRange(0, 3).Draw(rt, "long") == 0 {
			body = strings.Repeat(body+" water\n\n## part\n\n", 150)
		}
		docs[i] = doc("wiki", fmt.Sprint("t", i), body, int64(i+1))
	}
	return docs
}

func TestSegmentKnowsWhereItsPassagesLie(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		docs := someDocs(rt)
		data, err := search.BuildSegment(search.Documentation, docs)
		if err != nil {
			rt.Fatal(err)
		}
		refs, within, err := search.Places(data)
		if err != nil {
			rt.Fatal(err)
		}
		i := 0
		for _, d := range docs {
			for n, c := range text.Cut(d.Body) {
				if len(d.Body) > text.InlineBytes {
					n++
				}
				for w := range c.Passages {
					if want := (search.Ref{Document: d.ID, Version: d.Version, Chunk: n}); refs[i] != want || within[i] != w {
						rt.Fatalf("passage %d is %d of %+v, want %d of %+v", i, within[i], refs[i], w, want)
					}
					i++
				}
			}
		}
		if i != len(refs) {
			rt.Fatalf("%d passages, want %d", len(refs), i)
		}
	})
}

// sampleSegment is a file with long lists, in pages and blocks.
func sampleSegment(t testing.TB) []byte {
	t.Helper()
	var docs []search.Document
	for i := range 300 {
		docs = append(docs, doc("wiki", fmt.Sprint("t", i), fmt.Sprintf("zebra %s word%d other%d", strings.Repeat("lion ", i%4), i, i/7), 1))
	}
	data, err := search.BuildSegment(search.Documentation, docs)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
