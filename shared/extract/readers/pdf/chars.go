package pdf

import (
	"context"
	"encoding/binary"
	"math"
	"strings"
	"unicode"
	"unicode/utf16"

	"docent/shared/extract"
	"docent/shared/extract/readers/symbols"
)

// maxChars is how many characters a page may have. A page of a newspaper has 30,000.
const maxChars = 400_000

// char is a character with its place, in points from the lower left corner of the page.
type char struct {
	r                        rune
	left, bottom, right, top float64 // of the space that it takes
	x, y                     float64 // its position on the line
	look
}

// look is what the characters of a word have in common.
type look struct {
	size   float64
	turn   int // quarter turns of the line, counterclockwise
	bold   bool
	height float64 // of the box of a character; another height is another look
}

// readChars returns the characters of a page. PDFium adds the spaces and line ends that a page only has as distances.
func (d *document) readChars(ctx context.Context, text uint64, number int) ([]char, error) {
	quick := context.Background()
	n, err := d.number(ctx, "FPDFText_CountChars", text)
	if err != nil || n <= 0 {
		return nil, err
	}
	if d.left -= n; n > maxChars {
		return nil, extract.Errorf("The page has more than %d characters.", maxChars).OnPage(number)
	} else if d.left < 0 {
		return nil, d.tooMuchText(number)
	}
	chars := make([]char, 0, n)
	unreadable := 0
	begins := true
	var half rune
	var last look
	for i := range uint64(n) {
		if i%512 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		code, err := d.call(quick, "FPDFText_GetUnicode", text, i)
		if err != nil {
			return nil, err
		}
		c := char{r: rune(uint32(code))}
		if utf16.IsSurrogate(c.r) { // one character in two, at the same place
			pair := utf16.DecodeRune(half, c.r)
			half = c.r
			if c.r = pair; pair == unicode.ReplacementChar {
				continue
			}
		}
		if space(c.r) {
			chars, begins = append(chars, char{r: ' '}), true
			continue
		}
		if c.r, err = d.readable(text, i, c.r); err != nil {
			return nil, err
		}
		if c.r == 0 {
			unreadable++
			continue
		}
		if err := d.place(text, i, &c, begins, last); err != nil {
			return nil, err
		}
		begins, last = false, c.look
		chars = append(chars, c)
	}
	if unreadable > 20 && unreadable > n/4 {
		d.notes.unreadable = append(d.notes.unreadable, number)
	}
	return chars, nil
}

func (d *document) tooMuchText(number int) error {
	return extract.Errorf("The file has more than %d MB of text.", d.limits.Text>>20).OnPage(number)
}

func space(r rune) bool { return r == 0xfeff || r == 0x200b || unicode.IsSpace(r) }

// lineHyphen is how PDFium marks a hyphen at the end of a line.
const lineHyphen = 2

// symbolBullets are the bullets of the font Symbol and of Wingdings.
const symbolBullets = "\uf0b7\uf0a7\uf0a8\uf06e\uf076\uf0d8\uf0fc"

// readable returns the character to keep for r, or 0.
func (d *document) readable(text, i uint64, r rune) (rune, error) {
	switch {
	case r == lineHyphen || r == 0xad:
		return '-', nil
	case strings.ContainsRune(symbolBullets, r):
		return '•', nil
	case r >= 0xf000 && r <= 0xf0ff:
		font, err := d.fontName(text, i)
		shown, _ := symbols.Character(font, r)
		return shown, err
	case r < ' ' || r == 0x7f || r >= 0xe000 && r <= 0xf8ff || r == 0xfffd || r == 0xfffe || r == 0xffff || r > unicode.MaxRune:
		return 0, nil
	}
	return r, nil
}

// place sets where the character is, and its look. Those after the first of a word have its look.
func (d *document) place(text, i uint64, c *char, begins bool, last look) error {
	quick := context.Background()
	if _, err := d.call(quick, "FPDFText_GetLooseCharBox", text, i, uint64(d.buffer)); err != nil {
		return err
	}
	b := d.floats(4)
	c.left, c.right = min(b[0], b[2]), max(b[0], b[2])
	c.bottom, c.top = min(b[1], b[3]), max(b[1], b[3])
	if _, err := d.call(quick, "FPDFText_GetCharOrigin", text, i, uint64(d.buffer), uint64(d.buffer)+8); err != nil {
		return err
	}
	c.x, c.y = d.double(0), d.double(8)
	if c.look = last; !begins && math.Abs(c.top-c.bottom-last.height) < 0.1 {
		return nil
	}
	var err error
	c.look, err = d.look(text, i)
	c.height = c.top - c.bottom
	return err
}

func (d *document) look(text, i uint64) (look, error) {
	quick := context.Background()
	size, err := d.call(quick, "FPDFText_GetFontSize", text, i)
	if err != nil {
		return look{}, err
	}
	l := look{size: sound(math.Float64frombits(size))}
	if _, err := d.call(quick, "FPDFText_GetMatrix", text, i, uint64(d.buffer)); err != nil {
		return look{}, err
	}
	m := d.floats(4)
	upended := l.size < 0 // such text stands on its head
	l.size = math.Abs(l.size)
	if scale := math.Hypot(m[2], m[3]); scale > 0 {
		l.size *= scale
	}
	l.size = max(l.size, 0.5)
	l.turn = (int(math.Round(math.Atan2(m[1], m[0])/(math.Pi/2))) + 4) % 4
	if upended {
		l.turn = (l.turn + 2) % 4
	}
	weight, err := d.number(quick, "FPDFText_GetFontWeight", text, i)
	if err != nil {
		return look{}, err
	}
	if l.bold = weight >= 600; !l.bold {
		l.bold, err = d.boldName(text, i)
	}
	return l, err
}

// floats returns n single numbers from the buffer.
func (d *document) floats(n int) []float64 {
	all := make([]float64, n)
	for i := range all {
		v, _ := d.module.Memory().ReadFloat32Le(d.buffer + uint32(4*i))
		all[i] = sound(float64(v))
	}
	return all
}

// double returns the double number at a place in the buffer.
func (d *document) double(at uint32) float64 {
	v, _ := d.module.Memory().ReadFloat64Le(d.buffer + at)
	return sound(v)
}

// sound returns v, or 0 for what cannot be a place on a page.
func sound(v float64) float64 {
	if math.IsNaN(v) || math.Abs(v) > 1e6 {
		return 0
	}
	return v
}

// fontName returns the name of the character's font, or nothing if it has none.
func (d *document) fontName(text, i uint64) (string, error) {
	n, err := d.number(context.Background(), "FPDFText_GetFontInfo", text, i, uint64(d.buffer), bufferSize, 0)
	if err != nil || n <= 1 || n > bufferSize {
		return "", err
	}
	b, _ := d.module.Memory().Read(d.buffer, uint32(n-1))
	return string(b), nil
}

// boldName reports whether the name of the character's font says that it is bold.
func (d *document) boldName(text, i uint64) (bool, error) {
	name, err := d.fontName(text, i)
	if err != nil {
		return false, err
	}
	name = strings.ToLower(name)
	for _, part := range []string{"bold", "black", "heavy", "cmbx", "-medi"} {
		if strings.Contains(name, part) {
			return true, nil
		}
	}
	return false, nil
}

// title returns the title in the properties of the file.
func (d *document) title(ctx context.Context) (string, error) {
	if !d.module.Memory().Write(d.buffer, []byte("Title\x00")) {
		return "", errBroken
	}
	n, err := d.number(ctx, "FPDF_GetMetaText", d.handle, uint64(d.buffer), uint64(d.buffer)+8, bufferSize-8)
	if err != nil {
		return "", whole(err)
	}
	if n < 4 || n > bufferSize-8 {
		return "", nil
	}
	b, _ := d.module.Memory().Read(d.buffer+8, uint32(n-2))
	units := make([]uint16, len(b)/2)
	for i := range units {
		units[i] = binary.LittleEndian.Uint16(b[2*i:])
	}
	title := strings.Join(strings.Fields(string(utf16.Decode(units))), " ")
	return strings.TrimPrefix(strings.Trim(title, "\x00 "), "Microsoft Word - "), nil
}
