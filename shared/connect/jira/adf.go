package jira

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"docent/shared/backtick"
	"docent/shared/raised"
)

// Bounds of a text. What exceeds them is left out. The Cloud allows 32,767 characters.
const (
	maxBody  = 4 << 20 // bytes of a document, or of wiki markup
	maxText  = 4 << 20 // bytes of Markdown
	maxDepth = 60      // nested nodes
)

// text returns the Markdown of a description or comment: of a document in the Atlassian
// Document Format, which the Cloud sends, or of wiki markup.
func text(body json.RawMessage, base string) string {
	var markup string
	var doc node
	out := ""
	switch {
	case len(body) == 0:
	case body[0] == '"' && json.Unmarshal(body, &markup) == nil:
		out = wiki(clip(markup, maxBody), base)
	case body[0] == '{' && len(body) <= maxBody && json.Unmarshal(body, &doc) == nil:
		out = blocks(doc.Content, 0)
	}
	return clip(strings.TrimSpace(odd.Replace(out)), maxText)
}

// clip returns the first most bytes of text, without a character that would be cut.
func clip(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "")
}

// parts collects texts that are joined, up to maxText bytes of them: quotations and lists within each other make a text
// many times longer than its document.
type parts struct {
	all  []string
	size int
}

// add adds a text. It returns false once there is no place for more.
func (p *parts) add(text string) bool {
	p.all, p.size = append(p.all, text), p.size+len(text)
	return p.size <= maxText
}

func (p *parts) join(between string) string { return clip(strings.Join(p.all, between), maxText) }

// odd replaces characters that are no text.
var odd = strings.NewReplacer("\u00a0", " ", "\u200b", "", "\x00", "")

// node is a node of a document.
type node struct {
	Type    string `json:"type"`
	Text    string `json:"text"`
	Content []node `json:"content"`
	Marks   []mark `json:"marks"`
	Attrs   attrs  `json:"attrs"`
}

type mark struct {
	Type  string `json:"type"`
	Attrs attrs  `json:"attrs"`
}

// attrs are attributes, of which each kind of node has others.
type attrs map[string]any

// UnmarshalJSON reads an object; anything else has no attributes.
func (a *attrs) UnmarshalJSON(text []byte) error {
	var members map[string]any
	if json.Unmarshal(text, &members) == nil {
		*a = members
	}
	return nil
}

// text returns an attribute on one line.
func (a attrs) text(name string) string {
	switch v := a[name].(type) {
	case string:
		return strings.Join(strings.Fields(v), " ")
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return ""
}

func (a attrs) number(name string, otherwise int) int {
	if n, ok := a[name].(float64); ok && n >= 0 && n < 1e6 {
		return int(n)
	}
	return otherwise
}

// blocks returns nodes as paragraphs. Inline nodes in between become paragraphs too.
func blocks(nodes []node, depth int) string {
	if depth > maxDepth {
		return ""
	}
	var out parts
	for len(nodes) > 0 {
		n := 1
		var text string
		if isInline(nodes[0].Type) {
			for n < len(nodes) && isInline(nodes[n].Type) {
				n++
			}
			text = strings.TrimSpace(inline(nodes[:n], depth))
		} else {
			text = block(nodes[0], depth+1)
		}
		if strings.TrimSpace(text) != "" && !out.add(text) {
			break
		}
		nodes = nodes[n:]
	}
	return out.join("\n\n")
}

func isInline(kind string) bool {
	switch kind {
	case "text", "hardBreak", "mention", "emoji", "date", "status", "inlineCard", "mediaInline", "inlineExtension", "placeholder":
		return true
	}
	return false
}

func block(n node, depth int) string {
	switch n.Type {
	case "heading":
		return strings.Repeat("#", min(max(n.Attrs.number("level", 1), 1), 6)) + " " + oneLine(inline(n.Content, depth))
	case "bulletList", "decisionList", "taskList":
		return list(n.Content, depth, func(int, node) string { return "- " })
	case "orderedList":
		from := n.Attrs.number("order", 1)
		return list(n.Content, depth, func(i int, _ node) string { return strconv.Itoa(from+i) + ". " })
	case "codeBlock":
		return fenced(n.Attrs.text("language"), raws(n.Content, depth))
	case "blockquote":
		return prefixed("> ", blocks(n.Content, depth))
	case "panel":
		kind := n.Attrs.text("panelType")
		if kind == "" || kind == "custom" {
			return prefixed("> ", blocks(n.Content, depth))
		}
		return prefixed("> ", "**"+strings.ToUpper(kind[:1])+kind[1:]+"**\n\n"+blocks(n.Content, depth))
	case "expand", "nestedExpand":
		if title := n.Attrs.text("title"); title != "" {
			return "**" + title + "**\n\n" + blocks(n.Content, depth)
		}
	case "rule":
		return "---"
	case "table":
		return table(n, depth)
	case "media":
		return media(n)
	case "blockCard", "embedCard":
		return card(n)
	case "extension":
		return n.Attrs.text("text")
	}
	return blocks(n.Content, depth)
}

// list returns entries with the mark that each begins with.
func list(entries []node, depth int, begin func(int, node) string) string {
	var out parts
	for i, e := range entries {
		mark := begin(i, e)
		if e.Type == "taskItem" {
			mark += map[bool]string{true: "[x] ", false: "[ ] "}[e.Attrs.text("state") == "DONE"]
		}
		var body string
		if strings.HasSuffix(e.Type, "List") { // a list within a task list is not in an entry
			body, mark = block(e, depth+1), "  "
		} else {
			body = blocks(e.Content, depth+1)
		}
		indent := "\n" + strings.Repeat(" ", min(len(mark), 4))
		body = strings.ReplaceAll(strings.ReplaceAll(body, "\n\n- ", "\n- "), "\n\n1. ", "\n1. ")
		if !out.add(mark + strings.ReplaceAll(body, "\n", indent)) {
			break
		}
	}
	return out.join("\n")
}

// inline returns nodes as text on lines.
func inline(nodes []node, depth int) string {
	if depth > maxDepth {
		return ""
	}
	var b strings.Builder
	for _, n := range nodes {
		if b.Len() > maxText {
			break
		}
		switch n.Type {
		case "text":
			b.WriteString(marked(n))
		case "hardBreak":
			b.WriteString("\n")
		case "mention":
			b.WriteString("@" + strings.TrimPrefix(cmp.Or(n.Attrs.text("text"), "someone"), "@"))
		case "emoji":
			b.WriteString(cmp.Or(n.Attrs.text("text"), n.Attrs.text("shortName")))
		case "date":
			if ms, err := strconv.ParseInt(n.Attrs.text("timestamp"), 10, 64); err == nil {
				b.WriteString(time.UnixMilli(ms).UTC().Format(time.DateOnly))
			}
		case "status", "inlineExtension":
			b.WriteString(n.Attrs.text("text"))
		case "inlineCard":
			b.WriteString(card(n))
		case "media", "mediaInline":
			b.WriteString(media(n))
		default:
			b.WriteString(inline(n.Content, depth+1))
		}
	}
	return b.String()
}

// marked returns a text with its marks. Blanks at its ends stay outside of them.
func marked(n node) string {
	core := strings.TrimSpace(n.Text)
	if core == "" {
		return n.Text
	}
	at := strings.Index(n.Text, core)
	before, after := n.Text[:at], n.Text[at+len(core):]
	marks := distinct(n.Marks)
	if slices.ContainsFunc(n.Marks, func(m mark) bool { return m.Type == "subsup" && m.Attrs.text("type") == "sup" }) {
		core = raised.Text(core)
	}
	for _, m := range marks { // code first, because nothing in it is a mark
		if m.Type == "code" {
			core = "`" + strings.ReplaceAll(core, "`", "'") + "`"
		}
	}
	for _, m := range marks {
		switch m.Type {
		case "strong":
			core = "**" + core + "**"
		case "em":
			core = "*" + core + "*"
		case "strike":
			core = "~~" + core + "~~"
		}
	}
	for _, m := range marks {
		if href := m.Attrs.text("href"); m.Type == "link" && href != "" && href != core {
			core = "[" + core + "](" + strings.ReplaceAll(href, ")", "%29") + ")"
		}
	}
	return before + core + after
}

// distinct returns the first of each kind of marks that are written.
func distinct(marks []mark) []mark {
	var out []mark
	for _, m := range marks {
		switch m.Type {
		case "code", "strong", "em", "strike", "link":
			if !slices.ContainsFunc(out, func(o mark) bool { return o.Type == m.Type }) {
				out = append(out, m)
			}
		}
	}
	return out
}

// card returns the address of a smart link.
func card(n node) string {
	if address := n.Attrs.text("url"); address != "" {
		return "<" + strings.Trim(address, "<>") + ">"
	}
	data, _ := n.Attrs["data"].(map[string]any)
	return attrs(data).text("name")
}

// media returns the description or the name of a file; the reply has no other.
func media(n node) string {
	if name := cmp.Or(n.Attrs.text("alt"), n.Attrs.text("fileName")); name != "" {
		return "[" + name + "]"
	}
	return ""
}

func raws(nodes []node, depth int) string {
	if depth > maxDepth {
		return ""
	}
	var b strings.Builder
	for _, n := range nodes {
		if b.Len() > maxText {
			break
		}
		b.WriteString(n.Text + raws(n.Content, depth+1))
	}
	return b.String()
}

// maxColumns of a table.
const maxColumns = 100

// table returns a table; its first row is its head.
func table(t node, depth int) string {
	var out parts
	columns := 0
	for _, row := range t.Content {
		columns = min(max(columns, len(row.Content)), maxColumns)
	}
	for i, row := range t.Content {
		text := tableRow(row.Content[:min(len(row.Content), columns)], columns, depth)
		if i == 0 {
			text += "\n" + strings.Repeat("|---", columns) + "|"
		}
		if !out.add(text) {
			break
		}
	}
	return out.join("\n")
}

func tableRow(cells []node, columns, depth int) string {
	texts := parts{all: make([]string, 0, columns)}
	for _, cell := range cells {
		text := strings.ReplaceAll(blocks(cell.Content, depth+1), "|", `\|`)
		if !texts.add(strings.ReplaceAll(strings.ReplaceAll(text, "\n\n", "\n"), "\n", "<br />")) {
			break
		}
	}
	return "| " + strings.Join(append(texts.all, make([]string, columns-len(texts.all))...), " | ") + " |"
}

// fenced returns a block of code, within a fence that is not in it.
func fenced(language, code string) string {
	if strings.ContainsAny(language, " `") {
		language = ""
	}
	fence := backtick.Fence(code)
	return fmt.Sprintf("%s%s\n%s\n%s", fence, language, strings.TrimRight(code, "\n"), fence)
}

func prefixed(prefix, text string) string {
	return prefix + strings.ReplaceAll(text, "\n", "\n"+prefix)
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
