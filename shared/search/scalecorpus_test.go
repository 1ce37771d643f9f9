package search_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"docent/shared/access"
	"docent/shared/search"
	"docent/shared/search/text"
)

// generated is a corpus of n documents that are generated again for each read: pages with
// headings, whose words are as frequent as in natural language.
//
// Two words in five are stop words. Of the rest, 98 in 100 are of a core of 30,000,
// the others of a tail that keeps bringing new ones, as names and numbers do, so
// that distinct words grow about with the square root of all; both are drawn from
// Zipf-Mandelbrot distributions. A section has 80 words in the median and a page 5
// sections, both log-normal.
type generated struct {
	n    int
	read map[search.Ref]search.Text      // texts are made up once
	rule func(document int) *access.Rule // nil: no rules
}

const (
	sectionMedian, sectionSpread = 80, 0.7
	pageMedian, pageSpread       = 5, 0.6
	core, tail                   = 30_000, 20_000_000
)

var stopWords = strings.Fields("the of and to a in is for that with on as are this by from or at an it")

// wordSource draws the words of one document.
type wordSource struct {
	random     *rand.Rand
	core, tail *rand.Zipf
}

func newWordSource(seed uint64) wordSource {
	random := rand.New(rand.NewPCG(seed, 42))
	return wordSource{random, rand.NewZipf(random, 1.07, 30, core-1), rand.NewZipf(random, 1.4, 20_000, tail)}
}

func (w wordSource) content() string {
	var b [16]byte
	out := b[:0]
	rank := w.core.Uint64()
	if w.random.IntN(50) == 0 {
		rank = core + w.tail.Uint64()
	}
	for n := rank + 1; n > 0; n /= 60 {
		out = append(out, "bdfgklmnprtz"[n%12], "aeiou"[n/12%5])
	}
	return string(append(out, "nkmx"[len(out)%4]))
}

func (w wordSource) text(b *strings.Builder, words int) {
	for range words {
		if w.random.IntN(5) < 2 {
			b.WriteString(stopWords[w.random.IntN(len(stopWords))])
		} else {
			b.WriteString(w.content())
		}
		b.WriteByte(" .\n"[max(0, w.random.IntN(14)-11)])
	}
}

// around draws from a log-normal distribution.
func (w wordSource) around(median, spread float64) int {
	return max(1, int(median*math.Exp(spread*w.random.NormFloat64())))
}

func (g *generated) document(i int) search.Document {
	w := newWordSource(uint64(i))
	var b strings.Builder
	for range min(w.around(pageMedian, pageSpread), 60) {
		fmt.Fprintf(&b, "## %s %s\n\n", w.content(), w.content())
		w.text(&b, min(w.around(sectionMedian, sectionSpread), 600))
		b.WriteString("\n\n")
	}
	id := uuid.NewSHA1(uuid.NameSpaceOID, binary.BigEndian.AppendUint64(nil, uint64(i)))
	binary.BigEndian.PutUint32(id[12:], uint32(i)) // so that the document is found by its id
	d := search.Document{ID: id, Version: 1, Source: "wiki", Space: search.Documentation,
		Title: w.content() + " " + w.content(), Body: b.String()}
	if g.rule != nil {
		d.Access = g.rule(i)
	}
	return d
}

func (g *generated) number(id uuid.UUID) int { return int(binary.BigEndian.Uint32(id[12:])) }

// question returns a question of 3 to 7 words, drawn like those of the text.
func (g *generated) question(i int) string {
	w := newWordSource(uint64(i) | 1<<40)
	words := make([]string, 3+w.random.IntN(5))
	for j := range words {
		words[j] = w.content()
	}
	return "how to " + strings.Join(words, " ")
}

func (g *generated) Texts(_ context.Context, _ string, refs []search.Ref) (map[search.Ref]search.Text, error) {
	texts := make(map[search.Ref]search.Text, len(refs))
	for _, ref := range refs {
		if t, ok := g.read[ref]; ok {
			texts[ref] = t
			continue
		}
		d := g.document(g.number(ref.Document))
		chunks := text.Cut(d.Body)
		c := chunks[max(ref.Chunk-1, 0)]
		t := search.Text{Document: d.ID, Version: d.Version, Source: d.Source, Title: d.Title, Body: d.Body[c.Start:c.End], Access: d.Access}
		for _, p := range c.Passages {
			p.Start, p.End = p.Start-c.Start, p.End-c.Start
			t.Passages = append(t.Passages, p)
		}
		texts[ref], g.read[ref] = t, t
	}
	return texts, nil
}

func (g *generated) Current(_ context.Context, _ string, ids []uuid.UUID) (map[uuid.UUID]int64, error) {
	current := make(map[uuid.UUID]int64, len(ids))
	for _, id := range ids {
		if g.number(id) < g.n {
			current[id] = 1
		}
	}
	return current, nil
}

func (g *generated) Sources(context.Context, string) (map[string]*access.Rule, error) {
	return map[string]*access.Rule{"wiki": nil}, nil
}

func (g *generated) List(_ context.Context, _, _ string, _ search.Space, after string, limit int) (listed []search.Listed, err error) {
	at, _ := strconv.Atoi(after)
	for ; at < g.n && len(listed) < limit; at++ {
		listed = append(listed, search.Listed{Document: g.document(at).ID, Place: strconv.Itoa(at + 1)})
	}
	return listed, nil
}

func (g *generated) Read(_ context.Context, _ string, ids []uuid.UUID) iter.Seq2[search.Document, error] {
	return func(yield func(search.Document, error) bool) {
		for _, id := range ids {
			if i := g.number(id); i < g.n && !yield(g.document(i), nil) {
				return
			}
		}
	}
}

func (g *generated) Waiting(context.Context, string, map[uuid.UUID]int64, bool) (map[uuid.UUID]bool, error) {
	return nil, nil
}
