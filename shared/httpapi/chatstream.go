package httpapi

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"docent/shared/answer"
	"docent/shared/memory"
	"docent/shared/pending"
	"docent/shared/search"
	"docent/shared/team"
	"docent/shared/uri"
)

// referenceList returns the list of references at the end of a text of so many characters, and adds
// where they are to citations.
func referenceList(a answer.Answer, before int, citations *[]completionCitation) string {
	var b strings.Builder
	add := func(text string) {
		b.WriteString(text)
		before += utf8.RuneCountInString(text)
	}
	add("\n\nReferences:\n")
	for i, r := range a.References {
		link := uri.Link(r.HTMLURL)
		title := strings.Join(strings.Fields(r.Title), " ")
		add(fmt.Sprintf("\n%d. ", i+1))
		start := before
		if target := search.LinkTarget(r.HTMLURL); target != "" {
			add(fmt.Sprintf("[%s](%s)", plainMarkdown(cmp.Or(title, link)), target))
		} else {
			add(strings.TrimSpace(plainMarkdown(title) + " `" + link + "`"))
		}
		*citations = append(*citations, completionCitation{"url_citation", urlCitation{start, before, link, title}})
	}
	return b.String()
}

// plainMarkdown returns text with the signs of Markdown escaped.
func plainMarkdown(text string) string {
	var b strings.Builder
	for _, r := range text {
		if strings.ContainsRune("\\`*_[]<>&|~$!", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// chunk is one event of a completion.
type chunk struct {
	ID      string        `json:"id"`
	Object  string        `json:"object"`
	Created int64         `json:"created"`
	Model   string        `json:"model"`
	Choices []chunkChoice `json:"choices"`
	// Usage is absent from all chunks if the client does not ask for it. If it does, the last chunk has it,
	// and the others have null.
	Usage **completionUsage `json:"usage,omitempty"`
}

type chunkChoice struct {
	Index        int        `json:"index"`
	Delta        chunkDelta `json:"delta"`
	FinishReason *string    `json:"finish_reason"`
}

type chunkDelta struct {
	Role        string               `json:"role,omitempty"`
	Content     string               `json:"content,omitempty"`
	Annotations []completionCitation `json:"annotations,omitempty"`
}

// unverified comes before the whole text where the text sent before it is not part of the answer:
// a completion cannot take back what it has said.
const unverified = "\n\n---\n\n*The text above is withdrawn, because too little of it was supported by the documents. The answer is:*\n\n"

// stream replies with a completion in events, for which there is room. work is nil for a repeated request.
func (h *chats) stream(ctx context.Context, p team.Principal, q answer.Question, work *pending.Work, in *chatInput, limit chatLimit) {
	events := openEvents(ctx)
	next := chunk{ID: q.ID, Object: "chat.completion.chunk", Created: h.created(), Model: chatModel}
	withUsage := in.Body.StreamOptions.IncludeUsage
	if withUsage {
		next.Usage = new(*completionUsage)
	}
	send := func(delta chunkDelta, finish *string) {
		next.Choices = []chunkChoice{{Delta: delta, FinishReason: finish}}
		events.send("", "", next)
	}
	said := ""
	say := func(text string, whole bool) (finish string) {
		text, finish = limit.of(text, whole)
		if rest, ok := strings.CutPrefix(text, said); ok && rest != "" {
			send(chunkDelta{Content: rest}, nil)
			said = text
		}
		return finish
	}
	send(chunkDelta{Role: "assistant"}, nil)
	if work != nil {
		h.run(ctx, *work, answer.Listener{
			Found:   func([]answer.Reference) { memory.Yield(ctx) },
			Written: func(c answer.Composed) { say(c.Markdown, false) },
		})
	}
	a, err := h.await(ctx, p, q.ID, events.isBroken)
	var failed *problem
	if err != nil {
		failed = toProblem(ctx, err)
	} else {
		failed = h.unfinished(ctx, a)
	}
	if failed != nil {
		events.send("", "", map[string]any{"error": chatErrorOf(failed)})
		return
	}
	content := strings.TrimRight(a.Markdown, "\n")
	if !strings.HasPrefix(content, said) {
		content, limit = said+unverified+content, chatLimit{} // who was told what is withdrawn must learn that
	}
	var citations []completionCitation
	if len(a.References) > 0 {
		content += referenceList(a, utf8.RuneCountInString(content), &citations)
	}
	finish := say(content, true)
	if citations = within(citations, said); len(citations) > 0 {
		send(chunkDelta{Annotations: citations}, nil)
	}
	send(chunkDelta{}, &finish)
	if withUsage {
		used := usageOf(in.promptTokens(), said)
		next.Choices, *next.Usage = []chunkChoice{}, &used
		events.send("", "", next)
	}
	events.write([]byte("data: [DONE]\n\n"))
}
