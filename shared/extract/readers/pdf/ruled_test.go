package pdf

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"docent/shared/extract"
)

// laid returns the words of lines of text that begin at places, each 6 points wide a letter and 10 high.
func laid(lines ...string) []line {
	var words []line
	for _, one := range lines {
		var x, y float64
		at, text, _ := strings.Cut(one, " ")
		if _, err := fmt.Sscanf(at, "%f,%f", &x, &y); err != nil {
			panic(err)
		}
		for word := range strings.FieldsSeq(text) {
			words = append(words, line{text: word, size: 10, box: box{x, y - 2.5, x + 6*float64(len(word)), y + 7.5}})
			x += 6 * float64(len(word)+1)
		}
	}
	return words
}

// frame returns the lines between cells, horizontal ones at ys and vertical ones at xs.
func frame(xs, ys []float64) []box {
	var all []box
	for _, y := range ys {
		all = append(all, box{slices.Min(xs), y, slices.Max(xs), y + 0.5})
	}
	for _, x := range xs {
		all = append(all, box{x, slices.Min(ys), x + 0.5, slices.Max(ys)})
	}
	return all
}

func TestTablesWithLinesBetweenTheirCells(t *testing.T) {
	t.Parallel()
	wrapped := []string{"2,88 Level", "102,88 Response", "2,68 Critical", "102,68 within an hour at", "102,56 any time of", "102,44 the day", "2,28 Low", "102,28 in 3 days"}
	var prose []string
	for n := range 25 {
		prose = append(prose, fmt.Sprintf("102,%d %s", 68-12*n, strings.Repeat("text ", 16)))
	}
	for name, c := range map[string]struct {
		words []string
		rules []box
		want  string
	}{
		"cells of several lines": {wrapped, frame([]float64{0, 100, 220}, []float64{100, 80, 40, 20}), "Level|Response/Critical|within an hour at any time of the day/Low|in 3 days"},
		"without lines at the sides": {wrapped, append(frame([]float64{0, 220}, []float64{100, 80, 40, 20})[:4], box{100, 20, 100.5, 100}),
			"Level|Response/Critical|within an hour at any time of the day/Low|in 3 days"},
		"rows without lines between them": {[]string{"2,88 Day", "102,88 Place", "2,68 2005-09-23", "102,68 Taiwan", "2,56 2005-10-02", "102,56 Florida", "2,44 2005-11-20", "102,44 Texas"},
			frame([]float64{0, 100, 220}, []float64{100, 80, 40}), "Day|Place/2005-09-23|Taiwan/2005-10-02|Florida/2005-11-20|Texas"},
		"two lines in each cell, which run on": {[]string{"2,88 Do", "102,88 Until", "2,68 Check the", "2,56 door", "102,68 Monday at", "102,56 noon"},
			frame([]float64{0, 100, 220}, []float64{100, 80, 40}), "Do|Until/Check the door|Monday at noon"},
		"a cell over two rows": {[]string{"2,88 a", "102,88 b1", "2,58 both", "102,68 c1", "102,48 d1"},
			append(frame([]float64{0, 100, 220}, []float64{100, 80, 40}), box{100, 60, 220, 60.5}), "a|b1/both|c1/both|d1"},
		"a cell over two columns, and a column without text": {[]string{"2,88 wide head", "2,68 a1", "52,68 b1", "2,48 c1", "52,48 d1"},
			append(frame([]float64{0, 200}, []float64{100, 80, 60, 40}), box{50, 40, 50.5, 80}, box{150, 40, 150.5, 80}), ""},
		"the frame of a page":       {append([]string{"2,88 Letter", "102,88 Page"}, prose...), frame([]float64{0, 100, 700}, []float64{100, 80, -300}), "none"},
		"a chart":                   {[]string{"2,88 ten", "102,28 20"}, frame([]float64{0, 100, 200, 300}, []float64{100, 80, 60, 40, 20}), "none"},
		"one row":                   {[]string{"2,88 a", "102,88 b"}, frame([]float64{0, 100, 220}, []float64{100, 80}), "none"},
		"a diagram of single signs": {[]string{"2,88 *", "102,88 *", "2,68 *", "102,68 *"}, frame([]float64{0, 100, 220}, []float64{100, 80, 60}), "none"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			words := laid(append(c.words, "2,200 before the table")...)
			tables, rest := ruled(words, c.rules)
			got := "none"
			if len(tables) > 0 {
				var rows []string
				for _, row := range tables[0].grid {
					rows = append(rows, strings.Join(row, "|"))
				}
				got = strings.Join(rows, "/")
			}
			if c.want == "" {
				c.want = "wide head|/a1|b1/c1|d1"
			}
			if got != c.want || len(tables) > 0 && len(rest) != 3 || len(tables) == 0 && len(rest) != len(words) {
				t.Errorf("%q, %d words besides, want %q", got, len(rest), c.want)
			}
		})
	}
}

// TestLinesAreFoundHoweverTheyAreDrawn: as flat boxes, as strokes, as a frame for each cell, or scaled and all in one path.
func TestLinesAreFoundHoweverTheyAreDrawn(t *testing.T) {
	t.Parallel()
	text := at("F", 10, 102, 688, "Level") + at("F", 10, 202, 688, "Response") + column(102, 668, "Critical") + column(202, 668, "within an hour at", "any time of", "the day") +
		at("F", 10, 102, 628, "Low") + at("F", 10, 202, 628, "in 3 days") + at("F", 10, 100, 600, "After the table.")
	xs, ys := []int{100, 200, 320}, []int{700, 680, 640, 620}
	var boxes, strokes, frames, scaled strings.Builder
	for _, y := range ys {
		fmt.Fprintf(&boxes, "100 %d 220 0.5 re f\n", y)
		fmt.Fprintf(&strokes, "100 %d m 320 %d l S\n", y, y)
		fmt.Fprintf(&scaled, "50 %d m 160 %d l\n", y/2, y/2)
	}
	for _, x := range xs {
		fmt.Fprintf(&boxes, "%d 620 0.5 80 re f\n", x)
		fmt.Fprintf(&strokes, "%d 620 m %d 700 l S\n", x, x)
		fmt.Fprintf(&scaled, "%d 310 m %d 350 l\n", x/2, x/2)
	}
	for r := range 3 {
		for c := range 2 {
			fmt.Fprintf(&frames, "%d %d %d %d re S\n", xs[c], ys[r+1], xs[c+1]-xs[c], ys[r]-ys[r+1])
		}
	}
	for name, lines := range map[string]string{"boxes": boxes.String(), "strokes": strokes.String(), "frames": frames.String(), "scaled": "q 2 0 0 2 0 0 cm " + scaled.String() + "S Q\n"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			doc, err := read(t.Context(), file(lines+text), extract.Limits{})
			const want = "| Level | Response |\n| --- | --- |\n| Critical | within an hour at any time of the day |\n| Low | in 3 days |\n\nAfter the table.\n"
			if err != nil || len(doc.Pages) != 1 || doc.Pages[0].Markdown != want {
				t.Errorf("%+v, %v, want %s", doc.Pages, err, want)
			}
		})
	}
}
