package rst

import (
	"regexp"
	"strconv"
	"strings"
)

var (
	bullet     = regexp.MustCompile(`^([-*+•‣⁃])(?: +|$)`)
	enumerator = regexp.MustCompile(`^(\(?(?:\d{1,4}|[A-Za-z]|[ivxlcdm]+|[IVXLCDM]+|#)[.)])(?: +|$)`)
)

// marker begins an item of a list.
type marker struct {
	kind   *regexp.Regexp
	text   string
	column int // of the item's text
}

// markerOf returns the marker at the beginning of the first line, or nil. A line such as "A. Einstein" begins a list only if the
// next one goes with it.
func markerOf(lines []string) *marker {
	if m := bullet.FindStringSubmatch(lines[0]); m != nil {
		return &marker{bullet, m[1], len(m[0])}
	}
	m := enumerator.FindStringSubmatch(lines[0])
	if m == nil || len(m[0]) == len(lines[0]) {
		return nil
	}
	if len(lines) > 1 && lines[1] != "" && lines[1][0] != ' ' && !enumerator.MatchString(lines[1]) {
		return nil
	}
	return &marker{enumerator, m[1], len(m[0])}
}

// list converts the items of one list.
func (d *document) list(lines []string, depth int) ([]block, int) {
	first := markerOf(lines)
	var items []string
	n, at, next := 0, 0, 1
	if number, err := strconv.Atoi(strings.Trim(first.text, "().")); err == nil {
		next = number
	}
	for at < len(lines) {
		if lines[at] == "" {
			at++
			continue
		}
		m := markerOf(lines[at:])
		if m == nil || m.kind != first.kind || m.kind == bullet && m.text != first.text {
			break
		}
		below := indented(lines[at+1:])
		about := append([]string{lines[at][m.column:]}, cutIndent(lines[at+1:at+1+below], m.column)...)
		mark := "- "
		if m.kind == enumerator {
			mark = strconv.Itoa(next) + ". "
			next++
		}
		items = append(items, mark+indent(join(d.blocks(about, depth+1)), strings.Repeat(" ", len(mark))))
		at += 1 + below
		n = at
	}
	return []block{{text: strings.Join(items, "\n")}}, n
}
