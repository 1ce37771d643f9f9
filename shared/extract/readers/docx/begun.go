package docx

import "slices"

// begun is a paragraph of which all but the end was read: the paragraphs that run on into the next.
type begun struct {
	any          bool
	text         []byte
	boxes, notes []string
	last         paragraph // without what is above: the properties that hold if nothing follows
}

// add adds a paragraph that runs on.
func (b *begun) add(p paragraph) {
	b.any = true
	b.text = append(b.text, p.text...)
	b.boxes, b.notes = append(b.boxes, p.boxes...), append(b.notes, p.notes...)
	b.last = paragraph{style: p.style, level: p.level, list: p.list}
}

// join returns p with what was begun before it. As in Word, the properties are those of p.
func (b *begun) join(p paragraph) paragraph {
	if !b.any {
		return p
	}
	p.text = string(b.text) + p.text
	p.boxes, p.notes = slices.Concat(b.boxes, p.boxes), slices.Concat(b.notes, p.notes)
	*b = begun{}
	return p
}
