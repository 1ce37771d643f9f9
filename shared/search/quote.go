package search

import (
	"cmp"
	"fmt"
	"html"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/google/uuid"

	"docent/shared/search/text"
	"docent/shared/uri"
)

// Bounds of what is quoted.
const (
	quotedPassages = 8    // passages whose blocks are weighed
	quotedBlocks   = 3    // blocks, each of another document
	quotedOfPart   = 2    // blocks for each of several questions
	longBlock      = 100  // minimum bytes of a block, without its marks, that is the same in several documents
	furtherShare   = 0.5  // minimum score of a further document's passage, relative to the best passage
	furtherBlock   = 0.6  // minimum score of a further block, relative to the first block
	blockChars     = 1200 // characters of one block
	blockK1        = 0.9
	blockB         = 0.4
	leadingBytes   = 500 // maximum size of what leads to a passage from the text before it
)

// Quote builds the answer to question from the result of Search: whole blocks of the best
// passages, and for short ones the text around them, as Markdown that is safe to render. If
// nothing was found, the answer says so. Apart from names and numbers, it adds no words to those
// of the documents.
func Quote(question string, r Result) Answer {
	return QuoteUpTo(question, r, quotedPassages, quotedBlocks, nil)
}

// QuoteUpTo is Quote with other bounds: it weighs this many passages, at most 24, and
// quotes this many blocks. numbers has the number of each document of r.Best; with nil,
// documents are numbered in order of quotation.
func QuoteUpTo(question string, r Result, passages, pieces int, numbers map[uuid.UUID]int) Answer {
	if !r.Found() {
		return notFound(r)
	}
	quotes := choose(question, r, passages, pieces)
	if len(quotes) == 0 {
		return notFound(r)
	}
	var answer Answer
	answer.begin(answer.quote(quotes, map[uuid.UUID]int{}, numbers))
	return answer
}

// Part is one of several questions that a text asks.
type Part struct {
	Text   string // of the question
	Asked  string // what was searched for
	Result Result
}

// QuoteParts builds the answer to a text that asks several questions, each with its own quotations below it. A question whose
// answer is quoted for one before it is named there. If that leaves one question, or nothing was found for any, the answer is
// not Found.
func QuoteParts(parts []Part) Answer {
	type section struct {
		heading, body string
		quotes        []quote
	}
	var sections []section
	var answer Answer
	cited := map[uuid.UUID]int{}
	for _, p := range parts {
		s := section{heading: p.Text}
		if p.Result.Found() {
			s.quotes = choose(p.Asked, p.Result, quotedPassages, quotedOfPart)
		}
		if len(s.quotes) == 0 {
			none := notFound(p.Result)
			s.body, answer.Closest = "\n"+none.Markdown, append(answer.Closest, none.Closest...)
			sections = append(sections, s)
			continue
		}
		if i := slices.IndexFunc(sections, func(before section) bool { return s.quotes[0].isWithin(before.quotes) }); i >= 0 {
			sections[i].heading = strings.TrimRight(sections[i].heading, "?？ ") + ", " + p.Text
			continue
		}
		s.body = answer.quote(s.quotes, cited, nil)
		sections = append(sections, s)
	}
	if len(sections) < 2 || len(answer.References) == 0 {
		return Answer{}
	}
	var body strings.Builder
	for _, s := range sections {
		fmt.Fprintf(&body, "\n## %s\n%s", escapeText(s.heading), s.body)
	}
	answer.begin(body.String())
	return answer
}

// isWithin reports whether the block of q that answers is in one of quotes: of the same document, or if it is long, of any.
func (q quote) isWithin(quotes []quote) bool {
	block := withoutMarks(q.block)
	return slices.ContainsFunc(quotes, func(other quote) bool {
		of := func(h Hit) bool { return h.Document == q.hit.Document }
		return (of(other.hit) || slices.ContainsFunc(other.copies, of) || len(block) >= longBlock) && strings.Contains(withoutMarks(other.markdown), block)
	})
}

// quote returns quotes as Markdown, and adds their documents to the references. Their numbers are those of numbers, or of the
// references, which cited has.
func (a *Answer) quote(quotes []quote, cited, numbers map[uuid.UUID]int) string {
	var body strings.Builder
	for _, q := range quotes {
		var links []string
		for _, hit := range append([]Hit{q.hit}, q.copies...) {
			if cited[hit.Document] == 0 {
				a.References = append(a.References, Reference{URL: hit.Address(), Title: PlainTitle(hit.Title)})
				cited[hit.Document] = len(a.References)
			}
			number := cited[hit.Document]
			if numbers != nil {
				number = numbers[hit.Document]
			}
			link := strconv.Itoa(number)
			if target := LinkTarget(hit.Address()); target != "" {
				link = fmt.Sprintf("[%d](%s)", number, target)
			}
			links = append(links, link)
		}
		fmt.Fprintf(&body, "\n**%s** (%s)\n\n%s", q.hit.nameAndHeading(), strings.Join(links, ", "), quoted(q.markdown))
	}
	return body.String()
}

// begin makes body, which quotes the references, the text of the answer.
func (a *Answer) begin(body string) {
	of := "1 document"
	if n := len(a.References); n > 1 {
		of = fmt.Sprintf("%d documents", n)
	}
	a.Markdown = fmt.Sprintf("*Quoted from %s, not written.*\n%s", of, body)
	a.Found = true
}

// quoted returns Markdown as a block quotation.
func quoted(markdown string) string {
	var b strings.Builder
	for line := range strings.SplitSeq(markdown, "\n") {
		b.WriteString(strings.TrimRight("> "+line, " ") + "\n")
	}
	return b.String()
}

// name returns the title as Markdown, or what replaces it if there is none.
func (h Hit) name() string {
	return cmp.Or(escapeText(PlainTitle(h.Title)), escapeText(h.URI), "Untitled document")
}

// nameAndHeading returns the name and the heading path, without a first heading that
// repeats the title.
func (h Hit) nameAndHeading() string {
	var path []string
	for i, heading := range strings.Split(h.Heading, text.HeadingArrow) {
		heading = PlainTitle(escapedPunct.ReplaceAllString(withoutTags(componentTag.ReplaceAllString(heading, "")), "$1"))
		if heading == "" || i == 0 && strings.EqualFold(heading, PlainTitle(text.PlainHeading(h.Title))) {
			continue
		}
		path = append(path, heading)
	}
	if heading := escapeText(strings.Join(path, text.HeadingArrow)); heading != "" {
		return h.name() + ": " + heading
	}
	return h.name()
}

// attributeList matches the list "{ #id .class key=value }" after a heading, or "((#id))" as HashiCorp writes it.
var attributeList = regexp.MustCompile(`\s*(?:\{:?\s*[.#][\w:-]+(?:\s+(?:[.#][\w:-]+|[\w-]+=(?:"[^"]*"|[^\s"{}]+)))*\s*\}|\(\(#[\w-]+\)\))\s*$`)

var (
	openTag  = regexp.MustCompile(`<[a-z][a-z0-9]*\s[^<>]*=[^<>]*>`)
	closeTag = regexp.MustCompile(`</[a-z][a-z0-9]*>`)
)

// withoutTags returns a heading without tags of HTML that have attributes, and without the tags that end these. A tag without
// attributes is what the heading is about, because a heading keeps no marks of code.
func withoutTags(heading string) string {
	if opened := openTag.ReplaceAllString(heading, ""); opened != heading {
		return closeTag.ReplaceAllString(opened, "")
	}
	return heading
}

// escapedPunct matches an escape of Markdown, as headings that are made from HTML have it.
var escapedPunct = regexp.MustCompile(`\\([!-/:-@\[-` + "`" + `{-~])`)

// PlainTitle returns a title or heading as people read it: on one line, as OneLine does, with the characters of its entities, and without the
// list of its attributes.
func PlainTitle(title string) string {
	return OneLine(html.UnescapeString(attributeList.ReplaceAllString(title, "")))
}

// OneLine returns text on one line, without hidden characters and without what controls a terminal or the direction of the
// text around it, such as of an address that follows.
func OneLine(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r), isHidden(r), '\u202a' <= r && r <= '\u202e', '\u2066' <= r && r <= '\u2069':
			return -1
		}
		return r
	}, text)
	return strings.Join(strings.Fields(text), " ")
}

// Visible returns text without hidden characters and without control characters other than line feeds and tabs.
func Visible(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' || isHidden(r) {
			return -1
		}
		return r
	}, text)
}

// isHidden reports whether r is a tag character, U+E0000 to U+E007F. Programs show nothing of these, and language models read the
// letters that they stand for, so that a document could instruct a model without its readers' knowledge.
func isHidden(r rune) bool { return 0xe0000 <= r && r <= 0xe007f }

// LinkTarget returns the address of a document as the target of a Markdown link, or "" if it is
// not http or https. It escapes the result of uri.WebLink where Markdown would read an entity.
func LinkTarget(address string) string {
	return entity.ReplaceAllString(uri.WebLink(address), "&amp;$1")
}

// entity matches an entity, which Markdown reads as one character.
var entity = regexp.MustCompile(`&(#?[0-9A-Za-z]{1,40};)`)

// blocks returns the blocks of the passage. If the passage begins within a block, the first one
// has its opening. A passage without any word has none.
func (h Hit) blocks() []block {
	passage := h.visible()
	if !hasWord(passage) {
		return nil
	}
	var open items
	within := ""
	if !h.fromStart {
		open, within = presumedItems(h.before + passage)
	}
	opening := open.read(within + h.before)
	if !h.fromStart && within == "" && isBare(strings.TrimSpace(opening)) {
		opening = "" // it may be the end of a block that began before
	}
	if opening = cmp.Or(h.opening, opening); opening == "" {
		return blocks(h.leading()+passage, open)
	}
	return blocks(opening+"\n"+passage, open)
}

// leading returns the title or the announcement that the text before the passage ends with, as a paragraph of its own: the term of
// a definition that begins the passage, or the sentence before its list. It is "" if there is none.
func (h Hit) leading() string {
	before := strings.TrimRight(lineEnds.Replace(h.before), " \t\n")
	paragraph := before
	if gaps := blankLines.FindAllStringIndex(before, -1); len(gaps) > 0 {
		paragraph = before[gaps[len(gaps)-1][1]:]
	}
	first, _, _ := strings.Cut(strings.TrimLeft(h.Passage, "\r\n"), "\n")
	level, _ := text.ATXHeading(text.Unquote(first))
	if level > 0 || len(paragraph) > leadingBytes || indentOf(paragraph) > 0 || strings.Contains(paragraph, "<!--") || strings.Contains(paragraph, "-->") {
		return ""
	}
	if found := blocks(paragraph, nil); len(found) != 1 || !found[0].isTitle(true) && !found[0].announces() {
		return ""
	}
	return paragraph + "\n\n"
}

// visible returns the passage without what an HTML comment hides that begins before it or ends after it, as far as the text
// there was read with it. A line "-->" ends a comment whose beginning was not read.
func (h Hit) visible() string {
	passage, fence := h.Passage, openFence(h.opening)
	if fence == "" && openComment(h.before, "") >= 0 {
		if _, rest, ended := strings.Cut(passage, "-->"); ended {
			passage = rest
		} else if strings.Contains(h.after, "-->") {
			return ""
		}
	} else if fence == "" && !h.fromStart {
		if end := commentEnd.FindStringIndex(passage); end != nil && !strings.Contains(passage[:end[0]], "<!--") && !anyFence.MatchString(passage[:end[0]]) {
			passage = passage[end[1]:]
		}
	}
	if at := openComment(passage, fence); at >= 0 && strings.Contains(h.after, "-->") {
		passage = passage[:at]
	}
	return passage
}

// quote is the block that is quoted of a document.
type quote struct {
	hit      Hit
	score    float64
	markdown string
	block    string // the block that answers best, without marks
	copies   []Hit  // further documents that say the same
}

// repeats reports whether q says the same as other: in the same words, or with the same long block, as versions of a page do.
func (q quote) repeats(other quote) bool {
	if block := withoutMarks(q.block); len(block) >= longBlock && block == withoutMarks(other.block) {
		return true
	}
	return withoutMarks(q.markdown) == withoutMarks(other.markdown)
}

// withoutMarks returns Markdown in small letters without what wraps and marks its words.
func withoutMarks(markdown string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || strings.ContainsRune("*_`|-+:\\", r) {
			return -1
		}
		return unicode.ToLower(r)
	}, markdown)
}

// choose weighs the blocks of the best passages. It returns the best block, and then the best
// block of each further document whose passage scores high enough, each text once.
func choose(question string, r Result, passages, pieces int) []quote {
	best := r.Best[:min(passages, len(r.Best))]
	asked := answerTypeOf(question)
	var all []weighedBlock
	for _, hit := range best {
		found := hit.blocks()
		for i, b := range found {
			all = append(all, weighedBlock{hit: hit, block: b, all: found, at: i})
		}
	}
	weigh(all, asked, best[0].Normalised)
	slices.SortStableFunc(all, func(a, b weighedBlock) int { return cmp.Compare(b.score, a.score) })
	if answers := slices.DeleteFunc(slices.Clone(all), func(b weighedBlock) bool { return b.block.isLead() }); len(answers) > 0 {
		all = answers
	}
	var quotes []quote
	taken := map[uuid.UUID]bool{}
	for _, b := range all {
		if taken[b.hit.Document] || len(quotes) > 0 && !b.adds(all[0], best[0]) {
			continue
		}
		taken[b.hit.Document] = true
		markdown := stretch(b.all, b.at, b.hit.ranking, asked)
		q := quote{hit: b.hit, score: b.score, markdown: markdown, block: b.block.whole()}
		if i := slices.IndexFunc(quotes, q.repeats); i >= 0 {
			quotes[i].copies = append(quotes[i].copies, b.hit)
			continue
		}
		if len(quotes) == pieces {
			break
		}
		quotes = append(quotes, q)
	}
	return quotes
}

// adds reports whether a block of a further document answers nearly as well as the
// first block and the best passage. A list of links names pages and does not answer.
func (b weighedBlock) adds(first weighedBlock, best Hit) bool {
	return !b.block.links && b.hit.Normalised >= furtherShare*best.Normalised && b.score >= furtherBlock*first.score
}
