package confluence

import (
	"cmp"
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/net/html"
)

// panels are the macros that show their body in a box, with what the box says.
var panels = map[string]string{"info": "Info", "note": "Note", "tip": "Tip", "warning": "Warning", "error": "Error", "success": "Success", "panel": ""}

// generated are the macros whose content Confluence computes, so that the page has none.
var generated = map[string]bool{"toc": true, "toc-zone": false, "children": true, "pagetree": true, "recently-updated": true, "anchor": true,
	"contentbylabel": true, "attachments": true, "livesearch": true, "blog-posts": true, "profile": true, "listlabels": true, "gallery": true}

// rewriteAll returns the children of n with HTML in place of Confluence's own elements.
func (at place) rewriteAll(n *html.Node) []*html.Node {
	var out []*html.Node
	for c := range n.ChildNodes() {
		out = append(out, at.rewrite(c)...)
	}
	return out
}

func (at place) rewrite(n *html.Node) []*html.Node {
	if n.Type != html.ElementNode {
		return []*html.Node{{Type: n.Type, Data: n.Data}}
	}
	switch n.Data {
	case "ac:structured-macro", "ac:macro":
		return at.macro(n)
	case "ac:task-list":
		return []*html.Node{element("ul", at.rewriteAll(n)...)}
	case "ac:task":
		return at.task(n)
	case "ac:link":
		return at.link(n)
	case "ac:image":
		return at.image(n)
	case "ac:emoticon":
		return texts(cmp.Or(attribute(n, "ac:emoji-fallback"), attribute(n, "ac:emoji-shortname"), attribute(n, "ac:name")))
	case "ac:placeholder", "ac:parameter", "ac:adf-attribute", "ac:adf-fallback", "script", "style":
		return nil
	case "ac:adf-extension":
		if find(n, "ac:adf-content") == nil {
			if fallback := child(n, "ac:adf-fallback"); fallback != nil {
				return at.rewriteAll(fallback)
			}
		}
		return []*html.Node{element("div", at.rewriteAll(n)...)}
	case "ac:adf-content", "ac:layout", "ac:layout-section", "ac:layout-cell":
		return []*html.Node{element("div", at.rewriteAll(n)...)}
	case "time":
		if when := attribute(n, "datetime"); when != "" {
			return texts(when)
		}
	}
	if strings.Contains(n.Data, ":") { // such as ac:inline-comment-marker
		return at.rewriteAll(n)
	}
	content := at.rewriteAll(n)
	if n.Data == "td" || n.Data == "th" {
		content = inline(content)
	}
	copied := element(n.Data, content...)
	for _, a := range n.Attr {
		switch a.Key {
		case "href", "src", "alt", "start":
			copied.Attr = append(copied.Attr, a)
		case "colspan", "rowspan":
			if count, err := strconv.Atoi(a.Val); err == nil && count > 1 && count <= 20 { // a larger one is hostile
				copied.Attr = append(copied.Attr, a)
			}
		}
	}
	return []*html.Node{copied}
}

// inline returns the content of a table cell on lines instead of in blocks, because a
// table in Markdown has no blocks.
func inline(nodes []*html.Node) []*html.Node {
	var out []*html.Node
	end := func() {
		if len(out) > 0 && out[len(out)-1].Data != "br" {
			out = append(out, element("br"))
		}
	}
	for _, n := range nodes {
		var below []*html.Node
		for c := n.FirstChild; c != nil; c = n.FirstChild {
			n.RemoveChild(c)
			below = append(below, c)
		}
		switch n.Data {
		case "p", "div", "ul", "ol", "li", "blockquote", "h1", "h2", "h3", "h4", "h5", "h6", "table", "tbody", "thead", "tr", "pre":
			end()
			if n.Data == "li" {
				out = append(out, raw("• "))
			}
			out = append(out, inline(below)...)
			end()
		default:
			for _, c := range inline(below) {
				n.AppendChild(c)
			}
			out = append(out, n)
		}
	}
	if len(out) > 0 && out[len(out)-1].Data == "br" {
		out = out[:len(out)-1]
	}
	return out
}

// macro returns the content of a macro.
func (at place) macro(n *html.Node) []*html.Node {
	name, title := attribute(n, "ac:name"), parameter(n, "title")
	rich, text := child(n, "ac:rich-text-body"), child(n, "ac:plain-text-body")
	if says, ok := panels[name]; ok && rich != nil {
		if title != "" && says != "" {
			says += ": "
		}
		body := at.rewriteAll(rich)
		if says+title != "" {
			body = append([]*html.Node{bold(says + title)}, body...)
		}
		return []*html.Node{element("blockquote", body...)}
	}
	switch {
	case generated[name]:
		return nil
	case name == "code" || name == "noformat" || rich == nil && text != nil:
		return code(n, name, title, text)
	case name == "expand" || rich != nil && title != "":
		if title == "" {
			title = "Details"
		}
		return append([]*html.Node{bold(title)}, at.bodyOf(rich)...)
	case name == "status":
		return texts(parameter(n, "title"))
	case name == "jira":
		return texts(cmp.Or(parameter(n, "key"), parameter(n, "jqlQuery")))
	case name == "include" || name == "excerpt-include":
		for page := range n.Descendants() {
			if page.Data == "ri:page" {
				return []*html.Node{element("p", texts("Includes the page ")...), at.anchor(at.pageURL(page), texts(attribute(page, "ri:content-title")))}
			}
		}
		return nil
	case rich != nil:
		return []*html.Node{element("div", at.bodyOf(rich)...)}
	}
	return at.shown(n)
}

// shown returns a link to the file or the page of the web that a macro without a body shows.
func (at place) shown(n *html.Node) []*html.Node {
	for c := range n.Descendants() {
		switch c.Data {
		case "ri:attachment":
			return []*html.Node{at.anchor(at.attachmentURL(c), texts(attribute(c, "ri:filename")))}
		case "ri:url":
			return []*html.Node{at.anchor(attribute(c, "ri:value"), texts(attribute(c, "ri:value")))}
		}
	}
	return nil
}

func (at place) bodyOf(rich *html.Node) []*html.Node {
	if rich == nil {
		return nil
	}
	return at.rewriteAll(rich)
}

// code returns a code block; the macros of diagrams have their name as its language.
func code(n *html.Node, name, title string, text *html.Node) []*html.Node {
	if text == nil {
		return nil
	}
	language := parameter(n, "language")
	if name != "code" && name != "noformat" {
		language = name
	}
	inner := element("code", &html.Node{Type: html.TextNode, Data: raws(text)})
	if language != "" && !strings.ContainsAny(language, " `\n\"") {
		inner.Attr = []html.Attribute{{Key: "class", Val: "language-" + language}}
	}
	block := element("pre", inner)
	if title != "" {
		return []*html.Node{bold(title), block}
	}
	return []*html.Node{block}
}

// task returns an entry of a task list.
func (at place) task(n *html.Node) []*html.Node {
	mark := "[ ] "
	if status := child(n, "ac:task-status"); status != nil && strings.TrimSpace(raws(status)) == "complete" {
		mark = "[x] "
	}
	entry := element("li", raw(mark))
	if body := child(n, "ac:task-body"); body != nil {
		for _, c := range at.rewriteAll(body) {
			entry.AppendChild(c)
		}
	}
	return []*html.Node{entry}
}

// link returns a link to a page, an attachment or an account.
func (at place) link(n *html.Node) []*html.Node {
	var body []*html.Node
	if rich := child(n, "ac:link-body"); rich != nil {
		body = at.rewriteAll(rich)
	} else if text := child(n, "ac:plain-text-link-body"); text != nil {
		body = texts(raws(text))
	}
	or := func(text string) []*html.Node {
		if len(body) > 0 {
			return body
		}
		return texts(text)
	}
	for c := range n.ChildNodes() {
		switch c.Data {
		case "ri:user":
			if len(body) > 0 {
				return body
			}
			name := at.name(person{attribute(c, "ri:account-id"), attribute(c, "ri:userkey"), attribute(c, "ri:username")})
			return texts("@" + cmp.Or(name, attribute(c, "ri:username"), "someone"))
		case "ri:page", "ri:blog-post", "ri:content-entity":
			title := attribute(c, "ri:content-title")
			return []*html.Node{at.anchor(at.pageURL(c), or(title))}
		case "ri:attachment":
			return []*html.Node{at.anchor(at.attachmentURL(c), or(attribute(c, "ri:filename")))}
		case "ri:url":
			return []*html.Node{at.anchor(attribute(c, "ri:value"), or(attribute(c, "ri:value")))}
		case "ri:space":
			key := attribute(c, "ri:space-key")
			return []*html.Node{at.anchor(at.base+"/display/"+url.PathEscape(key), or(key))}
		case "ri:shortcut":
			return or(attribute(c, "ri:key") + ":" + attribute(c, "ri:parameter"))
		}
	}
	return or(attribute(n, "ac:anchor"))
}

// image returns an image with its file name, unless it has a description.
func (at place) image(n *html.Node) []*html.Node {
	for c := range n.ChildNodes() {
		var address, name string
		switch c.Data {
		case "ri:attachment":
			name = attribute(c, "ri:filename")
			address = at.attachmentURL(c)
		case "ri:url":
			address = attribute(c, "ri:value")
		default:
			continue
		}
		img := element("img")
		img.Attr = []html.Attribute{{Key: "src", Val: address}, {Key: "alt", Val: cmp.Or(attribute(n, "ac:alt"), attribute(n, "ac:title"), name)}}
		out := []*html.Node{img}
		if caption := child(n, "ac:caption"); caption != nil {
			out = append(out, element("p", at.rewriteAll(caption)...))
		}
		return out
	}
	return nil
}

func (at place) pageURL(page *html.Node) string {
	if id := attribute(page, "ri:content-id"); id != "" {
		return at.base + "/pages/viewpage.action?pageId=" + url.QueryEscape(id)
	}
	return at.base + "/pages/viewpage.action?" + url.Values{"spaceKey": {cmp.Or(attribute(page, "ri:space-key"), at.space)},
		"title": {attribute(page, "ri:content-title")}}.Encode()
}

// attachmentURL returns the address of a file. Of one that is attached to another page, only the page is known.
func (at place) attachmentURL(n *html.Node) string {
	if page := child(n, "ri:page"); page != nil {
		return at.pageURL(page)
	}
	file := attribute(n, "ri:filename")
	return at.base + "/download/attachments/" + url.PathEscape(at.page) + "/" + url.PathEscape(file)
}

func (at place) anchor(address string, body []*html.Node) *html.Node {
	a := element("a", body...)
	a.Attr = []html.Attribute{{Key: "href", Val: address}}
	return a
}

// element returns a new element. The children must have no parent.
func element(name string, children ...*html.Node) *html.Node {
	n := &html.Node{Type: html.ElementNode, Data: name}
	for _, c := range children {
		n.AppendChild(c)
	}
	return n
}

func bold(text string) *html.Node { return element("p", element("strong", texts(text)...)) }

// texts returns a text, or nothing if it is empty.
func texts(text string) []*html.Node {
	if text == "" {
		return nil
	}
	return []*html.Node{{Type: html.TextNode, Data: text}}
}

// raws returns the text in n as it is.
func raws(n *html.Node) string {
	var b strings.Builder
	for c := range n.Descendants() {
		if c.Type == html.TextNode {
			b.WriteString(c.Data)
		}
	}
	return b.String()
}

func child(n *html.Node, name string) *html.Node {
	for c := range n.ChildNodes() {
		if c.Data == name {
			return c
		}
	}
	return nil
}

func find(n *html.Node, name string) *html.Node {
	for c := range n.Descendants() {
		if c.Data == name {
			return c
		}
	}
	return nil
}

// parameter returns a parameter of a macro.
func parameter(n *html.Node, name string) string {
	for c := range n.ChildNodes() {
		if c.Data == "ac:parameter" && attribute(c, "ac:name") == name {
			return strings.TrimSpace(raws(c))
		}
	}
	return ""
}
