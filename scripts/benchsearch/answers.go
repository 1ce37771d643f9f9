package main

import (
	"context"
	"slices"
	"strings"

	"docent/shared/access"
	"docent/shared/search"
)

// deep is how many documents are ranked at most; askedFor is how many an answer uses.
const (
	deep     = 200
	askedFor = 8
)

// answers measures the quotations for questions with gold answers, and whether missing knowledge is recognised.
func (d *docent) answers(ctx context.Context, v values) error {
	if len(d.set.answers) == 0 {
		return nil
	}
	var known, without, impossible []float64
	for _, g := range d.set.answers {
		r, err := d.index.Search(ctx, teamID, search.Query{Reader: access.Everything(), Text: g.Text, Limit: deep})
		if err != nil {
			return err
		}
		if g.Impossible {
			impossible = append(impossible, d.surest(r, ""))
			continue
		}
		known = append(known, d.surest(r, ""))
		without = append(without, d.surest(r, g.Doc))
		threshold := search.Threshold(r.Passages)
		v.add(answered, holds(known[len(known)-1] >= threshold))
		v.add(unfounded, holds(without[len(without)-1] >= threshold))
		if err := d.quote(ctx, g, v); err != nil {
			return err
		}
	}
	v.add(missing, auroc(known, without))
	if len(impossible) > 0 {
		v.add(fact, auroc(known, impossible))
	}
	return nil
}

// quote measures the quoted answer. Its text is measured separately from the decision to quote.
func (d *docent) quote(ctx context.Context, g gold, v values) error {
	r, err := d.index.Search(ctx, teamID, search.Query{Reader: access.Everything(), Text: g.Text, Limit: askedFor})
	if err != nil {
		return err
	}
	if len(r.Best) > 0 {
		r.Best[0].Confidence = 1
	}
	markdown := search.Quote(g.Text, r).Markdown
	pieces := quoted(markdown)
	has := func(p string) bool { return g.in(p) }
	v.add(firstHas, holds(len(pieces) > 0 && has(pieces[0])))
	v.add(allHas, holds(slices.ContainsFunc(pieces, has)))
	parts := strings.Split(markdown, "**") // the first bold text is the document's name
	v.add(boldHas, holds(len(parts) > 4 && has(parts[3])))
	first, all := 0, 0
	for i, p := range pieces {
		if all += len([]rune(p)); i == 0 {
			first = all
		}
	}
	v.add("characters of the first block", float64(first))
	v.add("characters of all blocks", float64(all))
	return nil
}

// surest returns the confidence of the best document, excluding the group of doc if doc is not "".
func (d *docent) surest(r search.Result, doc string) float64 {
	for _, h := range r.Hits {
		id := d.set.idOf[h.Document]
		if doc == "" || id != doc && (d.set.group[doc] == "" || d.set.group[id] != d.set.group[doc]) {
			return h.Confidence
		}
	}
	return 0
}

// in reports whether text contains one of the gold answers.
func (g gold) in(text string) bool {
	text = fold(text)
	return slices.ContainsFunc(g.Answers, func(a string) bool { return strings.Contains(text, fold(a)) })
}

// fold lower-cases text, collapses white space and removes the Markdown that the product adds to quotations.
func fold(s string) string {
	s = strings.NewReplacer(`\<`, "<", `\\`, `\`, `\(`, "(", `\[`, "[", `\:`, ":", "&#96;", "`", "**", "").Replace(s)
	return strings.Join(strings.Fields(strings.ToLower(s)), " ")
}

// quoted returns the blocks that an answer quotes, in order.
func quoted(markdown string) []string {
	var pieces []string
	open := false
	for line := range strings.SplitSeq(markdown, "\n") {
		text, ok := strings.CutPrefix(line, ">")
		if ok && !open {
			pieces = append(pieces, "")
		}
		if open = ok; ok {
			pieces[len(pieces)-1] += strings.TrimPrefix(text, " ") + "\n"
		}
	}
	for i, p := range pieces {
		pieces[i] = strings.TrimSpace(strings.ReplaceAll(p, "**", ""))
	}
	return pieces
}
