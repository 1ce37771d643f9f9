package search

import (
	"cmp"
	"math/bits"
	"slices"
	"sync"

	"docent/shared/search/segment"
)

// windowPassages is the number of passages that are scored together. Their scores fit
// into the processor's fastest cache, and bounds cover a small part of the lists.
const windowPassages = 4096

// boundSlack compensates for the rounding of scores, so that an upper bound is never too low.
const boundSlack = 1 + 1e-5

// scorer computes what one term adds to the score of a passage.
type scorer struct{ weight, base, slope float32 }

func (s *scorer) score(frequency uint32, length uint16) float32 {
	f := float32(frequency)
	return s.weight * f / (f + s.base + s.slope*float32(length))
}

// ordered returns the terms that some passage contains, by descending weight. Scores are always
// summed in this order, so that skipping never changes a score by rounding.
func (r *ranking) ordered() []*questionTerm {
	terms := slices.DeleteFunc(r.scored(), func(t *questionTerm) bool { return t.df == 0 })
	slices.SortStableFunc(terms, func(a, b *questionTerm) int { return cmp.Compare(r.weight(b), r.weight(a)) })
	return terms
}

func (r *ranking) weight(t *questionTerm) float32 {
	return float32(float64(t.count) * t.weight * t.idf * (r.profile.k1 + 1))
}

func (r *ranking) scorer(t *questionTerm) scorer {
	p := r.profile
	return scorer{r.weight(t), float32(p.k1 * (1 - p.b)), float32(p.k1 * p.b / r.average)}
}

// cursor reads the postings of one term in one segment.
type cursor struct {
	scorer
	blocks      []segment.Block
	bounds      []float32 // max score of a posting in each block
	first       int       // the first block that ends in or after the window
	windowBound float32   // max score of a posting in the window
	suffixBound float32   // upper bound of what this and all later terms add to a score in the window

	at    int // the block that is decoded, -1: none
	next  int // the next posting of that block to compare in find
	total int // number of decoded postings
	segment.Decoded
}

// scanner is the memory of one scan. The next scan uses it again.
type scanner struct {
	cursors []cursor
	scores  [windowPassages]float32
	touched [windowPassages / 64]uint64
}

var scanners = sync.Pool{New: func() any { return new(scanner) }}

// scan adds the best passages of a segment to top. It decodes a block of postings only
// if a passage in it can reach the floor.
func (r *ranking) scan(number int, terms []*questionTerm, top *top) error {
	s := r.segments[number]
	sc := scanners.Get().(*scanner)
	if err := sc.open(r, number, terms); err != nil {
		return err // the state of sc is unknown, so it is not used again
	}
	for from := 0; from < s.Passages; from += windowPassages {
		to := min(from+windowPassages, s.Passages)
		essential := sc.enterWindow(from, to, top.floor())
		if essential == 0 {
			continue
		}
		if err := sc.add(s, from, to, essential, top.floor()); err != nil {
			return err
		}
		if err := sc.collect(s, number, from, essential, top); err != nil {
			return err
		}
	}
	for i := range sc.cursors {
		r.decoded += sc.cursors[i].total
		clear(sc.cursors[i].blocks) // they would keep the segment in memory
	}
	scanners.Put(sc)
	return nil
}

// open sets a cursor to the start of each term's postings.
func (sc *scanner) open(r *ranking, number int, terms []*questionTerm) (err error) {
	s := r.segments[number]
	sc.cursors = slices.Grow(sc.cursors[:0], len(terms))
	for _, t := range terms {
		l := t.lists[number]
		if l == nil || l.DF == 0 {
			continue
		}
		sc.cursors = sc.cursors[:len(sc.cursors)+1]
		c := &sc.cursors[len(sc.cursors)-1]
		c.scorer, c.first, c.at, c.total = r.scorer(t), 0, -1, 0
		if c.blocks, err = l.Blocks(c.blocks[:0]); err != nil {
			return err
		}
		c.bounds = c.bounds[:0]
		if c.blocks[0].Last < 0 { // a short list without a head is decoded at once
			if err := c.Decode(&c.blocks[0], s.Passages); err != nil {
				return err
			}
			c.at, c.next, c.total = 0, 0, c.N
			c.blocks[0].Last = int(c.Passages[c.N-1])
			c.bounds = append(c.bounds, 0)
			for i := range c.N {
				c.bounds[0] = max(c.bounds[0], c.score(c.Frequencies[i], s.Length(int(c.Passages[i]))))
			}
			continue
		}
		for i := range c.blocks {
			c.bounds = append(c.bounds, c.score(c.blocks[i].Highest, c.blocks[i].Lowest))
		}
	}
	return nil
}

// enterWindow moves to a window and returns how many leading terms are essential
// (MaxScore): a passage with none of them cannot reach the floor.
func (sc *scanner) enterWindow(from, to int, floor float32) (essential int) {
	for i := range sc.cursors {
		c := &sc.cursors[i]
		for c.first < len(c.blocks) && c.blocks[c.first].Last < from {
			c.first++
		}
		c.windowBound = 0
		for j := c.first; j < len(c.blocks) && c.blocks[j].Previous+1 < to; j++ {
			c.windowBound = max(c.windowBound, c.bounds[j])
		}
	}
	beyond := float32(0)
	for i := len(sc.cursors) - 1; i >= 0; i-- {
		c := &sc.cursors[i]
		beyond += c.windowBound
		c.suffixBound = beyond * boundSlack
		if essential == 0 && beyond > 0 && c.suffixBound >= floor {
			essential = i + 1
		}
	}
	return essential
}

// add scores the passages of a window by the essential terms.
func (sc *scanner) add(s *segment.Segment, from, to, essential int, floor float32) error {
	all := sc.cursors[0].suffixBound
	for i := range sc.cursors[:essential] {
		c := &sc.cursors[i]
		others := all - c.windowBound
		for j := c.first; j < len(c.blocks) && c.blocks[j].Previous+1 < to; j++ {
			if (others+c.bounds[j])*boundSlack < floor {
				continue // its passages cannot reach the floor
			}
			if err := c.read(j, s.Passages); err != nil {
				return err
			}
			for k := range c.N {
				p := int(c.Passages[k]) - from
				if p < 0 {
					continue
				}
				if p >= to-from {
					break
				}
				sc.scores[p] += c.score(c.Frequencies[k], s.Length(from+p))
				sc.touched[p/64] |= 1 << (p % 64)
			}
		}
	}
	return nil
}

// collect adds the other terms to the passages of a window that can reach the floor,
// and resets the window's scores to zero.
func (sc *scanner) collect(s *segment.Segment, number, from, essential int, top *top) error {
	others := sc.cursors[essential:]
	for w, set := range sc.touched {
		if set == 0 {
			continue
		}
		sc.touched[w] = 0
		for ; set != 0; set &= set - 1 {
			p := w*64 + bits.TrailingZeros64(set)
			score := sc.scores[p]
			sc.scores[p] = 0
			passage := from + p
			for i := range others {
				c := &others[i]
				if (score+c.suffixBound)*boundSlack < top.floor() {
					break
				}
				if !c.reaches(passage) {
					continue
				}
				next := float32(0)
				if i+1 < len(others) {
					next = others[i+1].suffixBound
				}
				if (score+c.bounds[c.first]+next)*boundSlack < top.floor() {
					break
				}
				frequency, err := c.find(passage, s.Passages)
				if err != nil {
					return err
				}
				if frequency > 0 {
					score += c.score(frequency, s.Length(passage))
				}
			}
			top.add(score, number, passage)
		}
	}
	return nil
}

// read decodes a block if it is not decoded yet.
func (c *cursor) read(block, limit int) error {
	if c.at == block {
		return nil
	}
	c.at, c.next = -1, 0
	if err := c.Decode(&c.blocks[block], limit); err != nil {
		return err
	}
	c.at = block
	c.total += c.N
	return nil
}

// reaches moves to the block that may contain passage, and reports whether there is one.
// Passages must ascend from call to call, and must not be before the window.
func (c *cursor) reaches(passage int) bool {
	for c.first < len(c.blocks) && c.blocks[c.first].Last < passage {
		c.first++
	}
	return c.first < len(c.blocks) && c.blocks[c.first].Previous < passage
}

// find returns how often passage contains the term. The current block must reach
// passage.
func (c *cursor) find(passage, limit int) (uint32, error) {
	if err := c.read(c.first, limit); err != nil {
		return 0, err
	}
	for c.next < c.N && int(c.Passages[c.next]) < passage {
		c.next++
	}
	if c.next < c.N && int(c.Passages[c.next]) == passage {
		return c.Frequencies[c.next], nil
	}
	return 0, nil
}
