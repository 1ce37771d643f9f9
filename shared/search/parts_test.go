package search_test

import (
	"strings"
	"testing"

	"docent/shared/search"
)

// TestEachOfSeveralQuestionsIsAnswered: below its own heading, with numbers of references that go on.
func TestEachOfSeveralQuestionsIsAnswered(t *testing.T) {
	t.Parallel()
	x, lib, _ := newIndex(t)
	publish(t, x, lib,
		doc("wiki", "Creating keys", "A key is created with `docent key create`. Its secret is shown once.\n", 1),
		doc("wiki", "Revoking keys", "A key is revoked with `docent key revoke`. It stops working at once.\n", 1))
	answer := func(texts ...string) search.Answer {
		var parts []search.Part
		for _, text := range texts {
			_, r := ask(t, x, search.Query{Text: text})
			parts = append(parts, search.Part{Text: text, Asked: text, Result: r})
		}
		return search.QuoteParts(parts)
	}
	a := answer("How is a *key* created", "how is a key revoked?")
	for _, want := range []string{
		"*Quoted from 2 documents, not written.*\n\n## How is a \\*key\\* created\n\n**Creating keys** ([1](", "\n\n## how is a key revoked?\n\n**Revoking keys** ([2](",
	} {
		if !a.Found || len(a.References) != 2 || !strings.Contains(a.Markdown, want) {
			t.Errorf("no %q in %v:\n%s", want, a.References, a.Markdown)
		}
	}
	checkSafe(t, a.Markdown)

	a = answer("How is a key created", "what does a unicorn eat?")
	if want := "\n\n## what does a unicorn eat?\n\nNothing in the documents that you can read answers this.\n"; !a.Found || !strings.HasSuffix(a.Markdown, want) {
		t.Errorf("no %q in:\n%s", want, a.Markdown)
	}
	if a = answer("How is a key created", "is the secret of a created key shown once?"); a.Found {
		t.Errorf("one quotation answers both:\n%s", a.Markdown)
	}
	a = answer("How is a key created", "how is a key revoked", "is the secret of a created key shown?")
	if want := "## How is a key created, is the secret of a created key shown?\n"; !a.Found || !strings.Contains(a.Markdown, want) {
		t.Errorf("no %q in:\n%s", want, a.Markdown)
	}
	if a = answer("what does a unicorn eat?", "who tamed the yeti?"); a.Found || a.Markdown != "" {
		t.Errorf("nothing was found: %v\n%s", a.References, a.Markdown)
	}

	x, lib, _ = newIndex(t)
	const copied = "A key is created with `docent key create`. Its secret is shown once, so copy it to a safe place before you leave the page, or create another key.\n"
	publish(t, x, lib, doc("wiki", "Keys, one version created", copied, 1), doc("wiki", "Keys, another version with a secret", copied, 1))
	if a = answer("How is a key created in one version", "is the secret of another version shown once?"); a.Found {
		t.Errorf("one quotation of two documents answers both:\n%s", a.Markdown)
	}
}
