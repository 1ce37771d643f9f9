package pdf

import (
	"bytes"
	"compress/zlib"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"docent/shared/extract"
)

// objects returns a PDF of these objects; the first is the catalog. Readers find them without a table.
func objects(all ...string) []byte {
	var b bytes.Buffer
	b.WriteString("%PDF-1.7\n")
	for i, o := range all {
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	fmt.Fprintf(&b, "trailer<</Size %d/Root 1 0 R>>\n%%%%EOF\n", len(all)+1)
	return b.Bytes()
}

func stream(dictionary, content string) string {
	return fmt.Sprintf("<<%s/Length %d>>stream\n%s\nendstream", dictionary, len(content), content)
}

func deflated(parts ...string) string {
	var b bytes.Buffer
	z := zlib.NewWriter(&b)
	for _, p := range parts {
		z.Write([]byte(p)) //nolint:errcheck // a buffer takes everything
	}
	z.Close()
	return b.String()
}

const onePage = "<</Type/Catalog/Pages 2 0 R>>"

// doubling returns a file whose page draws a form that draws another twice, and so on: 2^depth in the end.
func doubling(depth int) []byte {
	all := []string{onePage, "<</Type/Pages/Count 1/Kids[3 0 R]>>",
		"<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Contents 4 0 R/Resources<</XObject<</X 5 0 R>>>>>>", stream("", "/X Do")}
	for i := range depth {
		all = append(all, stream(fmt.Sprintf("/Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources<</XObject<</X %d 0 R>>>>", 6+i), "/X Do /X Do"))
	}
	return objects(append(all, stream("/Type/XObject/Subtype/Form/BBox[0 0 9 9]", "0 0 1 1 re f"))...)
}

func TestAttacks(t *testing.T) {
	t.Parallel()
	page := "<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>>"
	font := "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"
	for _, c := range []struct {
		name string
		file []byte
		want []string // one of these; "" if the file can be read
	}{
		{"a million pages, of which one exists", objects(onePage, "<</Type/Pages/Count 1000000/Kids[3 0 R]>>", page, stream("", ""), font),
			[]string{"0: The file has more than 5000 pages."}},
		{"a tree of pages that contains itself", objects(onePage, "<</Type/Pages/Count 3/Kids[2 0 R 2 0 R 2 0 R]>>"), []string{""}},
		{"a page that is its own parent", objects(onePage, "<</Type/Pages/Count 1/Kids[3 0 R]/Parent 3 0 R>>", "<</Type/Page/Parent 3 0 R>>"), []string{""}},
		{"a stream that expands a thousand times, twice over",
			objects(onePage, "<</Type/Pages/Count 1/Kids[3 0 R]>>", page,
				stream("/Filter[/FlateDecode/FlateDecode]", deflated(deflated(strings.Repeat(" ", 16<<20)))), font), []string{""}},
		{"a page of half a million letters",
			objects(onePage, "<</Type/Pages/Count 1/Kids[3 0 R]>>", page,
				stream("/Filter/FlateDecode", deflated("BT /F 1 Tf 10 10 Td "+strings.Repeat("("+strings.Repeat("abcde", 120)+") Tj 0 0.9 Td ", 800)+"ET")), font),
			[]string{"1: The page has more than 400000 characters."}},
		{"a stream that says that it is 9 GB long", objects(onePage, "<</Type/Pages/Count 1/Kids[3 0 R]>>", page, "<</Length 9999999999>>stream\nBT\nendstream", font), []string{""}},
		{"a form that draws itself", objects(onePage, "<</Type/Pages/Count 1/Kids[3 0 R]>>",
			"<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Contents 4 0 R/Resources<</XObject<</X 4 0 R>>>>>>",
			stream("/Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources<</XObject<</X 4 0 R>>>>", "/X Do")), []string{""}},
		{"lists a hundred thousand deep", objects(onePage, "<</Type/Pages/Count 1/Kids"+strings.Repeat("[", 100_000)+">>"), []string{"", "0: The file is damaged."}},
		{"objects that refer to each other", objects("2 0 R", "1 0 R"), []string{"0: The file is damaged."}},
		{"places that are no numbers", file("BT /F 1e38 Tf 1e38 0 0 1e38 1e38 -1e38 Tm (x) Tj ET"), []string{""}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := read(context.Background(), c.file, extract.Limits{})
			got := ""
			if err != nil {
				got = reason(err)
			}
			for _, want := range c.want {
				if got == want {
					return
				}
			}
			t.Errorf("got %q, want one of %q", got, c.want)
		})
	}
}

// scattered returns a file of pages that all draw the same letters, each too far from the next for a word: it is a line of its own.
func scattered(pages, letters int) []byte {
	content := "BT /F 1 Tf 10 790 Td " + strings.Repeat("["+strings.Repeat("(a)-1500", 200)+"]TJ 0 -1.3 Td ", letters/200) + "ET"
	all := []string{"", "", stream("/Filter/FlateDecode", deflated(content)), "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"}
	kids := ""
	for i := range pages {
		kids += fmt.Sprintf("%d 0 R ", 5+i)
		all = append(all, "<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 3 0 R/Resources<</Font<</F 4 0 R>>>>>>")
	}
	all[0], all[1] = onePage, fmt.Sprintf("<</Type/Pages/Count %d/Kids[%s]>>", pages, kids)
	return objects(all...)
}

func TestLinesCountAgainstTheLimitOfText(t *testing.T) {
	t.Parallel()
	// With the spaces that PDFium adds, the letters alone have 60,000 characters.
	_, err := read(context.Background(), scattered(3, 10_000), extract.Limits{Text: 120_000})
	if got, want := reason(err), "3: The file has more than 0 MB of text."; err == nil || got != want {
		t.Errorf("got %v, want %q", err, want)
	}
}

func TestRunawayPageIsEndedByItsContext(t *testing.T) {
	t.Parallel()
	if _, err := compiled(); err != nil {
		t.Fatal(err)
	}
	// Long before the page needs more memory than there is; a busy machine may not have come to the page by then.
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	_, err := read(ctx, doubling(30), extract.Limits{})
	if got := reason(err); got != "1: Reading the page took too long." && got != "0: Reading the file took too long." || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %q, %v", got, err)
	}
	// The next file is read by another instance.
	doc, err := read(context.Background(), file(at("F", 10, 50, 700, "Text")), extract.Limits{})
	if err != nil || len(doc.Pages) != 1 {
		t.Errorf("the next file: %+v, %v", doc, err)
	}
}

func TestFileCutAnywhereIsReadOrDamaged(t *testing.T) {
	t.Parallel()
	whole := file(at("F", 10, 50, 700, "Text"), at("B", 10, 50, 700, "More"))
	for n := 10; n < len(whole); n += 41 {
		doc, err := read(context.Background(), whole[:n], extract.Limits{})
		if err != nil && reason(err) != "0: The file is damaged." || len(doc.Pages) > 2 {
			t.Fatalf("cut after %d bytes: %+v, %v", n, doc, err)
		}
	}
}

func TestManyShortLinesOnAPageAreLaidOut(t *testing.T) {
	t.Parallel()
	// Two letters on each of very many rows, which could be a table, columns or a paragraph: none may cost a square.
	var chars []char
	for i := range 100_000 {
		y := float64(-i)
		chars = append(chars, char{r: 'a', left: 0, right: 1, y: y, look: look{size: 1}}, char{r: ' '},
			char{r: 'b', left: float64(10 + i%7), right: float64(11 + i%7), y: y, look: look{size: 1}}, char{r: ' '})
	}
	lines := 0
	for _, b := range layout(directions(chars, nil)) {
		lines += len(b.lines) + len(b.table)
		vocabulary{}.paragraphs(b.lines)
	}
	if lines < 50_000 {
		t.Errorf("%d lines of 100,000", lines)
	}
}

func FuzzPDF(f *testing.F) {
	if _, err := compiled(); err != nil { // before the clock of the first file runs
		f.Fatal(err)
	}
	f.Add(file(at("F", 10, 50, 700, "Text"), column(50, 700, "a  b", "c  d", "e  f")))
	f.Add(doubling(3))
	f.Add(objects(onePage, "<</Type/Pages/Count 3/Kids[2 0 R 2 0 R]>>"))
	f.Add(objects(onePage, "<</Type/Pages/Count 1/Kids[3 0 R]>>", "<</Type/Page/Contents 4 0 R>>", stream("/Filter/FlateDecode", deflated("BT (x) Tj ET"))))
	f.Fuzz(func(t *testing.T, b []byte) {
		// Below the ten seconds that the fuzzer gives an input: some drawings take as long as they are given.
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		limits := extract.Limits{Text: 100_000, Pages: 20}
		doc, err := read(ctx, b, limits)
		var e *extract.Error
		if err != nil && !errors.As(err, &e) {
			t.Fatalf("%v", err)
		}
		size := 0
		for _, p := range doc.Pages {
			size += len(p.Markdown)
			if !utf8.ValidString(p.Markdown) {
				t.Fatalf("page %+v", p)
			}
		}
		if size > limits.Text+limits.Pages || len(doc.Pages) > limits.Pages {
			t.Fatalf("%d bytes on %d pages", size, len(doc.Pages))
		}
	})
}

// FuzzLayout puts characters anywhere.
func FuzzLayout(f *testing.F) {
	f.Add([]byte("the quick brown fox"), []byte{0, 10, 5, 1, 9, 40, 7, 2})
	f.Fuzz(func(t *testing.T, letters, places []byte) {
		if len(places) < 4 {
			return
		}
		var chars []char
		for i, l := range letters {
			at := func(n int) float64 { return float64(places[(4*i+n)%len(places)]) }
			c := char{r: rune(l), left: 3 * at(0), x: 3 * at(0), bottom: 3 * at(1), y: 3 * at(1), look: look{size: at(2)/8 + 0.5, turn: int(at(3)) / 64, bold: at(3) > 128}}
			c.right, c.top = c.left+c.size/2, c.bottom+c.size
			chars = append(chars, c)
		}
		count := 0
		for _, b := range layout(directions(chars, nil)) {
			for _, p := range (vocabulary{}).paragraphs(b.lines) {
				count += letterCount(p.text)
			}
			for _, row := range b.table {
				count += letterCount(strings.Join(row, ""))
			}
		}
		want := 0
		for _, c := range chars {
			if c.r >= 'a' && c.r <= 'z' {
				want++
			}
		}
		if count != want {
			t.Errorf("%d letters of %d", count, want)
		}
	})
}

func letterCount(text string) int {
	return len(strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' {
			return r
		}
		return -1
	}, text))
}
