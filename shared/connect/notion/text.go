package notion

import (
	"context"
	"errors"
	"regexp"
	"strings"

	"docent/shared/connect/rest"
	"docent/shared/source"
)

// Bounds of a page's text.
const (
	maxParts = 100     // parts that Notion returns separately
	maxText  = 8 << 20 // bytes
	maxTabs  = 100     // depth of blocks that is looked at
)

// markdown is the text of a page, or of a part of one.
type markdown struct {
	Text      string   `json:"markdown"`
	Truncated bool     `json:"truncated"`
	Unknown   []string `json:"unknown_block_ids"`
}

// lack says what is missing from a text.
type lack int

const (
	nothing lack = iota
	cut          // Notion does not return more of it
	refused      // Notion refused a part, perhaps only now
)

// text returns the text of a page, and what is missing from it. Parts that Notion leaves
// out of a large page follow it; those that are not shared with the integration stay out.
func (s *session) text(ctx context.Context, id string) (string, lack, error) {
	first, err := s.part(ctx, id)
	if err != nil {
		return "", nothing, err
	}
	var b strings.Builder
	b.WriteString(plain(first.Text))
	missed := nothing
	asked := map[string]bool{short(id): true}
	for missing := first.Unknown; len(missing) > 0; missing = missing[1:] {
		if asked[short(missing[0])] {
			continue
		}
		if len(asked) > maxParts || b.Len() > maxText {
			missed = cut
			break
		}
		asked[short(missing[0])] = true
		part, err := s.part(ctx, missing[0])
		var failed *source.SyncError
		if errors.As(err, &failed) && (failed.Code == source.NotThere || failed.Code == source.Refused) {
			if failed.Code == source.Refused {
				missed = max(missed, refused)
			}
			continue // otherwise it is not shared
		}
		if err != nil {
			return "", nothing, err
		}
		b.WriteString("\n\n" + plain(part.Text))
		missing = append(missing, part.Unknown...)
		if part.Truncated && len(part.Unknown) == 0 {
			missed = max(missed, cut)
		}
	}
	if first.Truncated && len(first.Unknown) == 0 || b.Len() > maxText {
		missed = max(missed, cut)
	}
	return cutTo(b.String()), missed, nil
}

func (s *session) part(ctx context.Context, id string) (markdown, error) {
	m, _, err := rest.Get[markdown](ctx, s.api, "v1/pages/"+id+"/markdown")
	return m, err
}

// cutTo returns at most maxText bytes of text.
func cutTo(text string) string {
	if len(text) <= maxText {
		return text
	}
	return strings.ToValidUTF8(text[:maxText], "")
}

var (
	fence    = regexp.MustCompile("(?m)^[\t ]*```")
	table    = regexp.MustCompile(`(?s)<table[^>]*>(.*?)</table>`)
	row      = regexp.MustCompile(`(?s)<tr[^>]*>(.*?)</tr>`)
	cell     = regexp.MustCompile(`(?s)<td[^>]*>(.*?)</td>`)
	link     = regexp.MustCompile(`<(?:page|database|data-source|mention-page|mention-database|mention-data-source)\b[^>]*\burl="([^"]*)"[^>]*>(.*?)</(?:page|database|data-source|mention-page|mention-database|mention-data-source)>`)
	file     = regexp.MustCompile(`<(?:file|video|audio|pdf)\b[^>]*>(.*?)</(?:file|video|audio|pdf)>`)
	image    = regexp.MustCompile(`!\[([^\]]*)\]\([^)\s]*\)`)
	dates    = regexp.MustCompile(`<mention-date\b[^>]*\bstart="([^"]*)"[^>]*\bend="([^"]+)"[^>]*/?>`)
	date     = regexp.MustCompile(`<mention-date\b[^>]*\bstart="([^"]*)"[^>]*/?>`)
	tag      = regexp.MustCompile(`</?(?:unknown|empty-block|callout|columns?|details|summary|synced_block(?:_reference)?|span|mention-[a-z-]+|table_of_contents|meeting-notes|notes|transcript|page|database|data-source|breadcrumb)\b[^>]*>`)
	brk      = regexp.MustCompile(`<br\s*/?>`)
	color    = regexp.MustCompile(`[\t ]*\{(?:color|toggle|underline)="[^"]*"[^}\n]*\}`)
	newlines = regexp.MustCompile(`\n{3,}`)
)

// plain returns text, Notion's own Markdown, as general Markdown: tables as such, pages
// as links, no colors and containers. It leaves out the addresses of files, which hold a
// signature and end after an hour.
func plain(text string) string {
	text = outdented(text)
	var b strings.Builder
	parts := fence.FindAllStringIndex(text, -1)
	from := 0
	for i := 0; i+1 < len(parts); i += 2 { // code blocks stay as they are
		b.WriteString(prose(text[from:parts[i][0]]))
		b.WriteString(text[parts[i][0]:parts[i+1][1]])
		from = parts[i+1][1]
	}
	b.WriteString(prose(text[from:]))
	return strings.TrimSpace(newlines.ReplaceAllString(b.String(), "\n\n"))
}

var listItem = regexp.MustCompile(`^(?:[-*+]|\d+\.)(?:\s|$)`)

// outdented returns text with the tabs of what is in items of lists only. Notion writes a tab for each block that a block is in, such as
// a column, a callout or a toggle; in Markdown, such a line would be code.
func outdented(text string) string {
	var b strings.Builder
	var items []bool // whether the last block at each depth is an item
	depth, indent, inCode := 0, 0, false
	for line := range strings.Lines(text) {
		rest := strings.TrimLeft(line, "\t")
		tabs := len(line) - len(rest)
		switch isFence := strings.HasPrefix(rest, "```"); {
		case inCode:
			rest = line[min(tabs, depth):]
			inCode = !isFence
		case strings.TrimSpace(rest) != "":
			depth, indent = min(tabs, maxTabs), 0
			items = items[:min(depth, len(items))]
			for _, isItem := range items {
				if isItem {
					indent++
				}
			}
			for len(items) < depth {
				items = append(items, false)
			}
			items = append(items, listItem.MatchString(rest))
			inCode = isFence
		default:
			b.WriteString(rest)
			continue
		}
		b.WriteString(strings.Repeat("\t", min(indent, tabs)) + rest)
	}
	return b.String()
}

func prose(text string) string {
	text = table.ReplaceAllStringFunc(text, tableOf)
	text = link.ReplaceAllString(text, "[$2]($1)")
	text = file.ReplaceAllString(text, "$1")
	text = image.ReplaceAllString(text, "$1")
	text = dates.ReplaceAllString(text, "$1 to $2")
	text = date.ReplaceAllString(text, "$1")
	text = brk.ReplaceAllString(text, "\n")
	text = tag.ReplaceAllString(text, "")
	return color.ReplaceAllString(text, "")
}

// tableOf returns a table of tags as one of Markdown.
func tableOf(text string) string {
	var b strings.Builder
	for i, r := range row.FindAllStringSubmatch(text, -1) {
		cells := cell.FindAllStringSubmatch(r[1], -1)
		b.WriteString("\n|")
		for _, c := range cells {
			b.WriteString(" " + strings.ReplaceAll(strings.Join(strings.Fields(brk.ReplaceAllString(c[1], " ")), " "), "|", `\|`) + " |")
		}
		if i == 0 {
			b.WriteString("\n|" + strings.Repeat(" --- |", len(cells)))
		}
	}
	return b.String() + "\n"
}
