package search

import (
	"cmp"
	"encoding/binary"
	"hash/maphash"
	"slices"
	"strings"

	"docent/shared/search/segment"
)

// postingLists gathers the postings of terms, passage by passage. A text may have a million
// different terms, so they are kept in a few large arrays without pointers, which the garbage
// collector does not search.
type postingLists struct {
	seed  maphash.Seed
	slots []uint32        // a hash table with linear probing: the number of a term plus one
	text  strings.Builder // the terms, one after the other
	terms paged[termList] // by the number of the term
	older chains          // the postings of terms except the last of each
}

// termList is a term with its last posting.
type termList struct {
	end   uint32 // of the term in the text
	older uint32 // the number of its list of older postings plus one; 0: none
	last  segment.Posting
}

// minSlots is the size of a small hash table, a power of two.
const minSlots = 1 << 10

func newPostingLists() *postingLists {
	return &postingLists{seed: maphash.MakeSeed(), slots: make([]uint32, minSlots)}
}

// add counts term in passage by weight. Passages come in ascending order.
func (l *postingLists) add(term string, passage, weight uint32) {
	t := l.find(term)
	switch {
	case t.last.Frequency == 0:
		t.last = segment.Posting{Passage: passage, Frequency: weight}
	case t.last.Passage == passage:
		t.last.Frequency += weight
	default:
		if t.older == 0 {
			t.older = uint32(l.older.begin() + 1)
		}
		l.older.add(int(t.older-1), t.last)
		t.last = segment.Posting{Passage: passage, Frequency: weight}
	}
}

// find returns the list of term, which is empty if the term is new.
func (l *postingLists) find(term string) *termList {
	slot := l.slot(term)
	if n := l.slots[slot]; n > 0 {
		return l.terms.at(int(n - 1))
	}
	if l.terms.n >= len(l.slots)/4*3 {
		l.grow()
		slot = l.slot(term)
	}
	l.text.WriteString(term)
	l.terms.add(termList{end: uint32(l.text.Len())})
	l.slots[slot] = uint32(l.terms.n)
	return l.terms.at(l.terms.n - 1)
}

// slot returns the place of term in the hash table, or of the free slot where it belongs.
func (l *postingLists) slot(term string) int {
	mask := len(l.slots) - 1
	slot := int(maphash.String(l.seed, term)) & mask
	for l.slots[slot] > 0 && l.term(int(l.slots[slot]-1)) != term {
		slot = (slot + 1) & mask
	}
	return slot
}

// grow doubles the hash table.
func (l *postingLists) grow() {
	l.slots = make([]uint32, 2*len(l.slots))
	mask := len(l.slots) - 1
	for n := range l.terms.n {
		slot := int(maphash.String(l.seed, l.term(n))) & mask
		for l.slots[slot] > 0 {
			slot = (slot + 1) & mask
		}
		l.slots[slot] = uint32(n + 1)
	}
}

// term returns the term with number n.
func (l *postingLists) term(n int) string {
	start := uint32(0)
	if n > 0 {
		start = l.terms.at(n - 1).end
	}
	return l.text.String()[start:l.terms.at(n).end]
}

// write writes all terms in byte order. Afterwards nothing can be added.
func (l *postingLists) write(w *segment.Writer) {
	l.slots = nil
	var list []segment.Posting
	for _, t := range l.sorted() {
		of := l.terms.at(int(t.number))
		list = list[:0]
		if of.older > 0 {
			list = l.older.appendTo(list, int(of.older-1))
		}
		list = append(list, of.last)
		w.Term(l.term(int(t.number)), list)
	}
}

// sortedTerm is a term in byte order.
type sortedTerm struct {
	start  uint64 // the first bytes of the term, which decide most comparisons
	number uint32
}

func (l *postingLists) sorted() []sortedTerm {
	all := make([]sortedTerm, l.terms.n)
	for n := range all {
		var start [8]byte
		copy(start[:], l.term(n))
		all[n] = sortedTerm{binary.BigEndian.Uint64(start[:]), uint32(n)}
	}
	slices.SortFunc(all, func(a, b sortedTerm) int {
		if a.start != b.start {
			return cmp.Compare(a.start, b.start)
		}
		return cmp.Compare(l.term(int(a.number)), l.term(int(b.number)))
	})
	return all
}

// paged is a slice that grows without moving its elements.
type paged[T any] struct {
	pages [][]T
	n     int
}

const pageElements = 1 << 12

func (p *paged[T]) add(v T) {
	switch {
	case p.n == 0:
		p.pages = [][]T{nil} // grows as a slice does, because most segments are small
	case p.n%pageElements == 0:
		p.pages = append(p.pages, make([]T, 0, pageElements))
	}
	last := &p.pages[len(p.pages)-1]
	*last = append(*last, v)
	p.n++
}

func (p *paged[T]) at(i int) *T { return &p.pages[i/pageElements][i%pageElements] }
