package fetch

import (
	"bytes"
	"fmt"
	"io"
	"net/url"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/base"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/commonmark"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/table"
	"github.com/go-shiori/go-readability"
	"golang.org/x/net/html/charset"
)

// read turns a body into a page: the main text of HTML, and text as it is.
func read(body []byte, contentType, media string, at *url.URL) (page Page, err error) {
	decoded, err := charset.NewReader(bytes.NewReader(body), contentType)
	if err != nil {
		return Page{}, &Error{Failed, "The page is in an unknown character set.", err}
	}
	text, err := io.ReadAll(io.LimitReader(decoded, 3*MaxBytes))
	if err != nil {
		return Page{}, &Error{Failed, "The page's characters could not be read.", err}
	}
	text = bytes.ReplaceAll(bytes.ToValidUTF8(text, []byte(string(utf8.RuneError))), []byte{0}, nil)
	if media == "text/plain" || media == "text/markdown" {
		return Page{titleOf(string(text), at), string(text)}, nil
	}
	defer func() { // pages are made to break what reads them
		if p := recover(); p != nil {
			page, err = Page{}, &Error{Failed, "The page's HTML could not be read.", fmt.Errorf("panic: %v", p)}
		}
	}()
	article, err := readability.FromReader(bytes.NewReader(text), at)
	if err != nil {
		return Page{}, &Error{Failed, "The page's HTML could not be read.", err}
	}
	convert := converter.NewConverter(converter.WithPlugins(base.NewBasePlugin(), commonmark.NewCommonmarkPlugin(), table.NewTablePlugin()))
	markdown, err := convert.ConvertString(article.Content, converter.WithDomain(at.Scheme+"://"+at.Host))
	if err != nil {
		return Page{}, &Error{Failed, "The page's HTML could not be read.", err}
	}
	if strings.TrimSpace(markdown) == "" {
		return Page{}, &Error{Code: Failed, Detail: "The page holds no text."}
	}
	title := strings.Join(strings.Fields(article.Title), " ")
	if title == "" {
		title = titleOf(markdown, at)
	}
	return Page{title, strings.TrimSpace(markdown)}, nil
}

// titleOf is the first heading of a text, else the last part of its address.
func titleOf(text string, at *url.URL) string {
	for line := range strings.Lines(text) {
		if heading, ok := strings.CutPrefix(line, "# "); ok {
			return strings.TrimSpace(heading)
		}
	}
	if name := path.Base(at.Path); name != "." && name != "/" {
		return name
	}
	return at.Host
}
