// Package picture draws what programs measured, as SVG.
package picture

import (
	"fmt"
	"html"
	"math"
	"os"
	"strings"
)

// Sizes of a picture, in pixels.
const (
	width       = 960
	Left        = 150 // edge of the diagrams; names are left of it
	Right       = 900 // edge of the diagrams
	curveHeight = 240
	boxWidth    = 125 // of an entry of the legend
)

// Picture is an SVG under construction. Its parts are one below the other.
type Picture struct {
	strings.Builder
	Y int // where the next part begins
}

// Save writes the picture to a file.
func (p *Picture) Save(path string) error {
	svg := fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d" font-family="sans-serif" font-size="12">`+
		"\n<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n%s</svg>\n", width, p.Y, p.String())
	return os.WriteFile(path, []byte(svg), 0o644) //nolint:gosec // a picture is for everybody
}

// Text writes s; anchor is start, middle or end.
func (p *Picture) Text(x, y int, anchor, s string) {
	fmt.Fprintf(p, "<text x=\"%d\" y=\"%d\" text-anchor=\"%s\">%s</text>\n", x, y, anchor, html.EscapeString(s))
}

// Line draws a line.
func (p *Picture) Line(x1, y1, x2, y2 int, colour string) {
	fmt.Fprintf(p, "<line x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\" stroke=\"%s\"/>\n", x1, y1, x2, y2, colour)
}

// Entry is a name of the legend and its colour.
type Entry struct{ Name, Colour string }

// Legend draws names next to their colours, each over the given number of usual places.
func (p *Picture) Legend(places int, entries ...Entry) {
	p.Y += 24
	for i, e := range entries {
		x := Left + i*boxWidth*places
		fmt.Fprintf(p, "<rect x=\"%d\" y=\"%d\" width=\"10\" height=\"10\" fill=\"%s\"/>\n", x, p.Y-10, e.Colour)
		p.Text(x+15, p.Y, "start", e.Name)
	}
	p.Y += 30
}

// Curve is a line through values, one for each place of the x axis.
type Curve struct {
	Colour string
	Dashed bool
	Values []float64
}

// least is the smallest value that a scale shows.
const least = 0.01

// Curves draws curves on a scale of powers of ten, below a title and above the names of the places.
func (p *Picture) Curves(title string, places []string, curves []Curve) {
	lowest, highest := math.Inf(1), 0.0
	for _, c := range curves {
		for _, v := range c.Values {
			lowest, highest = min(lowest, v), max(highest, v)
		}
	}
	if math.IsInf(lowest, 1) {
		return // there is nothing to draw
	}
	low, high := math.Floor(math.Log10(max(lowest, least))), math.Ceil(math.Log10(max(highest, 2*least)))
	if high <= low {
		high = low + 1
	}
	p.Text(Left, p.Y, "start", title)
	top := p.Y + 14
	bottom := top + curveHeight
	at := func(value float64) int {
		return bottom - int((math.Log10(max(value, least))-low)/(high-low)*curveHeight)
	}
	across := func(i int) int { return Left + i*(Right-Left)/max(len(places)-1, 1) }
	for power := low; power <= high; power++ {
		y := at(math.Pow(10, power))
		p.Line(Left, y, Right, y, "#dddddd")
		p.Text(Left-8, y+4, "end", fmt.Sprint(math.Pow(10, power)))
	}
	for i, place := range places {
		p.Text(across(i), bottom+16, "middle", place)
	}
	for _, c := range curves {
		dash := "none"
		if c.Dashed {
			dash = "4 3"
		}
		points := make([]string, len(c.Values))
		for i, v := range c.Values {
			points[i] = fmt.Sprintf("%d,%d", across(i), at(v))
		}
		fmt.Fprintf(p, "<polyline points=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\" stroke-dasharray=\"%s\"/>\n", strings.Join(points, " "), c.Colour, dash)
	}
	p.Y = bottom + 30
}
