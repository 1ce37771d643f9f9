// Package officetest writes Office files for tests.
package officetest

import (
	"archive/zip"
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// Namespaces that the parts below declare on their roots.
const namespaces = `xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" ` +
	`xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships" ` +
	`xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math" ` +
	`xmlns:a14="http://schemas.microsoft.com/office/drawing/2010/main" ` +
	`xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" ` +
	`xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" ` +
	`xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" ` +
	`xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape" ` +
	`xmlns:v="urn:schemas-microsoft-com:vml"`

const relationTypes = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/"

// Zip returns an archive of the parts, sorted by name.
func Zip(t testing.TB, parts map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(parts)) {
		w, err := z.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(parts[name])); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// XML returns a part with the root element, such as w:document, around its content.
func XML(root, content string) string {
	return `<?xml version="1.0" encoding="UTF-8"?><` + root + " " + namespaces + ">" + content + "</" + root + ">"
}

// Relations returns a part of relations. Each has the form "id kind target"; a target with "://" is external.
func Relations(relations ...string) string {
	var text strings.Builder
	for _, r := range relations {
		f := strings.Fields(r)
		mode := ""
		if strings.Contains(f[2], "://") {
			mode = ` TargetMode="External"`
		}
		fmt.Fprintf(&text, `<Relationship Id="%s" Type="%s%s" Target="%s"%s/>`, f[0], relationTypes, f[1], f[2], mode)
	}
	return `<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">` +
		text.String() + `</Relationships>`
}

// Docx returns a Word file with the body and more parts, each instead of or next to those that a file needs.
func Docx(t testing.TB, body string, more map[string]string) []byte {
	t.Helper()
	parts := map[string]string{
		"_rels/.rels":       Relations("rId1 officeDocument word/document.xml"),
		"word/document.xml": XML("w:document", "<w:body>"+body+"</w:body>"),
		"word/_rels/document.xml.rels": Relations("s styles styles.xml", "n numbering numbering.xml",
			"f footnotes footnotes.xml", "web hyperlink https://docent.test/page"),
	}
	maps.Copy(parts, more)
	return Zip(t, parts)
}

// Xlsx returns a workbook of one sheet with these rows and what follows them, and more parts.
func Xlsx(t testing.TB, rows, after string, more map[string]string) []byte {
	t.Helper()
	parts := map[string]string{
		"_rels/.rels":                Relations("rId1 officeDocument xl/workbook.xml"),
		"xl/workbook.xml":            XML("workbook", `<sheets><sheet name="Costs" r:id="a"/></sheets>`),
		"xl/_rels/workbook.xml.rels": Relations("a worksheet worksheets/sheet1.xml", "b sharedStrings sharedStrings.xml", "c styles styles.xml"),
		"xl/worksheets/sheet1.xml":   XML("worksheet", "<sheetData>"+rows+"</sheetData>"+after),
	}
	maps.Copy(parts, more)
	return Zip(t, parts)
}

// Pptx returns a presentation with the contents of the shape trees of its slides, and more parts.
func Pptx(t testing.TB, slides []string, more map[string]string) []byte {
	t.Helper()
	parts := map[string]string{"_rels/.rels": Relations("rId1 officeDocument ppt/presentation.xml")}
	var ids strings.Builder
	var relations []string
	for i, s := range slides {
		// The parts are numbered against the order of the slides.
		name := fmt.Sprintf("slide%d", len(slides)-i)
		parts["ppt/slides/"+name+".xml"] = XML("p:sld", "<p:cSld><p:spTree>"+s+"</p:spTree></p:cSld>")
		fmt.Fprintf(&ids, `<p:sldId id="%d" r:id="%s"/>`, 256+i, name)
		relations = append(relations, name+" slide slides/"+name+".xml")
	}
	parts["ppt/presentation.xml"] = XML("p:presentation", "<p:sldIdLst>"+ids.String()+"</p:sldIdLst>")
	parts["ppt/_rels/presentation.xml.rels"] = Relations(relations...)
	maps.Copy(parts, more)
	return Zip(t, parts)
}
