package main

import (
	"fmt"
	"html"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
)

// Sizes in the picture, in pixels.
const (
	pictureWidth = 960
	leftEdge     = 150 // of the diagrams: the names of sets are left of it
	rightEdge    = 900
	barHeight    = 9
	rowGap       = 12
	curveHeight  = 240
)

// colours has the colour of each engine; another one is grey.
var colours = map[string]string{own: "#1f6f43", words: "#7fc29b", "vectors": "#b59ad6", "FTS5": "#c9a227", "Bleve tf-idf": "#9db8d9", "Bleve bm25": "#4f7cac"}

// picture is an SVG under construction.
type picture struct {
	strings.Builder
	y int // where the next part begins
}

// draw writes a picture of a run to a file: nDCG@10 by set, and latency by size. Without a name it does nothing.
func draw(path string, now run, times timing) error {
	if path == "" {
		return nil
	}
	p := &picture{}
	p.legend(now.engines())
	p.bars(now)
	if len(times) > 0 {
		p.curves(times)
	}
	svg := fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d" font-family="sans-serif" font-size="12">`+
		"\n<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n%s</svg>\n", pictureWidth, p.y, p.String())
	return os.WriteFile(path, []byte(svg), 0o644)
}

func (p *picture) text(x, y int, anchor, s string) {
	fmt.Fprintf(p, "<text x=\"%d\" y=\"%d\" text-anchor=\"%s\">%s</text>\n", x, y, anchor, html.EscapeString(s))
}

func (p *picture) line(x1, y1, x2, y2 int, colour string) {
	fmt.Fprintf(p, "<line x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\" stroke=\"%s\"/>\n", x1, y1, x2, y2, colour)
}

func colour(engine string) string {
	if c, ok := colours[engine]; ok {
		return c
	}
	return "#888888"
}

func (p *picture) legend(engines []string) {
	p.y = 24
	for i, name := range engines {
		x := leftEdge + i*125
		fmt.Fprintf(p, "<rect x=\"%d\" y=\"%d\" width=\"10\" height=\"10\" fill=\"%s\"/>\n", x, p.y-10, colour(name))
		p.text(x+15, p.y, "start", name)
	}
	p.y += 30
}

// bars draws nDCG@10 of every engine, by set.
func (p *picture) bars(now run) {
	p.text(leftEdge, p.y, "start", "nDCG@10")
	p.y += 10
	top := p.y
	for _, set := range slices.Sorted(maps.Keys(now)) {
		engines := shown(now[set])
		p.y += rowGap
		p.text(leftEdge-8, p.y+len(engines)*barHeight/2+4, "end", set)
		for _, name := range engines {
			value := mean(now[set][name][nDCG10])
			width := int(value * (rightEdge - leftEdge))
			fmt.Fprintf(p, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"%s\"><title>%s: %.3f</title></rect>\n",
				leftEdge, p.y, width, barHeight-1, colour(name), html.EscapeString(name), value)
			if name == own {
				fmt.Fprintf(p, "<text x=\"%d\" y=\"%d\" font-size=\"9\">%.3f</text>\n", leftEdge+width+4, p.y+barHeight-1, value)
			}
			p.y += barHeight
		}
	}
	p.y += rowGap
	for i := range 6 {
		x := leftEdge + i*(rightEdge-leftEdge)/5
		p.line(x, top, x, p.y, "#dddddd")
		p.text(x, p.y+14, "middle", fmt.Sprintf("%.1f", float64(i)/5))
	}
	p.y += 50
}

// curves draws the median and the 99th percentile of the processor time of a question, by size, both on scales of
// powers of ten.
func (p *picture) curves(times timing) {
	sizes := slices.Sorted(maps.Keys(times))
	least, most := math.Inf(1), 0.0
	for _, byEngine := range times {
		for _, t := range byEngine {
			least, most = min(least, t.p50), max(most, t.p99)
		}
	}
	low, high := math.Floor(math.Log10(max(least, 0.01))), math.Ceil(math.Log10(max(most, 0.02)))
	p.text(leftEdge, p.y, "start", "processor time of a question in ms, by passages; dashed: 99th percentile")
	top := p.y + 14
	bottom := top + curveHeight
	at := func(value float64) int {
		return bottom - int((math.Log10(max(value, 0.01))-low)/(high-low)*curveHeight)
	}
	across := func(i int) int { return leftEdge + i*(rightEdge-leftEdge)/max(len(sizes)-1, 1) }
	for power := low; power <= high; power++ {
		y := at(math.Pow(10, power))
		p.line(leftEdge, y, rightEdge, y, "#dddddd")
		p.text(leftEdge-8, y+4, "end", fmt.Sprint(math.Pow(10, power)))
	}
	for i, size := range sizes {
		p.text(across(i), bottom+16, "middle", fmt.Sprint(size))
	}
	for _, name := range shown(times[sizes[0]]) {
		for _, style := range []struct {
			dash string
			of   func(spread) float64
		}{{"none", func(t spread) float64 { return t.p50 }}, {"4 3", func(t spread) float64 { return t.p99 }}} {
			var points []string
			for i, size := range sizes {
				points = append(points, fmt.Sprintf("%d,%d", across(i), at(style.of(times[size][name]))))
			}
			fmt.Fprintf(p, "<polyline points=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\" stroke-dasharray=\"%s\"/>\n", strings.Join(points, " "), colour(name), style.dash)
		}
	}
	p.y = bottom + 30
}
