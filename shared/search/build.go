package search

import (
	"context"

	"docent/shared/search/segment"
	"docent/shared/search/text"
)

// segmentBuilder makes a segment of documents of one space: of postings, or of vectors.
type segmentBuilder interface {
	add(ctx context.Context, d Document) error
	count() int // passages so far
	finish(ctx context.Context) (segment.File, error)
}

// newBuilder returns the builder of a segment of f.
func (ix *Index) newBuilder(f family) segmentBuilder {
	if f.meaning {
		return newEmbedding(profileOf(f.space), ix.Embedder)
	}
	return newBuilder(profileOf(f.space))
}

// build returns a segment of f of documents.
func (ix *Index) build(ctx context.Context, f family, docs []Document) (segment.File, error) {
	return buildWith(ctx, ix.newBuilder(f), docs)
}

func buildWith(ctx context.Context, b segmentBuilder, docs []Document) (segment.File, error) {
	for _, d := range docs {
		if err := b.add(ctx, d); err != nil {
			return segment.File{}, err
		}
	}
	return b.finish(ctx)
}

// builder gathers postings by term.
type builder struct {
	profile *profile
	w       *segment.Writer
	lists   *postingLists
	terms   []string // of the current passage
}

func newBuilder(p *profile) *builder {
	return &builder{profile: p, w: segment.NewWriter(p.id), lists: newPostingLists()}
}

func (b *builder) add(_ context.Context, d Document) error {
	chunks := d.Chunks
	if chunks == nil {
		chunks = text.Cut(d.Body)
	}
	b.w.Document(d.ID, d.Version)
	if err := describe(b.w, d); err != nil {
		return err
	}
	titles := map[*text.Language][]string{}
	starts := byte(segment.StartsDocument)
	for _, c := range chunks {
		if d.inChunks() {
			starts |= segment.StartsChunk
		}
		for _, p := range c.Passages {
			searched := text.Indexed(p.Heading, d.Body[p.Start:p.End])
			a := b.profile.in(text.PassageLanguage(d.Title, searched))
			title, ok := titles[a.Language]
			if !ok {
				title = termsOfTitle(a, d.Title)
				titles[a.Language] = title
			}
			b.passage(a, title, searched, starts)
			starts = 0
		}
	}
	return nil
}

// maxTitleTerms is how many terms of a title count. It is indexed with each passage of its document.
const maxTitleTerms = 128

// termsOfTitle returns the terms of a title that count.
func termsOfTitle(a text.Analyser, title string) []string {
	terms := a.AppendTerms(nil, title)
	return terms[:min(len(terms), maxTitleTerms)]
}

func (b *builder) count() int { return b.w.Count() }

func (b *builder) passage(a text.Analyser, title []string, searched string, starts byte) {
	length := b.countTerms(title, titleWeight)
	b.terms = a.AppendTerms(b.terms[:0], searched)
	length += b.countTerms(b.terms, 1)
	b.w.Passage(length, starts)
}

// countTerms adds terms with a weight to the current passage, and returns by how much its length
// grows.
func (b *builder) countTerms(terms []string, weight uint32) int {
	n := 0
	for _, term := range terms {
		if term == "" {
			continue
		}
		n += int(weight)
		b.lists.add(term, uint32(b.w.Count()), weight)
	}
	return n
}

func (b *builder) finish(context.Context) (segment.File, error) {
	b.lists.write(b.w)
	return b.w.Finish()
}
