package main

import (
	"fmt"
	"html"
	"maps"
	"slices"

	"docent/testkit/picture"
)

// Sizes in the picture, in pixels.
const (
	barHeight = 9
	rowGap    = 12
)

// colours has the colour of each engine; another one is grey.
var colours = map[string]string{own: "#1f6f43", words: "#7fc29b", "vectors": "#b59ad6", "FTS5": "#c9a227", "Bleve tf-idf": "#9db8d9", "Bleve bm25": "#4f7cac"}

// drawing is a picture of a run.
type drawing struct{ picture.Picture }

// draw writes a picture of a run to a file: nDCG@10 by set, and latency by size. Without a name it does nothing.
func draw(path string, now run, times timing) error {
	if path == "" {
		return nil
	}
	p := &drawing{}
	p.legend(now.engines())
	p.bars(now)
	if len(times) > 0 {
		p.curves(times)
	}
	return p.Save(path)
}

func colour(engine string) string {
	if c, ok := colours[engine]; ok {
		return c
	}
	return "#888888"
}

func (p *drawing) legend(engines []string) {
	entries := make([]picture.Entry, len(engines))
	for i, name := range engines {
		entries[i] = picture.Entry{Name: name, Colour: colour(name)}
	}
	p.Legend(1, entries...)
}

// bars draws nDCG@10 of every engine, by set.
func (p *drawing) bars(now run) {
	p.Text(picture.Left, p.Y, "start", "nDCG@10")
	p.Y += 10
	top := p.Y
	for _, set := range slices.Sorted(maps.Keys(now)) {
		engines := shown(now[set])
		p.Y += rowGap
		p.Text(picture.Left-8, p.Y+len(engines)*barHeight/2+4, "end", set)
		for _, name := range engines {
			value := mean(now[set][name][nDCG10])
			width := int(value * (picture.Right - picture.Left))
			fmt.Fprintf(p, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"%s\"><title>%s: %.3f</title></rect>\n",
				picture.Left, p.Y, width, barHeight-1, colour(name), html.EscapeString(name), value)
			if name == own {
				fmt.Fprintf(p, "<text x=\"%d\" y=\"%d\" font-size=\"9\">%.3f</text>\n", picture.Left+width+4, p.Y+barHeight-1, value)
			}
			p.Y += barHeight
		}
	}
	p.Y += rowGap
	for i := range 6 {
		x := picture.Left + i*(picture.Right-picture.Left)/5
		p.Line(x, top, x, p.Y, "#dddddd")
		p.Text(x, p.Y+14, "middle", fmt.Sprintf("%.1f", float64(i)/5))
	}
	p.Y += 50
}

// curves draws the median and the 99th percentile of the processor time of a question, by size.
func (p *drawing) curves(times timing) {
	sizes := slices.Sorted(maps.Keys(times))
	places := make([]string, len(sizes))
	for i, size := range sizes {
		places[i] = fmt.Sprint(size)
	}
	var curves []picture.Curve
	for _, name := range shown(times[sizes[0]]) {
		p50, p99 := picture.Curve{Colour: colour(name)}, picture.Curve{Colour: colour(name), Dashed: true}
		for _, size := range sizes {
			p50.Values, p99.Values = append(p50.Values, times[size][name].p50), append(p99.Values, times[size][name].p99)
		}
		curves = append(curves, p50, p99)
	}
	p.Curves("processor time of a question in ms, by passages; dashed: 99th percentile", places, curves)
}
