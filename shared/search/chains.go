package search

import (
	"encoding/binary"

	"docent/shared/search/segment"
)

// chains keeps lists of postings that grow at the same time, each as a chain of slices of a few large
// byte arrays. Most postings take two bytes.
type chains struct {
	pages [][]byte
	lists paged[chain]
}

// chain is one list. Its slices double in size; each ends with the place of the next one.
type chain struct {
	first, next uint32 // places of its first byte and of its next byte
	size, room  uint16 // of its last slice, and what is left of it before the link
	passage     uint32 // of its last posting
}

const (
	chainPage  = 1 << 16
	sliceLeast = 8
	sliceMost  = 1 << 10
	linkBytes  = 4
)

// begin starts a list and returns its number.
func (c *chains) begin() int {
	at := c.slice(sliceLeast)
	c.lists.add(chain{first: at, next: at, size: sliceLeast, room: sliceLeast - linkBytes})
	return c.lists.n - 1
}

// slice returns the place of a new slice of size bytes, all in one page.
func (c *chains) slice(size int) uint32 {
	last := len(c.pages) - 1
	if last < 0 || len(c.pages[last])+size > chainPage {
		var page []byte // the first one grows as a slice does, because most segments are small
		if last >= 0 {
			page = make([]byte, 0, chainPage)
		}
		c.pages = append(c.pages, page)
		last++
	}
	page := &c.pages[last]
	at := last*chainPage + len(*page)
	*page = append(*page, make([]byte, size)...)
	return uint32(at)
}

// at returns the bytes of a page from a place on.
func (c *chains) at(place uint32) []byte { return c.pages[place/chainPage][place%chainPage:] }

// add appends a posting to a list. Passages ascend.
func (c *chains) add(number int, p segment.Posting) {
	list := c.lists.at(number)
	var encoded [2 * binary.MaxVarintLen32]byte
	n := binary.PutUvarint(encoded[:], uint64(p.Passage-list.passage))
	n += binary.PutUvarint(encoded[n:], uint64(p.Frequency))
	list.passage = p.Passage
	for _, b := range encoded[:n] {
		if list.room == 0 {
			list.size = min(2*list.size, sliceMost)
			next := c.slice(int(list.size))
			binary.LittleEndian.PutUint32(c.at(list.next), next)
			list.next, list.room = next, list.size-linkBytes
		}
		c.at(list.next)[0] = b
		list.next++
		list.room--
	}
}

// appendTo appends the postings of a list to postings.
func (c *chains) appendTo(postings []segment.Posting, number int) []segment.Posting {
	list := *c.lists.at(number)
	r := chainReader{chains: c, next: list.first, size: sliceLeast, room: sliceLeast - linkBytes}
	for passage := uint32(0); r.next != list.next; {
		passage += r.uvarint()
		postings = append(postings, segment.Posting{Passage: passage, Frequency: r.uvarint()})
	}
	return postings
}

// chainReader reads the bytes of a list.
type chainReader struct {
	*chains
	next       uint32
	size, room uint16
}

func (r *chainReader) uvarint() uint32 {
	n := uint32(0)
	for shift := 0; ; shift += 7 {
		if r.room == 0 {
			r.size = min(2*r.size, sliceMost)
			r.next, r.room = binary.LittleEndian.Uint32(r.at(r.next)), r.size-linkBytes
		}
		b := r.at(r.next)[0]
		r.next++
		r.room--
		n |= uint32(b&0x7f) << shift
		if b < 0x80 {
			return n
		}
	}
}
