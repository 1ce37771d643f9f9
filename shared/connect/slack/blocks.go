package slack

import (
	"encoding/json"
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
	URL      string          `json:"url"`     // of a link
	User     string          `json:"user_id"` // of a mention
	Name     string          `json:"name"`    // of an emoji
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
}

// text returns the text of a message. Apps often post one that has only blocks or attachments. Those that are not in their
// known form have no text.
func (m Message) text() string {
	if strings.TrimSpace(m.Text) != "" {
		return m.Text
	}
	var all []block
	if json.Unmarshal(m.Blocks, &all) == nil {
		if text := textOf(all, 0); text != "" {
			return text
		}
	}
	var attached []attachment
	if json.Unmarshal(m.Attachments, &attached) != nil {
		return ""
	}
	var parts []string
	for _, a := range attached {
		parts = append(parts, a.text())
	}
	return strings.TrimSpace(strings.Join(parts, "\n"))
}

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
	if len(lines) == 0 {
		return a.Fallback
	}
	return strings.Join(lines, "\n")
}

// textOf returns the text of blocks on lines of their own.
func textOf(all []block, depth int) string {
	var lines []string
	for _, b := range all {
		if text := strings.TrimSpace(b.text(depth)); text != "" {
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
	case json.Unmarshal(b.Text, &text) == nil && text != "":
	case json.Unmarshal(b.Text, &inner) == nil:
		text = inner.text(depth + 1)
	case b.Type == "user" && b.User != "":
		return "<@" + b.User + ">"
	case b.Type == "emoji" && b.Name != "":
		return ":" + b.Name + ":"
	default:
		text = b.URL
	}
	if b.Type == "rich_text_section" || b.Type == "rich_text_preformatted" || b.Type == "rich_text_quote" {
		var line strings.Builder // of runs of different looks
		for _, run := range b.Elements {
			line.WriteString(run.text(depth + 1))
		}
		return line.String()
	}
	return strings.TrimSuffix(text+"\n"+strings.TrimSpace(textOf(b.Fields, depth+1)+"\n"+textOf(b.Elements, depth+1)), "\n")
}
