// Package page turns a Markdown, text or HTML file into what Docent stores: a title and a body in Markdown or plain
// text, both valid UTF-8.
package page

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

// MaxFile is the maximum size of a file in bytes (10 MB).
const MaxFile = 10 << 20

// maxTitle is the maximum number of code points of a title.
const maxTitle = 1024

// Page is a file as a document.
type Page struct {
	Title string // 1 to 1024 code points, on one line
	Body  string
}

type kind int

const (
	unknown kind = iota
	markdown
	text
	markup
)

// kinds has every supported extension. The help text lists the same.
var kinds = map[string]kind{
	".md": markdown, ".markdown": markdown, ".mdx": markdown,
	".txt": text, ".text": text, ".rst": text,
	".html": markup, ".htm": markup,
}

// Known reports whether the extension of a file name is one of Markdown, text or HTML, in any case.
func Known(name string) bool { return kindOf(name) != unknown }

func kindOf(name string) kind { return kinds[strings.ToLower(filepath.Ext(name))] }

// Read makes a page from a file's content. The error says in a few words why the file cannot become a document.
func Read(name string, data []byte) (Page, error) {
	if len(data) > MaxFile {
		return Page{}, TooLarge(int64(len(data)))
	}
	switch kindOf(name) {
	case markdown:
		s, err := decode(data)
		if err != nil {
			return Page{}, err
		}
		title, body := readMarkdown(s)
		return Page{Title: choose(title, fileTitle(name)), Body: body}, nil
	case text:
		s, err := decode(data)
		if err != nil {
			return Page{}, err
		}
		return Page{Title: fileTitle(name), Body: s}, nil
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
	default:
		return Page{}, errors.New("it is not a Markdown, text or HTML file")
	}
}

// TooLarge returns the reason why a file of size bytes is skipped.
func TooLarge(size int64) error {
	return fmt.Errorf("it has %.1f MB, over the limit of %d MB", float64(size)/(1<<20), MaxFile>>20)
}
