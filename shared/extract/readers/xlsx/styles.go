package xlsx

import (
	"encoding/xml"
	"strconv"

	"docent/shared/extract"
	"docent/shared/extract/readers/ooxml"
	"docent/shared/extract/readers/symbols"
)

const (
	maxStyles = 1 << 17 // of cells; Excel has 65,490
	maxCodes  = 10_000  // of formats that a file writes down, of which Excel allows 250; further ones are General
	maxCode   = 1024    // bytes of a format's code, of which Excel allows 255 characters; a longer one is General
	maxFont   = 64      // bytes of a font's name; Excel allows 31 characters
)

// builtIn are the codes of the formats that files do not write down, as far as they differ from General.
var builtIn = map[int]string{
	1: "0", 2: "0.00", 3: "#,##0", 4: "#,##0.00", 5: "$#,##0", 6: "$#,##0", 7: "$#,##0.00", 8: "$#,##0.00", 9: "0%", 10: "0.00%",
	11: "0.00E+00", 12: "# ?/?", 13: "# ??/??", 14: "yyyy-mm-dd", 15: "d-mmm-yy", 16: "d-mmm", 17: "mmm-yy", 18: "h:mm", 19: "h:mm:ss", 20: "h:mm", 21: "h:mm:ss",
	22: "yyyy-mm-dd h:mm", 37: "#,##0", 38: "#,##0", 39: "#,##0.00", 40: "#,##0.00", 41: "#,##0", 42: "$#,##0", 43: "#,##0.00",
	44: "$#,##0.00", 45: "mm:ss", 46: "[h]:mm:ss", 47: "mm:ss", 48: "0.0E+0",
	27: "yyyy-mm-dd", 28: "yyyy-mm-dd", 29: "yyyy-mm-dd", 30: "yyyy-mm-dd", 31: "yyyy-mm-dd", 32: "h:mm", 33: "h:mm:ss", 34: "h:mm",
	35: "h:mm:ss", 36: "yyyy-mm-dd", 50: "yyyy-mm-dd", 51: "yyyy-mm-dd", 52: "yyyy-mm-dd", 53: "yyyy-mm-dd", 54: "yyyy-mm-dd",
	55: "yyyy-mm-dd", 56: "yyyy-mm-dd", 57: "yyyy-mm-dd", 58: "yyyy-mm-dd",
}

func (b *workbook) readStyles(name string) error {
	d, err := b.pkg.Decoder(name)
	if err != nil {
		return err
	}
	defer d.Close()
	codes := map[int]string{}
	parsed := map[string]cellFormat{}
	var fonts []font
	return d.Each(func(xml.StartElement) error {
		return d.Each(func(e xml.StartElement) error {
			switch e.Name.Local {
			case "numFmts":
				return d.Each(func(e xml.StartElement) error {
					code := ooxml.Attr(e, "formatCode")
					if id, err := strconv.Atoi(ooxml.Attr(e, "numFmtId")); err == nil && len(codes) < maxCodes && len(code) <= maxCode {
						codes[id] = code
					}
					return nil
				})
			case "fonts":
				return d.Each(func(xml.StartElement) error {
					f, err := readFont(d)
					if fonts = append(fonts, f); len(fonts) > maxStyles {
						return extract.Errorf("The workbook has more than %d fonts.", maxStyles)
					}
					return err
				})
			case "cellXfs":
				return d.Each(func(e xml.StartElement) error {
					id, _ := strconv.Atoi(ooxml.Attr(e, "numFmtId"))
					code, own := codes[id]
					if !own {
						code = builtIn[id]
					}
					f, known := parsed[code]
					if !known {
						f = parseCode(code)
						parsed[code] = f
					}
					if n, err := strconv.Atoi(ooxml.Attr(e, "fontId")); err == nil && n >= 0 && n < len(fonts) {
						f.font = fonts[n].symbols
						f.struck = fonts[n].struck
					}
					if b.formats = append(b.formats, f); len(b.formats) > maxStyles {
						return extract.Errorf("The workbook has more than %d styles.", maxStyles)
					}
					return nil
				})
			}
			return nil
		})
	})
}

// font is what decides how a text is read.
type font struct {
	symbols string // its name if it is one of symbols
	above   bool   // it stands above the line
	struck  bool   // it is struck through
}

// readFont returns the font that is the current element.
func readFont(d *ooxml.Decoder) (font, error) {
	var f font
	err := d.Each(func(e xml.StartElement) error {
		v := ooxml.Attr(e, "val")
		switch e.Name.Local {
		case "name", "rFont":
			if len(v) <= maxFont && symbols.IsFont(v) {
				f.symbols = v
			}
		case "vertAlign":
			f.above = v == "superscript"
		case "strike":
			f.struck = ooxml.On(v)
		}
		return nil
	})
	return f, err
}
