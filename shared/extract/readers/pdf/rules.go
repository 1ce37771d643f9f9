package pdf

import (
	"context"
	"math"
)

// Bounds of the lines that a page draws.
const (
	maxObjects  = 20_000 // of a page, and corners of its paths; of one with more no lines are read
	maxThick    = 3.0    // points of a line, which may be a flat box
	minRule     = 6.0    // points of a line between cells
	pathObject  = 2
	lineSegment = 0
	moveSegment = 2
)

// rules returns the straight lines of a page, horizontal and vertical ones, as thin boxes. Tables have them between their cells.
func (d *document) rules(ctx context.Context, page uint64) ([]box, error) {
	quick := context.Background()
	n, err := d.number(ctx, "FPDFPage_CountObjects", page)
	if err != nil || n <= 0 || n > maxObjects {
		return nil, err
	}
	var all []box
	corners := 0
	for i := range uint64(n) {
		if i%512 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		object, err := d.call(quick, "FPDFPage_GetObject", page, i)
		if err != nil {
			return nil, err
		}
		kind, err := d.number(quick, "FPDFPageObj_GetType", object)
		if err != nil {
			return nil, err
		}
		if kind != pathObject {
			continue
		}
		at := uint64(d.buffer)
		if ok, err := d.number(quick, "FPDFPageObj_GetBounds", object, at, at+4, at+8, at+12); err != nil || ok == 0 {
			if err != nil {
				return nil, err
			}
			continue
		}
		b := d.floats(4)
		bounds := box{b[0], b[1], b[2], b[3]}
		if bounds.isRule() {
			all = append(all, bounds)
			continue
		}
		sides, count, err := d.sides(object, maxObjects-corners)
		if err != nil {
			return nil, err
		}
		if corners += count; corners > maxObjects {
			return nil, nil
		}
		all = append(all, sides...)
	}
	return all, nil
}

// isRule reports whether b is a line, or a box that is as flat as one.
func (b box) isRule() bool {
	width, height := b.right-b.left, b.top-b.bottom
	return height <= maxThick && width >= minRule || width <= maxThick && height >= minRule
}

// sides returns the straight lines of a path that is drawn as lines, such as the frame of a cell, and the number of its corners. Of one
// with more than most corners it returns none.
func (d *document) sides(object uint64, most int) (sides []box, corners int, err error) {
	quick := context.Background()
	at := uint64(d.buffer)
	if _, err := d.call(quick, "FPDFPath_GetDrawMode", object, at, at+4); err != nil {
		return nil, 0, err
	}
	if stroke, _ := d.module.Memory().ReadUint32Le(d.buffer + 4); stroke == 0 {
		return nil, 0, nil // such as the background of a cell
	}
	corners, err = d.number(quick, "FPDFPath_CountSegments", object)
	if err != nil || corners > most {
		return nil, max(corners, 0), err
	}
	if _, err := d.call(quick, "FPDFPageObj_GetMatrix", object, at); err != nil {
		return nil, 0, err
	}
	m := d.floats(6)
	var x, y, firstX, firstY float64
	add := func(toX, toY float64) {
		b := box{min(x, toX), min(y, toY), max(x, toX), max(y, toY)}
		if (b.right-b.left < 0.5 || b.top-b.bottom < 0.5) && b.isRule() {
			sides = append(sides, b)
		}
	}
	for i := range uint64(max(corners, 0)) {
		segment, err := d.call(quick, "FPDFPath_GetPathSegment", object, i)
		if err != nil {
			return nil, 0, err
		}
		kind, err := d.number(quick, "FPDFPathSegment_GetType", segment)
		if err != nil {
			return nil, 0, err
		}
		if _, err := d.call(quick, "FPDFPathSegment_GetPoint", segment, at, at+4); err != nil {
			return nil, 0, err
		}
		p := d.floats(2)
		toX, toY := sound(m[0]*p[0]+m[2]*p[1]+m[4]), sound(m[1]*p[0]+m[3]*p[1]+m[5])
		switch kind {
		case moveSegment:
			firstX, firstY = toX, toY
		case lineSegment:
			add(toX, toY)
		}
		x, y = toX, toY
		closes, err := d.number(quick, "FPDFPathSegment_GetClose", segment)
		if err != nil {
			return nil, 0, err
		}
		if closes != 0 {
			add(firstX, firstY)
			x, y = firstX, firstY
		}
	}
	return sides, max(corners, 0), nil
}

// upright returns b as it is when the lines of text in a direction run from left to right; see char.upright.
func (b box) upright(turn int) box {
	switch turn {
	case 1:
		return box{b.bottom, -b.right, b.top, -b.left}
	case 2:
		return box{-b.right, -b.top, -b.left, -b.bottom}
	case 3:
		return box{-b.top, b.left, -b.bottom, b.right}
	}
	return b
}

// ruleLine is a horizontal or vertical line: its place across, and from where to where it runs.
type ruleLine struct{ at, from, to float64 }

const (
	sameRule = 2.5 // points between lines that are one
	touching = 3.0 // points between the end of a line and one that it meets
)

// reaches reports whether a line reaches a place along it.
func (l ruleLine) reaches(place float64) bool {
	return place >= l.from-touching && place <= l.to+touching
}

func isNear(a, b float64) bool { return math.Abs(a-b) <= sameRule }
