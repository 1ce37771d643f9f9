// Package page turns a Markdown, text, reStructuredText or HTML file into what Docent stores: a title and a body in Markdown or plain
// text, both valid UTF-8. A PDF or Office file stays as it is: Docent reads its text.
package page

import (
	"encoding/base64"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"docent/client"
	"docent/shared/extract"
	"docent/shared/filter"
	"docent/shared/plaintext"
	"docent/shared/rst"
)

// MaxFile is the maximum size of a file in bytes (10 MB).
const MaxFile = 10 << 20

// MaxInline is the maximum size in bytes of a PDF or Office file that Read takes. Larger ones are uploaded. Base64 makes
// it a third larger, and a gateway of AWS passes on 6 MB.
const MaxInline = 4 << 20

// maxTitle is the maximum number of code points of a title.
const maxTitle = 1024

// Page is a file as a document.
type Page struct {
	Title string // 1 to 1024 code points, on one line
	Body  string
	// MediaType is the media type of a PDF or Office file, whose Body is the file in base64; otherwise empty.
	MediaType string
	// Metadata is the front matter of a Markdown file without the title; nil: none. LeftOut has the sorted keys whose
	// values cannot be metadata.
	Metadata filter.Metadata
	LeftOut  []string
	// Access is who may read the document by its front matter; nil: the front matter does not say.
	Access *client.Access
}

type kind int

const (
	unknown kind = iota
	markdown
	text
	restructured
	markup
	office // a PDF or Office file
)

// kinds has the extensions of files whose text is read here. Package extract has the others; the help of docent put lists them all.
var kinds = map[string]kind{
	".md": markdown, ".markdown": markdown, ".mdx": markdown,
	".txt": text, ".text": text, ".rst": restructured,
	".html": markup, ".htm": markup,
}

// Kinds names the kinds of files that Known reports, for messages.
const Kinds = "Markdown, text, reStructuredText, HTML, PDF or Office"

// Known reports whether the extension of a file name, in any case, is one of the Kinds.
func Known(name string) bool { return kindOf(name) != unknown }

// kindOf returns the kind of a file. Docent could convert reStructuredText too, but here its first heading becomes the title, and a
// file may have MaxFile.
func kindOf(name string) kind {
	if k, ok := kinds[strings.ToLower(filepath.Ext(name))]; ok {
		return k
	}
	if _, ok := extract.MediaTypeOf(name); ok {
		return office
	}
	return unknown
}

// Read makes a page from a file's content. The error says in a few words why the file cannot become a document.
func Read(name string, data []byte) (Page, error) {
	if len(data) > MaxFile {
		return Page{}, TooLarge(int64(len(data)))
	}
	switch kindOf(name) {
	case markdown:
		s, err := plaintext.Decode(data)
		if err != nil {
			return Page{}, err
		}
		if front, body, ok := cutTOML(s); ok {
			title, err := readTOML(front)
			return Page{Title: choose(choose(heading(body), title), fileTitle(name)), Body: body}, err
		}
		front, body := cutFrontMatter(s)
		p := Page{Title: choose(choose(heading(body), frontTitle(front)), fileTitle(name)), Body: body}
		p.Access, p.Metadata, p.LeftOut, err = readFront(front)
		return p, err
	case text:
		s, err := plaintext.Decode(data)
		if err != nil {
			return Page{}, err
		}
		return Page{Title: fileTitle(name), Body: s}, nil
	case restructured:
		s, err := plaintext.Decode(data)
		if err != nil {
			return Page{}, err
		}
		body := rst.Markdown(s)
		return Page{Title: choose(heading(body), fileTitle(name)), Body: body}, nil
	case markup:
		s, err := decodeHTML(data)
		if err != nil {
			return Page{}, err
		}
		title, body, err := readHTML(s)
		if err != nil {
			return Page{}, err
		}
		return Page{Title: choose(title, fileTitle(name)), Body: body}, nil
	case office:
		if len(data) > MaxInline {
			return Page{}, tooLarge(int64(len(data)), MaxInline)
		}
		if len(data) == 0 {
			return Page{}, errEmpty
		}
		p := Uploaded(name)
		p.Body = base64.StdEncoding.EncodeToString(data)
		return p, nil
	default:
		return Page{}, errors.New("it is not a " + Kinds + " file")
	}
}

// TooLarge returns the reason why a file of size bytes is skipped.
func TooLarge(size int64) error { return tooLarge(size, MaxFile) }

func tooLarge(size, most int64) error {
	return fmt.Errorf("it has %.1f MB, over the limit of %d MB", float64(size)/(1<<20), most>>20)
}

// Uploaded returns the page of a PDF or Office file without its body. For another file the MediaType is empty.
func Uploaded(name string) Page {
	if kindOf(name) != office {
		return Page{}
	}
	mediaType, _ := extract.MediaTypeOf(name)
	return Page{Title: fileTitle(name), MediaType: mediaType}
}

// CheckUpload returns an error if a PDF or Office file of size bytes is too large to upload.
func CheckUpload(size int64) error {
	if size > client.MaxUpload {
		return tooLarge(size, client.MaxUpload)
	}
	return nil
}
