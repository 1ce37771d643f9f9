package slack

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
)

// maxDepth bounds blocks within each other.
const maxDepth = 20

// block is a part of the layout of a message, or of another block.
type block struct {
	Type     string          `json:"type"`
	Text     json.RawMessage `json:"text"` // a text, or a block with one
	Fields   []block         `json:"fields"`
	Elements []block         `json:"elements"`
	Rows     json.RawMessage `json:"rows"`         // of a table: lists of blocks
	Caption  string          `json:"caption"`      // of a table
	Value    json.RawMessage `json:"value"`        // of a cell with a number
	Style    json.RawMessage `json:"style"`        // of a list, a name; of a run of rich text, an object
	Indent   int             `json:"indent"`       // of a list
	URL      string          `json:"url"`          // of a link
	User     string          `json:"user_id"`      // of a mention
	Group    string          `json:"usergroup_id"` // of a mention
	Channel  string          `json:"channel_id"`   // of a mention
	Range    string          `json:"range"`        // of a mention of all
	Name     string          `json:"name"`         // of an emoji
	Fallback string          `json:"fallback"`     // of a date
}

// attachment is a part of a message in the form that apps used before blocks, and many still do.
type attachment struct {
	Pretext string  `json:"pretext"`
	Title   string  `json:"title"`
	Text    string  `json:"text"`
	Blocks  []block `json:"blocks"`
	Fields  []struct {
		Title string `json:"title"`
		Value string `json:"value"`
	} `json:"fields"`
	Fallback string `json:"fallback"` // what has no place for an attachment shows
	From     string `json:"from_url"` // of the preview of a link
}

// noText are the texts that Slack gives a message or an attachment that has only blocks.
var noText = []string{"", "This content can't be displayed.", "[no preview available]"}

// text returns the text of a message as it is shown. Of an app's message with blocks Slack shows only those, and its text in
// notifications; attachments stand below either, and those of a person are previews of links, or tables. Blocks and attachments that are
// not in their known form have no text.
func (m Message) text() string {
	text := m.Text
	if slices.Contains(noText, strings.TrimSpace(text)) {
		text = ""
	}
	var all []block
	if json.Unmarshal(m.Blocks, &all) == nil && (text == "" || m.BotID != "" && slices.ContainsFunc(all, block.isLaidOut)) {
		text = cmp.Or(textOf(all, 0), text)
	}
	var attached []attachment
	if json.Unmarshal(m.Attachments, &attached) != nil {
		return text
	}
	parts := []string{text}
	for _, a := range attached {
		hasTable := slices.ContainsFunc(a.Blocks, block.isTable)
		if hasTable {
			parts = append(parts, "")
		}
		if text == "" || a.From == "" && (m.BotID != "" || hasTable) {
			parts = append(parts, a.text())
		}
	}
	return strings.TrimSpace(strings.Join(parts, "\n"))
}

// isLaidOut reports whether a block is one that only apps make. Slack itself makes the rich text of a message that has a text only.
func (b block) isLaidOut() bool { return b.Type != "rich_text" }

func (a attachment) text() string {
	parts := []string{a.Pretext, a.Title, a.Text}
	for _, f := range a.Fields {
		parts = append(parts, strings.TrimPrefix(f.Title+": "+f.Value, ": "))
	}
	var lines []string
	for _, part := range append(parts, textOf(a.Blocks, 0)) {
		if part = strings.TrimSpace(part); part != "" {
			lines = append(lines, part)
		}
	}
	if len(lines) == 0 && !slices.Contains(noText, a.Fallback) {
		return a.Fallback
	}
	return strings.Join(lines, "\n")
}

// textOf returns the text of blocks on lines of their own.
func textOf(all []block, depth int) string {
	var lines []string
	for _, b := range all {
		text := strings.TrimSpace(b.text(depth))
		if b.isTable() && text != "" {
			text = "\n" + text + "\n" // else the next line would be one of it
		}
		if text != "" {
			lines = append(lines, text)
		}
	}
	return strings.Join(lines, "\n")
}

func (b block) text(depth int) string {
	var text string
	var inner block
	switch {
	case depth > maxDepth || b.Type == "actions" || b.Type == "button":
		return ""
	case strings.HasPrefix(b.Type, "rich_text"):
		return b.richText(depth)
	case b.Type == "table" || b.Type == "data_table":
		return b.table(depth)
	case json.Unmarshal(b.Text, &text) == nil && text != "":
	case json.Unmarshal(b.Text, &inner) == nil:
		text = inner.text(depth + 1)
	case b.Type == "raw_number":
		text = string(b.Value)
	default:
		text = b.URL
	}
	return strings.TrimSuffix(text+"\n"+strings.TrimSpace(textOf(b.Fields, depth+1)+"\n"+textOf(b.Elements, depth+1)), "\n")
}
