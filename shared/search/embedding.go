package search

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"docent/shared/embed"
	"docent/shared/search/segment"
	"docent/shared/search/text"
	"docent/shared/table"
)

// ErrNotEmbedded means that the model made no vectors. Search by words works anyway.
var ErrNotEmbedded = errors.New("the model made no vectors")

// embedding makes a segment of vectors.
type embedding struct {
	w      *segment.Writer
	engine embed.Engine
	next   []unembedded
}

// unembedded is a passage whose vector is still to be made.
type unembedded struct {
	document Document
	starts   byte
	text     string
}

func newEmbedding(p *profile, engine embed.Engine) *embedding {
	return &embedding{w: segment.NewVectorWriter(p.id, engine.Model().Size), engine: engine}
}

func (b *embedding) add(ctx context.Context, d Document) error {
	chunks := d.Chunks
	if chunks == nil {
		chunks = text.Cut(d.Body)
	}
	starts := byte(segment.StartsDocument)
	for _, c := range chunks {
		if d.inChunks() {
			starts |= segment.StartsChunk
		}
		for _, p := range c.Passages {
			b.next = append(b.next, unembedded{d, starts, embedded(d.Title, p.Heading, d.Body[p.Start:p.End])})
			starts = 0
			if len(b.next) == embed.MaxTexts {
				if err := b.flush(ctx); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (b *embedding) count() int { return b.w.Count() + len(b.next) }

func (b *embedding) finish(ctx context.Context) (segment.File, error) {
	if err := b.flush(ctx); err != nil {
		return segment.File{}, err
	}
	return b.w.Finish()
}

// flush makes the vectors of the passages that wait for it.
func (b *embedding) flush(ctx context.Context) error {
	if len(b.next) == 0 {
		return nil
	}
	texts := make([]string, len(b.next))
	for i, p := range b.next {
		texts[i] = p.text
	}
	vectors, err := b.engine.Embed(ctx, texts, embed.Passage)
	if errors.Is(err, embed.ErrInvalid) {
		vectors, err = b.each(ctx, texts)
	}
	if err != nil {
		return fmt.Errorf("%w: embed %d passages: %w", ErrNotEmbedded, len(texts), err)
	}
	for i, p := range b.next {
		if p.starts&segment.StartsDocument != 0 {
			b.w.Document(p.document.ID, p.document.Version)
			if err := describe(b.w, p.document); err != nil {
				return err
			}
		}
		b.w.Passage(0, p.starts)
		b.w.Vector(segment.Quantise(vectors[i]))
	}
	b.next = b.next[:0]
	return nil
}

// each embeds texts one by one, because one text that the model refuses fails all that are sent with it. A refused text gets
// a vector of zeros, which is near no question: it is not sent again.
func (b *embedding) each(ctx context.Context, texts []string) ([]embed.Vector, error) {
	vectors := make([]embed.Vector, 0, len(texts))
	for _, text := range texts {
		own, err := b.engine.Embed(ctx, []string{text}, embed.Passage)
		switch {
		case errors.Is(err, embed.ErrInvalid):
			vectors = append(vectors, make(embed.Vector, b.engine.Model().Size))
		case err != nil:
			return nil, err
		default:
			vectors = append(vectors, own...)
		}
	}
	return vectors, nil
}

// embedded returns the text by which a passage is embedded: its title and heading path say
// what it is about.
func embedded(title, heading, passage string) string {
	var b strings.Builder
	for _, part := range []string{title, heading, passage} {
		if part = strings.TrimSpace(strings.ToValidUTF8(part, " ")); part != "" {
			if b.Len() > 0 {
				b.WriteString("\n")
			}
			b.WriteString(part)
		}
	}
	if b.Len() == 0 {
		return "-" // an engine takes no blank text
	}
	return strings.ToValidUTF8(b.String()[:min(b.Len(), embed.MaxBytes)], "")
}

// model returns the name of the model of this installation, or "".
func (ix *Index) model() string {
	return ix.Model.Name
}

// embeddedField is the model for which all documents of a source and space were found to have
// vectors. It is in the item that counts their stale passages.
const embeddedField = "embedded"

// embeddedBy returns the operation that sets it.
func embeddedBy(teamID string, f family, model string) table.Add {
	return table.Add{Key: staleKey(teamID, f), Strings: map[string]string{embeddedField: model}}
}

// embedded returns that model for the families of vectors of a team.
func (ix *Index) embedded(ctx context.Context, teamID string) (map[family]string, error) {
	models := map[family]string{}
	if ix.model() == "" {
		return models, nil
	}
	for item, err := range table.All(ctx, ix.Table, table.Query{Table: table.Index, Partition: teamID + stalePartition}) {
		if err != nil {
			return nil, fmt.Errorf("read which families have vectors: %w", err)
		}
		f, err := familyNamed(item.Sort)
		if err != nil {
			return nil, fmt.Errorf("stale count %q: %w", item.Sort, err)
		}
		f.meaning = true
		models[f] = item.Strings[embeddedField]
	}
	return models, nil
}

// lacksMeaning reports whether documents of a family of postings may lack vectors.
func (ix *Index) lacksMeaning(f family, models map[family]string) bool {
	if ix.model() == "" || f.meaning {
		return false
	}
	f.meaning = true
	return models[f] != ix.model()
}

// planMeaning plans a full scan for documents without vectors in the families among records,
// which are all segments of the team's live sources, that were not yet scanned for this model.
func (ix *Index) planMeaning(ctx context.Context, teamID string, records []record, models map[family]string) error {
	order, of := families(records)
	var lacking []family
	for _, postings := range order {
		vectors := family{source: postings.source, space: postings.space, meaning: true}
		if ix.lacksMeaning(postings, models) && !slices.ContainsFunc(of[vectors], record.newer) {
			lacking = append(lacking, vectors)
		}
	}
	unplanned, err := ix.unplanned(ctx, teamID, lacking)
	if err != nil {
		return err
	}
	for _, f := range unplanned {
		postings := of[family{source: f.source, space: f.space}]
		if _, err := ix.plan(ctx, teamID, f, rebuildBody{Total: toRebuild(postings, true), Missing: true}); err != nil {
			return err
		}
	}
	return nil
}

// forgetEmbedded records, in a program without a model, that families may have documents
// without vectors from now on. So the next program with a model looks for them.
func (ix *Index) forgetEmbedded(ctx context.Context, teamID string, models map[family]string) error {
	if ix.model() != "" {
		return nil
	}
	for f, model := range models {
		if model == "" {
			continue
		}
		if _, err := ix.Table.Add(ctx, embeddedBy(teamID, f, "")); err != nil {
			return fmt.Errorf("record that documents have no vectors: %w", err)
		}
	}
	return nil
}
