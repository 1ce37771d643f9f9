package pdf

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"docent/shared/extract"
	"docent/shared/extract/readers/markdown"
)

const (
	headingRatio  = 1.15 // size of a heading to that of the text
	maxHeading    = 200  // bytes
	maxHeadLines  = 3
	maxBoldLength = 100 // bytes of a heading that is bold and of the size of the text
	maxBoldShare  = 0.3 // of the text; above it bold says nothing
)

// markdown writes the pages.
func (d *document) markdown(ctx context.Context, title string, pages []page) (extract.Document, error) {
	dropRepeated(pages)
	for i := range pages {
		if err := ctx.Err(); err != nil {
			return extract.Document{}, onPage(err, pages[i].number)
		}
		pages[i].blocks, pages[i].texts = layout(pages[i].texts), nil
	}
	looks := newLooks(pages)
	words := vocabulary{}
	for _, p := range pages {
		for _, b := range p.blocks {
			for _, l := range b.lines {
				words.add(l.text)
			}
		}
	}
	doc := extract.Document{Title: markdown.Title(title)}
	budget := markdown.NewBudget(d.limits.Text)
	for _, p := range pages {
		if err := ctx.Err(); err != nil {
			return extract.Document{}, onPage(err, p.number)
		}
		out := &markdown.Writer{Budget: budget}
		if err := looks.write(out, pieces(words, p)); err != nil {
			return extract.Document{}, err
		}
		if text := out.String(); text != "" {
			doc.Pages = append(doc.Pages, extract.Page{Number: p.number, Markdown: text})
		}
	}
	doc.Notes = d.notes.sentences()
	if len(doc.Pages) == 0 && len(doc.Notes) == 0 {
		doc.Notes = []string{"The file has no text."}
	}
	return doc, nil
}

// piece is a paragraph or a table.
type piece struct {
	paragraph
	table [][]string
}

// pieces returns the paragraphs and tables of a page. A paragraph that continues in the next column is one.
func pieces(words vocabulary, p page) []piece {
	var all []piece
	for _, b := range p.blocks {
		if b.table != nil {
			all = append(all, piece{table: b.table})
			continue
		}
		for i, next := range words.paragraphs(b.lines) {
			if n := len(all); i == 0 && n > 0 && !b.apart && all[n-1].table == nil && goesOn(all[n-1].paragraph, next) {
				last := &all[n-1].paragraph
				last.text = words.continued(last.text, next.text)
				last.lines += next.lines
				continue
			}
			all = append(all, piece{paragraph: next})
		}
	}
	return all
}

func goesOn(p, next paragraph) bool {
	first, _ := utf8.DecodeRuneInString(next.text)
	return p.lines > 1 && !p.running && !next.running && len(p.text) < maxParagraph && next.marker == "" && unicode.IsLower(first) && !ends(p.text) &&
		math.Abs(p.size-next.size) < 0.1*max(p.size, next.size)
}

// looks distinguishes headings from text by how they look in the whole file.
type looks struct {
	body   float64   // size of the text
	sizes  []float64 // of headings, largest first
	isBold bool      // bold means something
}

func newLooks(pages []page) looks {
	weight := map[float64]int{}
	bold, total := 0, 0
	for _, p := range pages {
		for _, b := range p.blocks {
			for _, l := range b.lines {
				if l.running {
					continue
				}
				weight[rounded(l.size)] += len(l.text)
				total += len(l.text)
				if l.bold {
					bold += len(l.text)
				}
			}
		}
	}
	var k looks
	most := 0
	for size, n := range weight {
		if n > most || n == most && size < k.body {
			k.body, most = size, n
		}
	}
	k.isBold = float64(bold) < maxBoldShare*float64(total)
	for size := range weight {
		if size >= headingRatio*k.body {
			k.sizes = append(k.sizes, size)
		}
	}
	slices.SortFunc(k.sizes, func(a, b float64) int { return cmp.Compare(b, a) })
	k.sizes = slices.CompactFunc(k.sizes, func(a, b float64) bool { return b > 0.94*a })
	return k
}

func rounded(size float64) float64 { return math.Round(size*2) / 2 }

// level returns the level of the heading that p is, or 0.
func (k looks) level(p paragraph) int {
	if p.running || p.lines > maxHeadLines || len(p.text) > maxHeading || !strings.ContainsFunc(p.text, unicode.IsLetter) || utf8.RuneCountInString(p.text) < 3 {
		return 0
	}
	for i, size := range k.sizes {
		if rounded(p.size) > 0.94*size {
			return min(i+1, 5)
		}
	}
	if k.isBold && p.bold && p.lines < 3 && len(p.text) <= maxBoldLength && p.marker != "-" && !strings.ContainsAny(p.text[len(p.text)-1:], ".,;:") {
		return min(len(k.sizes)+1, 6)
	}
	return 0
}

// maxDepth of lists within lists.
const maxDepth = 4

func (k looks) write(out *markdown.Writer, all []piece) error {
	var indents []float64 // of the items above, each further right
	for _, p := range all {
		level := 0
		if p.table == nil {
			level = k.level(p.paragraph)
		}
		if p.table != nil || level > 0 || p.marker == "" {
			indents = nil
		}
		var err error
		switch {
		case p.table != nil:
			err = out.Table(p.table)
		case level > 0:
			err = out.Heading(level, strings.TrimSpace(strings.TrimPrefix(p.marker, "-")+" "+p.text))
		case p.marker != "":
			for len(indents) > 0 && p.left < indents[len(indents)-1]-0.3*p.size {
				indents = indents[:len(indents)-1]
			}
			if n := len(indents); n == 0 || n < maxDepth && p.left > indents[n-1]+0.5*p.size {
				indents = append(indents, p.left)
			}
			err = out.Item(len(indents)-1, p.marker, p.text)
		default:
			err = out.Paragraph(p.text)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
