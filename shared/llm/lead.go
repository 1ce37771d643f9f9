package llm

// cites returns everything that n and its content cite.
func (n *node) cites() []int {
	var all []int
	for _, c := range n.claims {
		all = append(all, c.cites...)
	}
	for _, child := range n.children {
		all = append(all, child.cites()...)
	}
	return unique(all)
}

// stated returns how many statements n contains: sentences, rows and blocks of code.
func (n *node) stated() int {
	total := 0
	for _, c := range n.claims {
		if !c.lead {
			total++
		}
	}
	if n.kind == row {
		total = min(total, 1)
	}
	for _, child := range n.children {
		total += child.stated()
	}
	return total
}

// withLeads drops headings and lines ending in a colon whose block is missing, or whose
// facts or quotations that block does not support.
func (v *verifier) withLeads(blocks []*node) []*node {
	var out []*node // last first
	var section []int
	for i := len(blocks) - 1; i >= 0; i-- {
		b := blocks[i]
		if b.kind == heading {
			if len(section) > 0 && v.leads(b, section) {
				out = append(out, b)
			}
			section = nil
			continue
		}
		if last := len(b.claims) - 1; b.kind == paragraph && endsInColon(b.claims[last]) {
			follows := b.next && len(out) > 0 && i+1 < len(blocks) && out[len(out)-1] == blocks[i+1] && blocks[i+1].kind != heading
			c := b.claims[last]
			if c.lead && follows {
				c.cites = blocks[i+1].cites()
			}
			if !follows || c.lead && !v.supported(c, quotations(c.line)) {
				if b.claims = b.claims[:last]; last == 0 {
					continue
				}
			}
		}
		out = append(out, b)
		section = append(section, b.cites()...)
	}
	for i, j := 0, len(out)-1; i < j; i, j = i+1, j-1 {
		out[i], out[j] = out[j], out[i]
	}
	return out
}

func endsInColon(c claim) bool {
	return c.line.text != "" && c.line.text[len(c.line.text)-1] == ':'
}

// leads reports whether the lines of head may precede what cites these.
func (v *verifier) leads(head *node, cites []int) bool {
	for _, c := range head.claims {
		c.cites = cites
		if !v.supported(c, quotations(c.line)) {
			return false
		}
	}
	return true
}
