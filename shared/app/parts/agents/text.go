package agents

import (
	"cmp"
	"fmt"
	"strings"

	"docent/shared/httpapi"
	"docent/shared/search"
	"docent/shared/source/question"
	"docent/shared/uri"
)

// The results of tools as Markdown, for a model. Found texts are quoted, so that their
// headings and lists cannot be taken for those of the result.

func sourcesText(b httpapi.SourcesBody) string { return found(b.Sources) }

func researchText(b httpapi.ResearchBody) string {
	text := strings.TrimSpace(b.Answer)
	if len(b.Sources) > 0 {
		text += "\n\n## Sources\n\n" + found(b.Sources)
	}
	return text + "\n"
}

func found(sources []question.Source) string {
	if len(sources) == 0 {
		return "Nothing was found.\n"
	}
	var b strings.Builder
	for n, s := range sources {
		entry(&b, n, s, nil)
	}
	return b.String()
}

// entry writes one source.
func entry(b *strings.Builder, n int, s question.Source, facts []string) {
	if n > 0 {
		b.WriteString("\n")
	}
	fmt.Fprintf(b, "%d. **%s**\n", n+1, cmp.Or(search.OneLine(s.Title), "Untitled"))
	fmt.Fprintf(b, "   %s\n", uri.Link(s.URL))
	facts = append([]string{strings.ReplaceAll(s.SourceType, "_", " ") + " from " + s.Provider}, facts...)
	fmt.Fprintf(b, "   %s\n", search.OneLine(strings.Join(facts, ", ")))
	quote(b, s.Content)
}

// lines replaces everything that some program takes for the end of a line by a line feed.
var lines = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\v", "\n", "\f", "\n", "\u0085", "\n", "\u2028", "\n", "\u2029", "\n")

// quote writes a found text as a Markdown quotation, without control and hidden characters.
func quote(b *strings.Builder, text string) {
	if text = strings.TrimSpace(search.Visible(lines.Replace(text))); text == "" {
		return
	}
	b.WriteString("\n")
	for line := range strings.Lines(text) {
		b.WriteString(strings.TrimRight("> "+line, " \r\n") + "\n")
	}
}

func recordsText(b httpapi.RecordsBody) string {
	var out strings.Builder
	i := b.Interpreted
	read := facts{}
	read.add("text", i.Text)
	read.add("state", i.State)
	read.add(cmp.Or(string(i.Role), "user"), i.UserName)
	read.add("projects", strings.Join(i.Projects, ", "))
	read.add("labels", strings.Join(i.Labels, ", "))
	read.add("created from", i.CreatedAfter)
	read.add("created before", i.CreatedBefore)
	read.add("updated from", i.UpdatedAfter)
	read.add("updated before", i.UpdatedBefore)
	read.add("completed from", i.CompletedAfter)
	read.add("completed before", i.CompletedBefore)
	read.add("sorted by", string(i.Sort))
	if len(read) > 0 {
		fmt.Fprintf(&out, "The query was understood as: %s.\n\n", search.OneLine(strings.Join(read, "; ")))
	}
	if len(b.Sources) == 0 {
		out.WriteString("Nothing was found.\n")
	}
	for n, r := range b.Sources {
		about := facts{}
		about.add("number", r.Number)
		about.add("state", r.State)
		about.add("author", r.Author)
		about.add("assigned to", strings.Join(r.Assignees, ", "))
		about.add("labels", strings.Join(r.Labels, ", "))
		about.add("project", r.Project)
		about.add("created", r.CreatedAt)
		about.add("updated", r.UpdatedAt)
		about.add("closed", r.ClosedAt)
		about.add("merged", r.MergedAt)
		entry(&out, n, r.Source, about)
	}
	return out.String()
}

// facts are names with values.
type facts []string

// add skips empty values.
func (f *facts) add(name, value string) {
	if value != "" {
		*f = append(*f, name+" "+value)
	}
}

func contentsText(b httpapi.ContentsBody) string {
	var out strings.Builder
	for n, r := range b.Results {
		if n > 0 {
			out.WriteString("\n")
		}
		fmt.Fprintf(&out, "%d. **%s**\n   %s\n", n+1, cmp.Or(search.OneLine(r.Title), "Untitled"), uri.Link(r.URL))
		if r.Error != nil {
			fmt.Fprintf(&out, "   It could not be read: %s (%s)\n", r.Error.Detail, r.Error.Code)
			continue
		}
		fmt.Fprintf(&out, "   %s\n", search.OneLine(strings.ReplaceAll(r.SourceType, "_", " ")+" from "+r.Provider))
		quote(&out, r.Content)
		if r.Truncated {
			out.WriteString("\nThe content was cut at 250,000 bytes.\n")
		}
	}
	return out.String()
}

func answerText(b httpapi.AnswerBody) string {
	var out strings.Builder
	switch {
	case b.Answer != nil:
		out.WriteString(strings.TrimSpace(*b.Answer) + "\n")
		if len(b.References) > 0 {
			out.WriteString("\n## References\n\n")
		}
		for n, r := range b.References {
			fmt.Fprintf(&out, "%d. **%s**\n   %s\n", n+1, cmp.Or(search.OneLine(r.Title), "Untitled"), uri.Link(r.HTMLURL))
		}
	case b.Error != nil:
		fmt.Fprintf(&out, "The question could not be answered: %s (%s)\n", b.Error.Detail, b.Error.Code)
	default:
		out.WriteString("The question is still being answered; its state is processing.\n")
	}
	fmt.Fprintf(&out, "\nThe question is kept under the id %s.\n", b.QuestionID)
	return out.String()
}
