// Package extract describes files whose text is taken out: the media types, the text by pages, the limits, and
// the error that a client may read. It is light: the readers, with the libraries that they link, are in
// extract/readers.
package extract

import (
	"math"
	"path"
	"slices"
	"strings"
)

// Media types that the readers read.
const (
	PDF  = "application/pdf"
	DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
	XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
	PPTX = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
	RST  = "text/x-rst" // reStructuredText in UTF-8
)

// Names of the media types in a sentence for clients.
const Names = "PDF, DOCX, XLSX, PPTX or reStructuredText"

// Sizes in bytes of the largest files that are read.
const (
	MaxPDF = 96 << 20 // half of the reader's memory
	MaxRST = 4 << 20  // converting a hostile one takes some fifty times its size in memory
)

// extensions of the names of files, by media type, the usual one first. Office files with macros, templates and shows differ from the others
// in what an Office program does with them, not in their text.
var extensions = map[string][]string{
	PDF:  {".pdf"},
	DOCX: {".docx", ".docm", ".dotx", ".dotm"},
	XLSX: {".xlsx", ".xlsm", ".xltx", ".xltm"},
	PPTX: {".pptx", ".pptm", ".ppsx", ".ppsm", ".potx", ".potm"},
	RST:  {".rst"},
}

// MediaTypes returns the types that can be read.
func MediaTypes() []string { return []string{PDF, DOCX, XLSX, PPTX, RST} }

// MaxSize returns the size in bytes of the largest file of a media type that its reader reads, and math.MaxInt64 if the reader has no
// such bound.
func MaxSize(mediaType string) int64 {
	switch mediaType {
	case PDF:
		return MaxPDF
	case RST:
		return MaxRST
	}
	return math.MaxInt64
}

// Signature returns the bytes with which every file of a media type begins. It is empty for text, and for a PDF, which may have a
// kilobyte before its own.
func Signature(mediaType string) []byte {
	switch mediaType {
	case DOCX, XLSX, PPTX:
		return []byte("PK") // a ZIP archive
	}
	return nil
}

// PageName returns what a page of a media type is called where a sentence begins.
func PageName(mediaType string) string {
	switch mediaType {
	case PPTX:
		return "Slide"
	case XLSX:
		return "Sheet"
	}
	return "Page"
}

// Supported reports whether files of the media type can be read.
func Supported(mediaType string) bool { return slices.Contains(MediaTypes(), mediaType) }

// MediaTypeOf returns the media type of a file by the extension of its name, and false if it cannot be read.
func MediaTypeOf(fileName string) (string, bool) {
	extension := strings.ToLower(path.Ext(fileName))
	for mediaType, all := range extensions {
		if slices.Contains(all, extension) {
			return mediaType, true
		}
	}
	return "", false
}

// ExtensionsOf returns the extensions of files of a media type, such as ".docx", the usual one first; none if it cannot be read.
func ExtensionsOf(mediaType string) []string { return slices.Clone(extensions[mediaType]) }

// Document is the text of a file.
type Document struct {
	Title string   // from the file's properties; may be empty
	Pages []Page   // in order; a page without text is left out
	Notes []string // what a reader of the text should know, such as "Page 7 is a picture without text."
}

// Page is a page of a PDF, a slide, or a sheet. A DOCX has one page.
type Page struct {
	Number   int    // from 1, as the program that shows the file counts
	Title    string // of a slide, or the name of a sheet; may be empty
	Markdown string
}

// Limits bound what reading a file may cost. A field that is 0 has its default.
type Limits struct {
	Text     int   // bytes of Markdown on all pages
	Pages    int   // pages, slides or sheets
	Inflated int64 // bytes to which the parts of an Office file expand
}

// WithDefaults returns l with the default of each field that is 0.
func (l Limits) WithDefaults() Limits {
	if l.Text == 0 {
		l.Text = 10 << 20
	}
	if l.Pages == 0 {
		l.Pages = 5000
	}
	if l.Inflated == 0 {
		l.Inflated = 256 << 20
	}
	return l
}
