package dashboard_test

import (
	"encoding/json"
	"strings"
	"testing"

	"docent/testkit/browser"
)

// answers lets every answer that is read from now on have the text.
func answers(t *testing.T, b *browser.Tab, markdown string) {
	t.Helper()
	text, err := json.Marshal(markdown)
	if err != nil {
		t.Fatal(err)
	}
	intercept(b, `/\/answers\/[0-9a-f-]{36}$/.test(path) && method === "GET"`, `Response.json({ questionId: "x", question: "Why?", state: "complete", result })`,
		`const result = { answer: `+string(text)+`, references: [{ htmlUrl: "https://x.test/" }] };`)
}

// TestNoTextFreezesAnAnswer: documents may have any text, and answers quote it.
func TestNoTextFreezesAnAnswer(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t)
	for name, text := range map[string]string{
		"a heading with a line separator":    "# A heading\u2028the end",
		"backslashes after an open bracket":  `Take [` + strings.Repeat(`\alpha `, 100) + "the end",
		"a quotation of quotations":          strings.Repeat(">", 20_000) + " the end",
		"a list of lists":                    strings.Repeat("- ", 5000) + "the end",
		"emphasis that never ends":           strings.Repeat("*a _b ", 2000) + "the end",
		"a link of backslashes and brackets": strings.Repeat(`[\]`, 2000) + "the end",
	} {
		answers(t, b, "*Quoted.*\n\n"+text)
		open(b, "ask")
		open(b, "ask/01a20435-7fa4-77c2-a4b7-58247592fc1b")
		b.Wait("the end")
		if t.Failed() {
			t.Fatal(name)
		}
	}
}

// TestAQuotedListKeepsItsNumbers: step 3 of a document is step 3 of the answer.
func TestAQuotedListKeepsItsNumbers(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t)
	answers(t, b, "> 3. Press the button.\n> 4. Wait.")
	open(b, "ask/01a20435-7fa4-77c2-a4b7-58247592fc1b")
	b.Wait("Press the button.")
	if start := browser.Value[int](b, `document.querySelector(".text ol").start`); start != 3 {
		t.Errorf("the list begins with %d", start)
	}
}
