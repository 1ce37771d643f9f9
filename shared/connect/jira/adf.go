package jira

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Bounds of a text. What exceeds them is left out.
const (
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
		out = wiki(markup, base)
	case body[0] == '{' && json.Unmarshal(body, &doc) == nil:
		out = blocks(doc.Content, 0)
	}
	out = strings.TrimSpace(odd.Replace(out))
	return strings.ToValidUTF8(out[:min(len(out), maxText)], "")
}

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
	var out []string
	var line []node
	end := func() {
		if text := strings.TrimSpace(inline(line, depth)); text != "" {
			out = append(out, text)
		}
		line = nil
	}
	for _, n := range nodes {
		if isInline(n.Type) {
			line = append(line, n)
			continue
		}
		end()
		if text := block(n, depth+1); strings.TrimSpace(text) != "" {
			out = append(out, text)
		}
	}
	end()
	return strings.Join(out, "\n\n")
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
	var out []string
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
		out = append(out, mark+strings.ReplaceAll(body, "\n", indent))
	}
	return strings.Join(out, "\n")
}

// inline returns nodes as text on lines.
func inline(nodes []node, depth int) string {
	if depth > maxDepth {
		return ""
	}
	var b strings.Builder
	for _, n := range nodes {
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
	for _, m := range n.Marks { // code first, because nothing in it is a mark
		if m.Type == "code" {
			core = "`" + strings.ReplaceAll(core, "`", "'") + "`"
		}
	}
	for _, m := range n.Marks {
		switch m.Type {
		case "strong":
			core = "**" + core + "**"
		case "em":
			core = "*" + core + "*"
		case "strike":
			core = "~~" + core + "~~"
		}
	}
	for _, m := range n.Marks {
		if href := m.Attrs.text("href"); m.Type == "link" && href != "" && href != core {
			core = "[" + core + "](" + strings.ReplaceAll(href, ")", "%29") + ")"
		}
	}
	return before + core + after
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
		b.WriteString(n.Text + raws(n.Content, depth+1))
	}
	return b.String()
}

// table returns a table; its first row is its head.
func table(t node, depth int) string {
	var out []string
	columns := 0
	for _, row := range t.Content {
		columns = min(max(columns, len(row.Content)), 100)
	}
	for i, row := range t.Content {
		cells := make([]string, columns)
		for j, cell := range row.Content[:min(len(row.Content), columns)] {
			text := strings.ReplaceAll(blocks(cell.Content, depth+1), "|", `\|`)
			cells[j] = strings.ReplaceAll(strings.ReplaceAll(text, "\n\n", "\n"), "\n", "<br />")
		}
		out = append(out, "| "+strings.Join(cells, " | ")+" |")
		if i == 0 {
			out = append(out, strings.Repeat("|---", columns)+"|")
		}
	}
	return strings.Join(out, "\n")
}

// fenced returns a block of code, within a fence that is not in it.
func fenced(language, code string) string {
	fence := "```"
	for strings.Contains(code, fence) {
		fence += "`"
	}
	if strings.ContainsAny(language, " `") {
		language = ""
	}
	return fmt.Sprintf("%s%s\n%s\n%s", fence, language, strings.TrimRight(code, "\n"), fence)
}

func prefixed(prefix, text string) string {
	return prefix + strings.ReplaceAll(text, "\n", "\n"+prefix)
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
