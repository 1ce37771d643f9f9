package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// InlineBytes is the maximum length of a body that is stored in its document's record.
const InlineBytes = 3 << 10

// HeadingArrow separates the headings of a path.
const HeadingArrow = " > "

// Bounds of passages and chunks.
const (
	softWords    = 200     // a passage of at least this length ends at a blank line
	hardWords    = 300     // maximum length of a passage
	ChunkBytes   = 7 << 9  // 3.5 KB: maximum text of a passage or chunk
	chunkHeads   = 4 << 10 // maximum size of the headings and openings of a chunk, with headCost each
	headCost     = 16      // for a passage's offsets, in addition to its heading path
	headingBytes = 120     // maximum size of one heading in a path
	openingBytes = 512     // maximum size of Passage.Opening
)

// What short passages may cost. Each is indexed with the title and its heading path and has a vector, so a body of nothing but
// headings would cost a hundred times its size. One with a few hundred short sections, or whose sections have 150 bytes on average, is
// cut at each of its headings.
const (
	passageCost = 256      // of a passage, next to its heading path
	freeCost    = 64 << 10 // of a body
	costPerByte = 2        // of a body, in addition
)

// Passage is a byte range of a body with its heading path: "Deploying > Rolling back".
// The path has levels 2 to 6 and at most 612 bytes. Level 1 is usually the document's
// title and is left out.
type Passage struct {
	Start, End int
	Heading    string
	// Opening is the start of the block that the passage begins in: the line of the code fence,
	// or the two lines of the table's head. It has at most 512 bytes, and is "" if the passage
	// does not begin within a block or the opening is longer.
	Opening string `json:",omitempty"`
	// Page is the number of the page of a file, slide or sheet that the passage is on; 0: the
	// body has no pages.
	Page int `json:",omitempty"`
}

// Chunk is a run of whole passages, stored as one item of a long body.
type Chunk struct {
	Start, End int
	Passages   []Passage
}

// Cut divides a Markdown or plain body into passages, and groups them in chunks of at most
// 3.5 KB of text. The passages of all chunks in order are exactly the body. There is always a
// chunk with a passage; for an empty body, the passage is empty. A body of up to InlineBytes is
// one chunk.
//
// A passage ends before an ATX heading outside code fences, at a blank line if it has at least
// 200 words, and always at 300 words or 3.5 KB: after a line if one ends late enough, otherwise
// after a space, otherwise after a rune. In a body of very many very short sections, some sections share a passage.
func Cut(body string) []Chunk { return CutPages(body, nil) }

// Page is where a page begins in a body.
type Page struct{ Start, Number int }

// CutPages is Cut of a body with pages, in their order. The first begins with the body, each other
// one after a line end. A passage also ends where a page ends; where very many pages are very short, some share a passage, whose
// page is the first of them. The heading path continues on the next page, a code fence or a table does not.
func CutPages(body string, pages []Page) []Chunk {
	c := cutter{body: body}
	for c.pos < len(body) {
		if len(pages) > 0 && pages[0].Start <= c.pos {
			c.turn(pages[0].Number)
			pages = pages[1:]
		}
		c.line()
	}
	if c.pos > c.start || len(c.passages) == 0 {
		c.flush(c.pos)
	}
	return chunks(c.passages, len(body))
}

// cutter reads a body line by line. The current passage is body[start:pos], which
// includes what has been read of the current line.
type cutter struct {
	body     string
	passages []Passage
	path     [7]string // current heading by level
	start    int
	pos      int
	words    int
	lineEnd  int  // last line end, once a passage may end there; 0: none
	blank    bool // the line before was blank
	content  bool // the passage has more than headings and blank lines
	fence    string
	opening  string // of the passage under construction
	page     int    // of the passage under construction
	turned   int    // the page that has been reached
	cost     int    // of the passages so far

	lineStart      int
	opened, within opened // the open blocks before and after the current line
}

func (c *cutter) line() {
	end := len(c.body)
	if i := strings.IndexByte(c.body[c.pos:], '\n'); i >= 0 {
		end = c.pos + i + 1
	}
	line := c.body[c.pos:end]
	wasBlank := c.blank
	c.opened, c.lineStart = c.within, c.pos
	c.within = c.opened.after(line)
	c.blank = strings.TrimSpace(line) == ""
	if c.blank {
		c.consume(end)
		return
	}
	if c.fence == "" {
		if level, text := ATXHeading(line); level > 0 {
			if c.content && c.affordable() {
				c.flush(c.pos)
			}
			c.path[level] = PlainHeading(text)
			clear(c.path[level+1:])
			c.consume(end)
			return
		}
		if wasBlank && c.words >= softWords {
			c.flush(c.pos)
		}
	}
	c.fence = FenceAfter(c.fence, line)
	c.content = true
	c.consume(end)
}

// turn begins the page of that number.
func (c *cutter) turn(number int) {
	c.fence, c.opened, c.within = "", opened{}, opened{}
	c.turned, c.blank = number, false
	if c.pos > c.start && c.affordable() {
		c.flush(c.pos)
	}
	if c.pos == c.start {
		c.page = number
	}
}

// affordable reports whether the passage may end although it may be short.
func (c *cutter) affordable() bool {
	return c.words >= softWords || c.cost < freeCost+costPerByte*c.pos
}

// consume adds body[pos:end], the rest of one line, and ends passages that grow too
// long.
func (c *cutter) consume(end int) {
	inWord := false
	space := 0 // where the last run of white space of this line ended, within the passage
	for c.pos < end {
		isSpace, size := spaceAt(c.body[c.pos:end])
		full := c.pos+size-c.start > ChunkBytes
		if full || !isSpace && !inWord && c.words >= hardWords {
			switch {
			case c.lineEnd > c.start:
				c.cutAt(c.lineEnd)
			case !full:
				c.cutAt(c.pos)
			case space > c.start+ChunkBytes/2:
				c.cutAt(space)
			default:
				c.cutAt(c.pos)
			}
			inWord = c.words > 0 && inWord
			continue
		}
		if !isSpace && !inWord {
			c.words++
		}
		inWord = !isSpace
		c.pos += size
		if isSpace {
			space = c.pos
		}
	}
	if c.words >= softWords || c.pos-c.start >= ChunkBytes/2 {
		c.lineEnd = c.pos
	}
}

// spaceAt reports whether the rune at the start of s is white space, and returns its
// size.
func spaceAt(s string) (bool, int) {
	if b := s[0]; b < utf8.RuneSelf {
		return b == ' ' || b >= '\t' && b <= '\r', 1
	}
	r, size := utf8.DecodeRuneInString(s)
	return unicode.IsSpace(r), size
}

// cutAt ends the passage at i, which is at or before pos. The next passage begins with the text
// already read after i.
func (c *cutter) cutAt(i int) {
	rest := c.body[i:c.pos]
	c.flush(i)
	c.words = len(strings.Fields(rest))
	c.content = strings.TrimSpace(rest) != ""
}

// flush ends the passage at i.
func (c *cutter) flush(i int) {
	heading := c.heading()
	c.passages = append(c.passages, Passage{Start: c.start, End: i, Heading: heading, Opening: c.opening, Page: c.page})
	c.cost += passageCost + len(heading)
	c.page = c.turned
	c.start, c.words, c.lineEnd, c.content = i, 0, 0, false
	c.opening = c.opened.at(i > c.lineStart)
}

func (c *cutter) heading() string {
	var parts []string
	for _, h := range c.path[2:] {
		if h != "" {
			parts = append(parts, h)
		}
	}
	return strings.Join(parts, HeadingArrow)
}

// chunks groups passages that cover size bytes.
func chunks(passages []Passage, size int) []Chunk {
	if size <= InlineBytes {
		return []Chunk{{End: size, Passages: passages}}
	}
	var out []Chunk
	first, heads := 0, 0
	for i, p := range passages {
		cost := len(p.Heading) + len(p.Opening) + headCost
		if i > first && (p.End-passages[first].Start > ChunkBytes || heads+cost > chunkHeads) {
			out = append(out, chunkOf(passages[first:i]))
			first, heads = i, 0
		}
		heads += cost
	}
	return append(out, chunkOf(passages[first:]))
}

func chunkOf(passages []Passage) Chunk {
	return Chunk{Start: passages[0].Start, End: passages[len(passages)-1].End, Passages: passages[:len(passages):len(passages)]}
}
