package slack

import (
	"encoding/json"
	"regexp"
	"strings"
)

// maxIndent bounds how far a list is indented; Slack's editor allows 8.
const maxIndent = 8

// richText returns a block of rich text, or a part of one, in the form of the texts of messages.
func (b block) richText(depth int) string {
	var lines []string
	if b.Type == "rich_text" || b.Type == "rich_text_list" {
		var style string
		_ = json.Unmarshal(b.Style, &style)
		mark := ""
		switch {
		case b.Type == "rich_text":
		case style == "ordered":
			mark = "1. "
		default:
			mark = "- "
		}
		mark = strings.Repeat("  ", max(0, min(b.Indent, maxIndent))) + mark
		for _, e := range b.Elements {
			if text := e.text(depth + 1); strings.TrimSpace(text) != "" {
				lines = append(lines, mark+text)
			}
		}
		return strings.Join(lines, "\n")
	}
	var runs strings.Builder // of different looks
	for _, run := range b.Elements {
		runs.WriteString(run.run(depth+1, b.Type == "rich_text_preformatted"))
	}
	switch b.Type {
	case "rich_text_preformatted":
		return fence + "\n" + strings.Trim(runs.String(), "\n") + "\n" + fence
	case "rich_text_quote":
		return "> " + strings.ReplaceAll(strings.TrimSpace(runs.String()), "\n", "\n> ")
	default:
		return strings.TrimSuffix(runs.String(), "\n")
	}
}

// escape escapes the characters that Slack escapes in texts of messages, but not in rich text.
var escape = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// run returns a run of rich text: words, a link, a mention.
func (b block) run(depth int, inCode bool) string {
	var text string
	isText := json.Unmarshal(b.Text, &text) == nil && text != ""
	text = escape.Replace(text)
	switch {
	case b.Type == "link" && isText && b.URL != "" && b.URL != text && !inCode:
		return "<" + b.URL + "|" + text + ">"
	case isText:
		var style struct{ Code bool }
		if _ = json.Unmarshal(b.Style, &style); style.Code && !inCode && !strings.Contains(text, "`") {
			return "`" + text + "`"
		}
		return text
	case b.User != "":
		return "<@" + b.User + ">"
	case b.Group != "":
		return "<!subteam^" + b.Group + ">"
	case b.Channel != "":
		return "<#" + b.Channel + ">"
	case b.Type == "broadcast" && b.Range != "":
		return "<!" + b.Range + ">"
	case b.Type == "emoji" && b.Name != "":
		return ":" + b.Name + ":"
	case b.Type == "date":
		return escape.Replace(b.Fallback)
	default:
		return b.text(depth)
	}
}

func (b block) isTable() bool { return b.Type == "table" || b.Type == "data_table" }

// inCell matches a link or a mention, whose bar is none of the table, and other bars.
var inCell = regexp.MustCompile(`<[^<>]*>|\|`)

// table returns a table as one of Markdown. Its first row is its head.
func (b block) table(depth int) string {
	var rows [][]block
	if json.Unmarshal(b.Rows, &rows) != nil {
		return b.Caption
	}
	lines := []string{b.Caption, ""}
	for i, row := range rows {
		var line strings.Builder
		line.WriteString("|")
		for _, cell := range row {
			text := strings.Join(strings.Fields(cell.text(depth+1)), " ")
			line.WriteString(" " + inCell.ReplaceAllStringFunc(text, func(found string) string {
				if found == "|" {
					return `\|`
				}
				return found
			}) + " |")
		}
		lines = append(lines, line.String())
		if i == 0 {
			lines = append(lines, "|"+strings.Repeat(" --- |", len(row)))
		}
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n")
}
