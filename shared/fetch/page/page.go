// Package page converts web pages to Markdown. It is separate from package fetch
// because it adds more than a megabyte to a program.
package page

import (
	"bytes"
	"context"
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
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"golang.org/x/net/html/charset"

	"docent/shared/fetch"
	"docent/shared/markup"
)

// Read returns the main text of an HTML page as Markdown, and other text unchanged. It
// is a fetch.Reader.
func Read(_ context.Context, body []byte, contentType, media string, at *url.URL) (page fetch.Page, err error) {
	decoded, err := charset.NewReader(bytes.NewReader(body), contentType)
	if err != nil {
		return fetch.Page{}, &fetch.Error{Code: fetch.Failed, Detail: "The page is in an unknown character set.", Cause: err}
	}
	text, err := io.ReadAll(io.LimitReader(decoded, 3*fetch.MaxBytes))
	if err != nil {
		return fetch.Page{}, &fetch.Error{Code: fetch.Failed, Detail: "The page's characters could not be read.", Cause: err}
	}
	text = bytes.ReplaceAll(bytes.ToValidUTF8(text, []byte(string(utf8.RuneError))), []byte{0}, nil)
	if media == "text/plain" || media == "text/markdown" {
		return fetch.Page{Title: titleOf(string(text), at), Content: string(text)}, nil
	}
	defer func() { // a hostile page may make the parsers panic
		if p := recover(); p != nil {
			page, err = fetch.Page{}, &fetch.Error{Code: fetch.Failed, Detail: "The page's HTML could not be read.", Cause: fmt.Errorf("panic: %v", p)}
		}
	}()
	noIndex, within := head(text, at)
	if text, err = bound(text); err != nil {
		return fetch.Page{}, err
	}
	if !mayResolve(text, within) {
		within = &url.URL{}
	}
	article, err := readability.FromReader(bytes.NewReader(text), within)
	if err != nil {
		return fetch.Page{}, &fetch.Error{Code: fetch.Failed, Detail: "The page's HTML could not be read.", Cause: err}
	}
	convert := converter.NewConverter(converter.WithPlugins(base.NewBasePlugin(), commonmark.NewCommonmarkPlugin(), table.NewTablePlugin(), markup.Bounds{Padded: true}))
	markdown, err := convert.ConvertString(article.Content, converter.WithDomain(within.String()))
	if err != nil {
		return fetch.Page{}, &fetch.Error{Code: fetch.Failed, Detail: "The page's HTML could not be read.", Cause: err}
	}
	if strings.TrimSpace(markdown) == "" {
		return fetch.Page{}, &fetch.Error{Code: fetch.Failed, Detail: "The page has no text."}
	}
	title := strings.Join(strings.Fields(article.Title), " ")
	if title == "" {
		title = titleOf(markdown, at)
	}
	return fetch.Page{Title: title, Content: strings.TrimSpace(markdown), NoIndex: noIndex}, nil
}

// maxAddresses bounds the bytes of the addresses that relative links get.
const maxAddresses = 4 * fetch.MaxBytes

// mayResolve reports whether relative links in text may get the address that they are within. Many links on a page with a long address would
// make its text hundreds of times as long. Each is in an attribute with a value, or behind a comma in a list of images.
func mayResolve(text []byte, within *url.URL) bool {
	return (bytes.Count(text, []byte("="))+bytes.Count(text, []byte(",")))*len(within.String()) <= maxAddresses
}

// head reads the head of the page at an address. noIndex means that it asks robots, or Docent, not to index the page; within is
// what its links are relative to.
func head(text []byte, at *url.URL) (noIndex bool, within *url.URL) {
	page := *at
	page.Fragment, page.RawFragment = "", ""
	within = &page
	based := false
	for z := html.NewTokenizer(bytes.NewReader(text)); ; {
		kind := z.Next()
		if kind == html.ErrorToken {
			return noIndex, within
		}
		if kind != html.StartTagToken && kind != html.SelfClosingTagToken {
			continue
		}
		t, of := z.Token(), map[string]string{}
		if t.DataAtom == atom.Body {
			return noIndex, within
		}
		for _, a := range t.Attr {
			of[a.Key] = a.Val
		}
		name := strings.ToLower(strings.TrimSpace(of["name"]))
		switch {
		case t.DataAtom == atom.Meta && (name == "robots" || name == "docent") && fetch.NoIndex(of["content"]):
			noIndex = true
		case t.DataAtom == atom.Base && of["href"] != "" && !based: // the first one counts
			based = true
			if u, err := page.Parse(strings.TrimSpace(of["href"])); err == nil && u.Host != "" && u.User == nil && (u.Scheme == "http" || u.Scheme == "https") {
				u.Fragment, u.RawFragment = "", ""
				within = u
			}
		}
	}
}

// titleOf returns the first heading of a text; otherwise the end of its URL.
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
