package pdf

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"docent/shared/extract"
)

// file returns a PDF whose pages have these content streams.
func file(pages ...string) []byte {
	var b bytes.Buffer
	b.WriteString("%PDF-1.7\n")
	var offsets []int
	object := func(text string) {
		offsets = append(offsets, b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", len(offsets), text)
	}
	var kids strings.Builder
	for i := range pages {
		fmt.Fprintf(&kids, "%d 0 R ", 5+2*i)
	}
	object("<</Type/Catalog/Pages 2 0 R>>")
	object(fmt.Sprintf("<</Type/Pages/Count %d/Kids[%s]>>", len(pages), kids.String()))
	object("<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>")
	object("<</Type/Font/Subtype/Type1/BaseFont/Helvetica-Bold>>")
	for i, content := range pages {
		object(fmt.Sprintf("<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents %d 0 R/Resources<</Font<</F 3 0 R/B 4 0 R>>>>>>", 6+2*i))
		object(fmt.Sprintf("<</Length %d>>stream\n%s\nendstream", len(content), content))
	}
	object("<</Title(A title)>>")
	start := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(offsets)+1)
	for _, at := range offsets {
		fmt.Fprintf(&b, "%010d 00000 n \n", at)
	}
	fmt.Fprintf(&b, "trailer<</Size %d/Root 1 0 R/Info %d 0 R>>\nstartxref\n%d\n%%%%EOF\n", len(offsets)+1, len(offsets), start)
	return b.Bytes()
}

// at writes text with the font F, or B for bold, at a place.
func at(font string, size, x, y int, text string) string {
	return fmt.Sprintf("BT /%s %d Tf 1 0 0 1 %d %d Tm (%s) Tj ET\n", font, size, x, y, text)
}

// column writes lines below each other.
func column(x, y int, lines ...string) string {
	var b strings.Builder
	for i, l := range lines {
		b.WriteString(at("F", 10, x, y-12*i, l))
	}
	return b.String()
}

func read(ctx context.Context, b []byte, limits extract.Limits) (extract.Document, error) {
	return Read(ctx, bytes.NewReader(b), int64(len(b)), limits)
}

func TestRead(t *testing.T) {
	t.Parallel()
	lines := []string{"A paragraph above the figures, as wide as the page, in whose lines no one would look for", "the gap between their captions, of",
		"which there are two, on the left and on the right side of the page, and both have four lines", "as they are in papers and in manuals, where figures stand side by side, and not below each other."}
	lines[1] += " which more is said in the text that follows after them, but not here,"
	wide, wideText := column(50, 690, lines...), strings.Join(lines, " ")
	narrow := strings.Repeat("iii ", 30) // 284 points wide
	captions := [][]string{
		{"This is what the first of the fig-", "ures shows, which is a tree in the", "spring of a year that was warm, with", "its leaves and flo-"},
		{"and this is what is to be seen in", "the second one of them: a bush in the", "autumn of a year that was cold, and", "its berries."},
	}
	for _, c := range []struct{ name, content, want string }{
		{"a paragraph of several lines, and a word cut at a line's end",
			column(50, 700, "The report describes what the com-", "pany has done in the last year and", "what it plans."),
			"The report describes what the company has done in the last year and what it plans.\n"},
		{"a hyphen that the file has elsewhere within a line stays",
			column(50, 700, "A well-known rule is a rule that is well-", "known to all."),
			"A well-known rule is a rule that is well-known to all.\n"},
		{"headings by size and by weight",
			at("F", 20, 50, 740, "Title") + at("B", 10, 50, 715, "First part") +
				column(50, 690, "Text that goes on for a while, so that it is", "the most usual size on the whole page."),
			"# Title\n\n## First part\n\nText that goes on for a while, so that it is the most usual size on the whole page.\n"},
		{"two columns below a title", at("F", 20, 50, 740, "A title over both of the columns of this page") +
			column(50, 700, "Left one has many words here", "left two has many words here", "left three has many words", "left four has many words.") +
			column(320, 700, "Right one has many words too", "right two has many words too", "right three has many words", "right four has many words."),
			"# A title over both of the columns of this page\n\nLeft one has many words here left two has many words here left three has many words " +
				"left four has many words.\n\nRight one has many words too right two has many words too right three has many words right four has many words.\n"},
		{"two columns, and a header that reaches between them", at("F", 10, 278, 760, strings.Repeat("i", 30)) +
			column(50, 700, narrow+"1", narrow+"2", narrow+"3", narrow+"4") +
			column(350, 700, "Right one has many words here", "right two has many words here", "right three has many words too", "right four has many words."),
			strings.Repeat("i", 30) + "\n\n" + narrow + "1 " + narrow + "2 " + narrow + "3 " + narrow + "4\n\n" +
				"Right one has many words here right two has many words here right three has many words too right four has many words.\n"},
		{"a few lines of text next to each other below wide ones", wide + column(50, 640, captions[0]...) + column(300, 640, captions[1]...),
			wideText + "\n\nThis is what the first of the figures shows, which is a tree in the spring of a year that was warm, with its leaves and flo-\n\n" +
				"and this is what is to be seen in the second one of them: a bush in the autumn of a year that was cold, and its berries.\n"},
		{"a table of sentences", wide + column(50, 640, "The first of the answers is this one", "The second of the answers is this one", "The third of the answers is this one", "The fourth of the answers is here") +
			column(300, 640, "It belongs to the first question", "It belongs to the second question", "It belongs to the third question", "It belongs to the last question"),
			wideText + "\n\n| The first of the answers is this one | It belongs to the first question |\n| --- | --- |\n| The second of the answers is this one | It belongs to the second question |\n" +
				"| The third of the answers is this one | It belongs to the third question |\n| The fourth of the answers is here | It belongs to the last question |\n"},
		{"a heading in two lines", at("B", 16, 50, 740, "A heading that goes on") + at("B", 16, 50, 721, "in a second line") +
			column(50, 690, "Text that goes on for a while, so that it is", "the most usual size on the whole page, and in", "lines below each other, as text is, so that", "their distance is the usual one, and that of", "the heading's lines is not, as in print."),
			"# A heading that goes on in a second line\n\nText that goes on for a while, so that it is the most usual size on the whole page, and in lines below each other, as text is, so that " +
				"their distance is the usual one, and that of the heading's lines is not, as in print.\n"},
		{"a table", column(50, 700, "City", "Rome", "Oslo") + column(200, 700, "People", "2.8", "0.7") + column(350, 700, "Country", "Italy", "Norway"),
			"| City | People | Country |\n| --- | --- | --- |\n| Rome | 2.8 | Italy |\n| Oslo | 0.7 | Norway |\n"},
		{"bullets and numbers", column(50, 700, "\\225 first point that is long enough to", "go on in a second line", "\\225 second point") +
			column(50, 600, "1. one", "2. two"),
			"- first point that is long enough to go on in a second line\n- second point\n1. one\n2. two\n"},
		{"a page that is read from the side",
			"BT /F 10 Tf 0 1 -1 0 100 100 Tm (Turned text) Tj ET\nBT /F 10 Tf 0 1 -1 0 112 100 Tm (in two lines) Tj ET\n", "Turned text in two lines\n"},
		{"a page on its head, by a negative size of the font",
			"BT /F -10 Tf 1 0 0 1 400 100 Tm (Turned text) Tj ET\nBT /F -10 Tf 1 0 0 1 400 112 Tm (in two lines) Tj ET\n", "Turned text in two lines\n"},
		{"an exponent stays on its line", at("F", 10, 50, 700, "About 10") + at("F", 6, 92, 704, "3") + at("F", 10, 98, 700, "pages."), "About 10³ pages.\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			doc, err := read(context.Background(), file(c.content), extract.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			if doc.Title != "A title" || len(doc.Pages) != 1 || doc.Pages[0].Markdown != c.want {
				t.Errorf("got %q\n%+v\nwant\n%s", doc.Title, doc.Pages, c.want)
			}
		})
	}
}

func TestRepeatedHeadersAndPageNumbersAreDropped(t *testing.T) {
	t.Parallel()
	var pages []string
	for i := range 5 {
		pages = append(pages, at("F", 8, 50, 770, "Annual report of the company")+at("F", 10, 50, 700, "Text "+strings.Repeat("abc", i+1)+" is here.")+
			at("F", 8, 300, 20, fmt.Sprint(i+1)))
	}
	doc, err := read(context.Background(), file(pages...), extract.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range doc.Pages {
		want := "Text " + strings.Repeat("abc", i+1) + " is here.\n"
		if i == 0 {
			want = "Annual report of the company\n\n" + want
		}
		if p.Number != i+1 || p.Markdown != want {
			t.Errorf("page %d: %q, want %q", p.Number, p.Markdown, want)
		}
	}
}

func TestTextThatDiffersInNumbersOnlyStays(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		page func(number int) string
		want func(number int) string
	}{
		"all of a page": {
			func(n int) string { return at("F", 10, 50, 700, fmt.Sprintf("Document 1, page %d", n)) },
			func(n int) string { return fmt.Sprintf("Document 1, page %d\n", n) },
		},
		"beside the number of the page": {
			func(n int) string {
				return at("F", 10, 50, 700, fmt.Sprintf("Coupon %d", 40-n)) + at("F", 8, 300, 20, fmt.Sprint(n))
			},
			func(n int) string { return fmt.Sprintf("Coupon %d\n", 40-n) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			doc, err := read(context.Background(), file(tt.page(1), tt.page(2), tt.page(3), tt.page(4)), extract.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			if len(doc.Pages) != 4 {
				t.Fatalf("%d pages", len(doc.Pages))
			}
			for i, p := range doc.Pages {
				if want := tt.want(i + 1); p.Markdown != want {
					t.Errorf("page %d: %q, want %q", i+1, p.Markdown, want)
				}
			}
		})
	}
}

func TestLinesOfOnePageAreNoHeadersOfEachOther(t *testing.T) {
	t.Parallel()
	var pages []string
	for i := range 4 {
		pages = append(pages, at("F", 10, 50, 770, fmt.Sprintf("A = %d", 10+i))+at("F", 10, 150, 770, fmt.Sprintf("A = %d", 20+i))+column(50, 700, distinct(i)...))
	}
	doc, err := read(context.Background(), file(pages...), extract.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if first := doc.Pages[0].Markdown; !strings.Contains(first, "A = 10") || !strings.Contains(first, "A = 20") {
		t.Errorf("page 1: %q", first)
	}
}

// distinct returns lines of a page that no other page has.
func distinct(page int) []string {
	var lines []string
	for _, line := range []string{"the first line of a text that goes on", "for some lines, so that its size is", "the most usual one of the whole page,", "and in which no page is like another,", "because its letter is in each, up to", "the very last of them"} {
		lines = append(lines, string(rune('a'+page))+" "+line)
	}
	return lines
}

func TestHeadersThatDifferAreNoHeadings(t *testing.T) {
	t.Parallel()
	var pages []string
	for i := range 6 {
		pages = append(pages, at("B", 16, 50, 770, fmt.Sprint(i+7))+at("B", 16, 300, 770, "PART "+string(rune('A'+i/2)))+
			at("B", 16, 50, 740, "Title "+string(rune('a'+i)))+column(50, 700, distinct(i)...))
	}
	doc, err := read(context.Background(), file(pages...), extract.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range doc.Pages {
		want := fmt.Sprintf("%d PART %c\n\n# Title %c\n\n%s\n", i+7, 'A'+i/2, 'a'+i, strings.Join(distinct(i), " "))
		if p.Markdown != want {
			t.Errorf("page %d: %q, want %q", p.Number, p.Markdown, want)
		}
	}
}

func TestHeadersNextToTheTextAreNotWithinIt(t *testing.T) {
	t.Parallel()
	var pages []string
	for i := range 4 {
		pages = append(pages, column(120, 700, distinct(i)...)+
			at("F", 10, 40, 700, "Name of")+at("F", 10, 40, 688, "a paper")+at("F", 10, 40, 664, fmt.Sprint(169+i)))
	}
	doc, err := read(context.Background(), file(pages...), extract.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range doc.Pages {
		want := strings.Join(distinct(i), " ") + "\n"
		if i == 0 {
			want = "Name of a paper\n\n" + want
		}
		if p.Markdown != want {
			t.Errorf("page %d: %q, want %q", p.Number, p.Markdown, want)
		}
	}
}

func TestRowsOfATableAtTheEdgeStay(t *testing.T) {
	t.Parallel()
	var pages []string
	for i := range 4 {
		n := func(row int) string { return strings.Repeat(string(rune('a'+i)), row) }
		pages = append(pages, column(50, 700, "Rent", "Water", "Light")+column(200, 700, n(5), n(6), n(7))+column(350, 700, n(8), n(9), n(10)))
	}
	doc, err := read(context.Background(), file(pages...), extract.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range doc.Pages {
		if !strings.HasPrefix(p.Markdown, "| Rent | ") || strings.Count(p.Markdown, "\n") != 4 {
			t.Errorf("page %d: %s", p.Number, p.Markdown)
		}
	}
}

func TestPageOfPicturesSaysSo(t *testing.T) {
	t.Parallel()
	picture := "q 100 0 0 100 0 0 cm BI /W 1 /H 1 /BPC 8 /CS /G ID x EI Q"
	doc, err := read(context.Background(), file(at("F", 10, 50, 700, "Text"), picture, "", picture, picture), extract.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if len(doc.Pages) != 1 || len(doc.Notes) != 1 || doc.Notes[0] != "Pages 2, 4-5 are pictures without text." {
		t.Errorf("%+v", doc)
	}
}

// reason returns the page and sentence of an error for clients.
func reason(err error) string {
	var e *extract.Error
	if !errors.As(err, &e) {
		return fmt.Sprintf("not for clients: %v", err)
	}
	return fmt.Sprintf("%d: %s", e.Page, e.Reason)
}

func TestErrors(t *testing.T) {
	t.Parallel()
	good := file(at("F", 10, 50, 700, "Text"), at("F", 10, 50, 700, "More text than the limit"))
	encrypted := bytes.Replace(good, []byte("/Info"), []byte("/Encrypt<</Filter/Standard/V 1/R 2/P -1/O("+strings.Repeat("o", 32)+")/U("+
		strings.Repeat("u", 32)+")>>/ID[(x)(x)]/Info"), 1)
	for _, c := range []struct {
		name   string
		file   []byte
		limits extract.Limits
		want   string
	}{
		{"another type", []byte("PK\x03\x04 a ZIP archive"), extract.Limits{}, "0: The file is not a PDF file."},
		{"only the mark", []byte("%PDF-1.7\n"), extract.Limits{}, "0: The file is damaged."},
		{"a password", encrypted, extract.Limits{}, "0: The file is protected by a password."},
		{"too many pages", good, extract.Limits{Pages: 1}, "0: The file has more than 1 pages."},
		{"too much text", good, extract.Limits{Text: 20}, "2: The file has more than 0 MB of text."},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			doc, err := read(context.Background(), c.file, c.limits)
			if got := reason(err); got != c.want {
				t.Errorf("got %q, want %q; %+v", got, c.want, doc)
			}
		})
	}
}
