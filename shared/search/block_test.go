package search_test

import (
	"strings"
	"testing"

	"docent/shared/search"
)

// quotation is what an answer from a document quotes.
type quotation struct{ name, body, want string }

// wantQuotations checks what the answers to question quote, each from the document of one case.
func wantQuotations(t *testing.T, question string, cases []quotation) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := unquoted(answerTo(t, question, "t", c.body).Markdown)
			if got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
			checkSafe(t, got)
		})
	}
}

// Text that belongs to an item of a list is prose at any indent that CommonMark allows it.
func TestIndentedProseOfAListIsProse(t *testing.T) {
	t.Parallel()
	const code = "```go\nf()\n```"
	wantQuotations(t, "Where does the zebra graze?", []quotation{
		{"prose after a fence", "* Item\n\n    Some prose.\n\n    ```go\n    f()\n    ```\n\n    The zebra grazes.\n",
			"* Item\n\n  Some prose.\n\n" + code + "\n\n**The zebra grazes.**"},
		{"wrapped prose after a fence", "* Item\n\n    ```go\n    f()\n    ```\n\n    The zebra\n    grazes.\n", "* Item\n\n" + code + "\n\n**The zebra\ngrazes.**"},
		{"the next item", "* Item\n\n    ```go\n    f()\n    ```\n\n    Some prose.\n\n* The zebra grazes.\n", "* Item\n\n" + code + "\n\nSome prose.\n\n* **The zebra grazes.**"},
		{"a second paragraph", "* Item\n\n    The zebra grazes. Grass is food.\n* More\n", "* Item\n\n  **The zebra grazes.** Grass is food.\n* More"},
		{"a tight list", "- Item\n  goes on\n- The zebra\n  grazes.\n", "- Item\n  goes on\n- **The zebra\n  grazes.**"},
		{"an ordered list", "1. Item\n\n    ```go\n    f()\n    ```\n\n    The zebra grazes.\n", "1. Item\n\n" + code + "\n\n**The zebra grazes.**"},
		{"a wide number", "10) Item\n\n    The zebra grazes.\n\n    ```go\n    f()\n    ```\n\n    More of it.\n", "10) Item\n\n    **The zebra grazes.**\n\n" + code + "\n\nMore of it."},
		{"tabs", "*\tItem\n\n\t```go\n\tf()\n\t```\n\n\tThe zebra grazes.\n", "*   Item\n\n" + code + "\n\n**The zebra grazes.**"},
		{"a nested list", "* Item\n\n    * Inner\n\n        ```go\n        f()\n        ```\n\n        The zebra grazes.\n\n    Back outside.\n",
			"* Item\n    * Inner\n\n" + code + "\n\n**The zebra grazes.**\n\nBack outside."},
		{"a nested item after a fence", "* Item\n\n    ```go\n    f()\n    ```\n\n    * The zebra grazes.\n    * More\n", "* Item\n\n" + code + "\n\n* **The zebra grazes.**\n* More"},
		{"an item that begins with a fence", "- ```go\n  f()\n  ```\n\n  The zebra grazes.\n", code + "\n\n**The zebra grazes.**"},
		{"a later item that begins with a fence", "- Item\n- ```go\n  f()\n  ```\n- The zebra grazes.\n", "- Item\n\n" + code + "\n\n- **The zebra grazes.**"},
		{"code of an item", "* The zebra grazes.\n\n      f()\n\n  Some prose.\n", "* **The zebra grazes.**\n\n```\nf()\n```\n\nSome prose."},
		{"code after a list", "* Item\n\nSome prose.\n\n    f()\n\nThe zebra grazes.\n", "* Item\n\nSome prose.\n\n```\nf()\n```\n\n**The zebra grazes.**"},
		{"code without a list", "The zebra grazes.\n\n    f()\n", "**The zebra grazes.**\n\n```\nf()\n```"},
		{"a table of an item", "* Item\n\n    | a | b |\n    |---|---|\n    | c | d |\n\n    The zebra grazes.\n", "* Item\n\n| a | b |\n|---|---|\n| c | d |\n\n**The zebra grazes.**"},
		{"less indent than the content", "10. Item\n\n  Some prose.\n\n    The zebra grazes.\n", "10. Item\n\n    Some prose.\n\n    **The zebra grazes.**"},
		{"a code span that ends in another paragraph", "* A `b\n\n  c` zebra grazes.\n", "* A &#96;b\n\n  **c&#96; zebra grazes.**"},
		{"a quoted list", "> * Item\n>\n>     ```go\n>     f()\n>     ```\n>\n>     The zebra grazes.\n", "* Item\n\n" + code + "\n\n**The zebra grazes.**"},
		{"lines of tags end a sentence", "Some words <br>\n<br>\nThe zebra grazes\n<br>\nOther words\n", "Some words\n\n**The zebra grazes**\n\nOther words"},
		{"a rule and a letter", "x\n\n---\n\nThe zebra grazes.\n\ny\n", "**The zebra grazes.**"},
	})
}

// unquoted returns what an answer quotes from its only document.
func unquoted(markdown string) string {
	var lines []string
	for line := range strings.SplitSeq(markdown, "\n") {
		if text, ok := strings.CutPrefix(line, ">"); ok {
			lines = append(lines, strings.TrimPrefix(text, " "))
		}
	}
	return strings.Join(lines, "\n")
}

// A passage may begin within an item, near or far from the item's first line.
func TestPassagesThatBeginInAnItemAreProse(t *testing.T) {
	t.Parallel()
	for _, paragraphs := range []int{1, 4, 40} {
		for _, fences := range []string{"", "    ```go\n    f()\n    ```\n\n"} {
			body := "* Item\n\n" + strings.Repeat("    "+strings.Repeat("Some words stand here. ", 50)+"\n\n"+fences, paragraphs) +
				"    The zebra grazes.\n\n* More\n"
			a := answerTo(t, "Where does the zebra graze?", "t", body)
			if !strings.Contains(a.Markdown, "**The zebra grazes.**") || strings.Contains(a.Markdown, "```\n> Some") {
				t.Errorf("%d paragraphs, %q:\n%s", paragraphs, fences, a.Markdown)
			}
		}
	}
}

func TestPassagesWithoutAWordAreNotQuoted(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		body   string
		quoted bool
	}{{"---\n", false}, {"x\n", false}, {"- x\n", false}, {"```\nx\n```\n", false}, {"42\n", true}, {"馬\n", true}, {"é1\n", true}} {
		if got := len(search.QuoteAll(c.body, "zebra")) > 0; got != c.quoted {
			t.Errorf("%q quoted: %v", c.body, got)
		}
	}
}

func TestTitlesOfAnswersAreReadable(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ title, want string }{
		{"Q&amp;A&nbsp;about&nbsp; zebras", "Q&A about zebras"},
		{"Zebras { .hidden }", "Zebras"},
		{`Zebras {#z .wide data-x="a b"}`, "Zebras"},
		{"Zebras ((#z-1))", "Zebras"},
		{"Use {{ .Values.zebra }}", "Use {{ .Values.zebra }}"},
		{"Zebras {a, b}", "Zebras {a, b}"},
		{"Zebras {app=web}", "Zebras {app=web}"},
		{"&lt;b&gt; R&D", "<b> R&D"},
		{"Zebras\r\n2.\u2028Lions", "Zebras 2. Lions"},
		{"Zebras \x1b[2J\x07 \u009b2J", "Zebras [2J 2J"},
		{"Zebras \u202egnp.exe &#x2066;\u05d0\u200f", "Zebras gnp.exe \u05d0\u200f"},
	} {
		if got := search.PlainTitle(c.title); got != c.want {
			t.Errorf("%q: got %q, want %q", c.title, got, c.want)
		}
	}
	a := answerTo(t, "zebra graze", "Zebras&nbsp;{ .hidden }", "## Food &amp; water {#food}\n\nThe zebra grazes.\n")
	if want := `**Zebras: Food \& water** (`; !strings.Contains(a.Markdown, want) || a.References[0].Title != "Zebras" {
		t.Errorf("no %q, or another reference, in %+v\n%s", want, a.References, a.Markdown)
	}
	checkSafe(t, a.Markdown)
}

func TestEscapesOfHeadingsAreNotShown(t *testing.T) {
	t.Parallel()
	a := answerTo(t, "zebra graze", "The zebra_graze module", "## The zebra\\_graze module\n\n### <Badge inline /> \\*\\_args and C:\\dir\n\nThe zebra grazes.\n")
	if want := "**The zebra\\_graze module: \\*\\_args and C:\\\\dir** (["; !strings.Contains(a.Markdown, want) {
		t.Errorf("got %s, want %s", a.Markdown, want)
	}
}

func TestNumbersAboveTheLineStayThere(t *testing.T) {
	t.Parallel()
	a := answerTo(t, "zebra load", "Zoo", "The zebra bears a load of 10<sup>6</sup> N, 20 m<SUP>2</SUP>, for the 2<sup>nd</sup> time since 1990<sup>1</sup>.\n")
	if want := "10⁶ N, 20 m², for the 2nd time since 1990¹."; !strings.Contains(a.Markdown, want) {
		t.Errorf("got %s, want %s", a.Markdown, want)
	}
	checkSafe(t, a.Markdown)
}

func TestTagsOfHeadingsAreNotShown(t *testing.T) {
	t.Parallel()
	for heading, want := range map[string]string{
		`The <a href="z.md" class="x">zebra</a>`:      `The zebra`,
		`The zebra <sup class="badge" data-x="3+" />`: `The zebra`,
		"The `<zebra>` and `</zebra>`":                `The \<zebra\> and \</zebra\>`,
		"`Zebra<T>`":                                  `Zebra\<T\>`,
	} {
		a := answerTo(t, "zebra graze", "Zoo", "## "+heading+"\n\nThe zebra grazes.\n")
		if want := "**Zoo: " + want + "** (["; !strings.Contains(a.Markdown, want) {
			t.Errorf("%s: no %s in %s", heading, want, a.Markdown)
		}
		checkSafe(t, a.Markdown)
	}
}

func TestTagsKeepWordsApart(t *testing.T) {
	t.Parallel()
	wantQuotations(t, "zebra weight", []quotation{
		{"cells of a table in HTML", "<table>\n<tr><th>Zebra</th><th>Weight</th></tr>\n<tr><td>Z-1</td><td>12 kg</td></tr>\n</table>\n", "**Zebra Weight\nZ-1 12 kg**"},
		{"a break in a cell", "| zebra | weight |\n|---|---|\n| Z-1<br>Z-2 | 12 kg<br/>14 kg |\n", "| zebra | weight |\n|---|---|\n| Z-1 Z-2 | 12 kg 14 kg |"},
		{"a break between sentences", "The zebra weighs 12 kg.<br>It eats hay.\n", "**The zebra weighs 12 kg.** It eats hay."},
		{"breaks at both ends of a line", "<p>The zebra weighs 12 kg.<br><br></p>\n<br>It eats hay.\n", "**The zebra weighs 12 kg.**\nIt eats hay."},
		{"a list of terms", "<dl><dt>zebra weight</dt><dd>12 kg</dd></dl>\n", "**zebra weight 12 kg**"},
		{"a tag within a word", "The weight of a zebra is H<sub>2</sub>O.\n", "**The weight of a zebra is H2O.**"},
		{"a space in a mark", "[zebra]<br>(weight) 12 kg\n", "**[zebra] (weight) 12 kg**"},
	})
}

// A list that is too long may be cut so that it begins with nested items.
func TestItemsOfACutListStayBelowTheirs(t *testing.T) {
	t.Parallel()
	filler := strings.Repeat("   - some-item-or-other-of-the-list-of-zoos\n", 30)
	body := "1. Feed\n" + filler + "   - The zebra grazes.\n2. Water\n   - lake\n     - deep\n3. Sleep\n" + filler
	got := unquoted(answerTo(t, "Where does the zebra graze?", "t", body).Markdown)
	if want := "\n- some-item-or-other-of-the-list-of-zoos\n- **The zebra grazes.**\n2. Water\n   - lake\n     - deep\n3. Sleep\n   - some-item"; !strings.Contains(got, want) {
		t.Errorf("no %q in\n%s", want, got)
	}
	checkSafe(t, got)
}

func TestTheBoxOfATaskIsNotBold(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ body, want string }{
		{"- [ ] water the plants\n- [x] feed the zebra\n", "- [ ] water the plants\n- [x] **feed the zebra**"},
		{"1. [X] feed the zebra\n", "1. [X] **feed the zebra**"},
		{"- [xy] feed the zebra\n", "- **[xy] feed the zebra**"},
	} {
		if got := unquoted(answerTo(t, "feed zebra", "t", c.body).Markdown); got != c.want {
			t.Errorf("got\n%s\nwant\n%s", got, c.want)
		}
	}
}

func TestFootnotesAreQuoted(t *testing.T) {
	t.Parallel()
	wantQuotations(t, "Where does the zebra graze?", []quotation{
		{"a note", "Animals[^1] rest.\n\n[^1]: The zebra grazes.\n", "Animals[^1] rest.\n\n**[^1]\\: The zebra grazes.**"},
		{"each is a block", "[^1]: Lions rest.\n[^zoo]: The zebra grazes\n    on grass.\n", "[^1]\\: Lions rest.\n\n**[^zoo]\\: The zebra grazes\non grass.**"},
		{"right after a paragraph", "The zebra grazes.\n[^1]: Lions rest.\n", "**The zebra grazes.**\n\n[^1]\\: Lions rest."},
		{"targets of links are not", "The zebra grazes.\n\n[zebra]: https://zebra.example\n", "**The zebra grazes.**"},
	})
}

// A comment ends with its line, so that what follows begins a block.
func TestACommentIsNoPartOfAParagraph(t *testing.T) {
	t.Parallel()
	wantQuotations(t, "Where does the zebra graze?", []quotation{
		{"targets of links", "<!-- zebra links -->\n[zebra]: https://zebra.example\n[graze]: https://zebra.example/graze\n\nThe zebra grazes.\n", "**The zebra grazes.**"},
		{"a paragraph", "<!-- lint off -->\nThe zebra grazes.\n", "**The zebra grazes.**"},
		{"a comment before text", "<!-- lint off --> The zebra grazes. <!-- lint on -->\n", "**The zebra grazes.**"},
		{"a comment of two lines", "<!-- zebra\ngraze -->\nThe zebra grazes.\n", "**The zebra grazes.**"},
		{"a comment of blocks", "<!--\nThe zebra grazes at night.\n\n- The zebra grazes there.\n\n```\nzebra\n```\n-->\n\nThe zebra grazes.\n", "**The zebra grazes.**"},
		{"a comment in a quotation", "> <!-- zebra\n>\n> graze -->\n> The zebra grazes.\n", "**The zebra grazes.**"},
		{"a comment without an end", "<!--\nNote it.\n\nThe zebra grazes.\n", "\\<!--\nNote it.\n\n**The zebra grazes.**"},
		{"a comment in code", "The zebra grazes.\n\n    <!--\n\n    x -->\n", "**The zebra grazes.**\n\n```\n<!--\n\nx -->\n```"},
	})
}

// TestACommentOverPassagesIsNotQuoted: headings within a comment begin passages, and a long comment has several.
func TestACommentOverPassagesIsNotQuoted(t *testing.T) {
	t.Parallel()
	filler := strings.Repeat("Some words stand here.\n\n", 30)
	for _, c := range []struct{ name, body string }{
		{"a section within", "<!--\n\n## Draft\n\nThe zebra grazes at night.\n\n## Draft 2\n\nSome words.\n-->\n"},
		{"the end in another section", "Some words.\n\n<!-- The zebra grazes at night.\n\n## Draft\n\nMore words.\n-->\n"},
		{"the beginning in another section", "<!--\nSome words.\n\n## Draft\n\nThe zebra grazes at night.\n\n-->\n\nMore words.\n"},
		{"the beginning far before", "<!--\n" + strings.Repeat(filler, 12) + "The zebra grazes at night.\n\n-->\n\nMore words.\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			const question = "Where does the zebra graze?"
			got := answerTo(t, question, "t", c.body, "other", "## Food\n\nThe zebra grazes.\n").Markdown
			if strings.Contains(got, "night") || !strings.Contains(got, "**The zebra grazes.**") {
				t.Errorf("got\n%s", got)
			}
		})
	}
	shown := "<!--\n\nThe zebra grazes at night.\n\n## More\n\nSome words.\n"
	if got := answerTo(t, "Where does the zebra graze?", "t", shown).Markdown; !strings.Contains(got, "night") {
		t.Errorf("a comment without an end hides\n%s", got)
	}
	arrows := strings.Repeat(filler, 12) + "The zebra grazes at night.\n\n```\na\n-->\nb\n```\n"
	if got := answerTo(t, "Where does the zebra graze?", "t", arrows).Markdown; !strings.Contains(got, "night") {
		t.Errorf("an arrow in code hides\n%s", got)
	}
}

func TestContentOfAdmonitionsIsProse(t *testing.T) {
	t.Parallel()
	const code = "```sh\nf\n```"
	wantQuotations(t, "Where does the zebra graze?", []quotation{
		{"an admonition", "!!! note\n    The zebra grazes.\n", "**The zebra grazes.**"},
		{"with a title, a list and code", "!!! warning \"Zoo\"\n\n    The zebra grazes.\n\n    - grass\n    - hay\n\n    ```sh\n    f\n    ```\n",
			"**The zebra grazes.**\n\n- grass\n- hay\n\n" + code},
		{"that is collapsed", "??? tip\n    The zebra grazes.\n\nLions rest.\n", "**The zebra grazes.**\n\nLions rest."},
		{"one within another", "!!! note\n    Animals:\n\n    !!! tip\n        The zebra grazes.\n\n    Lions rest.\n", "Animals:\n\n**The zebra grazes.**\n\nLions rest."},
		{"tabs", "=== \"Zoo\"\n\n    The zebra grazes.\n\n=== \"Farm\"\n\n    Cows graze.\n", "=== \"Zoo\"\n\n**The zebra grazes.**\n\n=== \"Farm\"\n\nCows graze."},
		{"code after it", "!!! note\n    The zebra grazes.\n\nLions rest.\n\n    f\n", "**The zebra grazes.**\n\nLions rest.\n\n```\nf\n```"},
		{"code within it", "!!! note\n    The zebra grazes.\n\n        f\n", "**The zebra grazes.**\n\n```\nf\n```"},
	})
	far := "!!! note\n    Animals.\n\n" + strings.Repeat("    "+strings.Repeat("Some words stand here. ", 50)+"\n\n", 2) + "    The zebra grazes.\n"
	if got := answerTo(t, "Where does the zebra graze?", "t", far).Markdown; !strings.Contains(got, "**The zebra grazes.**") {
		t.Errorf("a passage that begins within an admonition:\n%s", got)
	}
}

// The text before a long list is not quoted with it, except the sentence that announces the list.
func TestALeadInIsAWholeSentence(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("Some-words-of-the-text-before stand-here. ", 30)
	list := "\n\n" + strings.Repeat("- some-item-or-other-of-the-list-of-zoos\n", 28) + "- The zebra grazes.\n"
	cases := []struct{ name, intro, want string }{
		{"on one line", "Note what\nfollows. The animals:", "The animals:"},
		{"over lines", "Note it. The animals\nof this zoo\nare these:", "The animals\nof this zoo\nare these:"},
		{"after the end of another on its line", "Note what\nfollows. The animals\nare these:", "The animals\nare these:"},
		{"within code", "Call `zoo. <i> Animals` and these\nothers:", "&#96; and these\nothers:"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := unquoted(answerTo(t, "Where does the zebra graze?", "t", long+c.intro+list).Markdown)
			before, _, _ := strings.Cut(got, "\n\n")
			if !strings.HasSuffix(before, c.want) || strings.Contains(before, "Some-words") {
				t.Errorf("want %q in\n%s", c.want, got)
			}
			checkSafe(t, got)
		})
	}
}

func TestAQuotationThatEndsWithALeadInIsMarkedAsCut(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("Some words stand here. ", 60)
	cases := []struct{ name, body, want string }{
		{"at the end of the passage", "The zebra grazes.\n\nLions rest.\n\nOther animals:\n", "**The zebra grazes.**\n\nLions rest.\n\nOther animals:\n\n…"},
		{"before what does not fit", "The zebra grazes.\n\nOther animals:\n\n" + long + "\n", "**The zebra grazes.**\n\nOther animals:\n\n…"},
		{"before what fits", "The zebra grazes.\n\nOther animals:\n\n- lion\n", "**The zebra grazes.**\n\nOther animals:\n\n- lion"},
		{"as the answer", "Where the zebra grazes:\n", "**Where the zebra grazes:**"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := unquoted(answerTo(t, "Where does the zebra graze?", "t", c.body).Markdown); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
	list := strings.Repeat("- some-item-or-other-of-the-list-of-zoos\n", 40)
	got := unquoted(answerTo(t, "Where does the zebra graze?", "t", "The zebra grazes.\n\nOther animals:\n\n"+list).Markdown)
	if !strings.HasPrefix(got, "**The zebra grazes.**\n\nOther animals:\n\n- some-item") {
		t.Errorf("the beginning of a list without what announces it:\n%s", got)
	}
}

func TestMarksOfContainersAreNotQuoted(t *testing.T) {
	t.Parallel()
	const want = "**The zebra grazes.**"
	wantQuotations(t, "Where does the zebra graze?", []quotation{
		{"tight", ":::note\nThe zebra grazes.\n:::\n", want},
		{"with a title", "::: tip Zoo zebra\n\nThe zebra grazes.\n\n:::\n", want},
		{"with a title in brackets", ":::warning[Zoo]\n\nThe zebra grazes.\n\n:::\n", want},
		{"with attributes", "::: {.callout-note}\nThe zebra grazes.\n:::\n", want},
		{"within each other", "::::info\n:::tip\nThe zebra grazes.\n:::\n::::\n", want},
		{"after a list", ":::note\n- The zebra grazes.\n:::\n", "- " + want},
		{"with a title after the name", ":::{note} Zoo zebra\nThe zebra grazes.\n:::\n", want},
		{"a directive", "```{admonition} Zoo zebra\n:class: tip\n\nThe zebra grazes.\n```\n", want},
		{"directives within each other", "````{note}\n```{tip}\nThe zebra grazes.\n```\n````\n", want},
		{"code of a directive", "```{code-block} sh\n:linenos:\n:caption: Zebra\n\ngraze zebra\n```\n", "```sh\ngraze zebra\n```"},
		{"another directive", "```{math}\nzebra = graze\n```\n", "```\nzebra = graze\n```"},
		{"options of no directive", "```\n:zebra: grazes\n```\n", "```\n:zebra: grazes\n```"},
		{"tags of components", "import Tabs from '@theme/Tabs';\n\n<Tabs groupId=\"os\">\n\n<Tab heading=\"Zebra\">\nThe zebra grazes.\n</Tab>\n</Tabs>\n", want},
		{"a component in a line", "The zebra <Badge text=\"zebra\" />grazes.\n", "**The zebra grazes.**"},
		{"a fragment", "<>\nThe zebra grazes.\n</>\n", want},
		{"tags of templates", "{{< note >}}\nThe zebra grazes.\n{{< /note >}}\n\n{{% zebra %}} {{% /zebra %}}\n{% include zebra.html %}\n{%- endif -%}\n", want},
		{"attributes", "The zebra grazes.\n{: .zebra }\n", want},
		{"a text between tags of templates", "{% if zebra %}The zebra grazes.{% endif %}\n", `**{% if zebra %}The zebra grazes.{% endif %}**`},
		{"a type", "The zebra grazes in List<Zebra>.\n", `**The zebra grazes in List\<Zebra>.**`},
		{"tags in indented code", "The zebra grazes.\n\n    <Zebra>\n    {% graze %}\n", "**The zebra grazes.**\n\n```\n<Zebra>\n{% graze %}\n```"},
		{"tags in code", "```\n<Zebra>\n{% graze %}\n```\n", "```\n<Zebra>\n{% graze %}\n```"},
		{"options between colons", ":::{card} Zoo zebra\n:link: zebra.md\n:footer: Graze\n\nThe zebra grazes.\n:::\n", want},
		{"a file to include", "{!zebra.md!}\n\nThe zebra grazes.\n", want},
		{"the sign of a note", "~> The zebra grazes.\n", want},
		{"the sign of a note in an item", "- Item\n\n  -> The zebra grazes.\n", "- Item\n\n  " + want},
		{"ids of terms", "- `zebra` ((#v-zebra\\_x)) (`string`) - The zebra grazes ((#)) there.\n", "- **`zebra` (`string`) - The zebra grazes ((#)) there.**"},
		{"blocks between slashes", "//// info | \"Zebra\"\n\n/// tip\nThe zebra grazes.\n///\n\n////\n", want},
		{"tabs between slashes", "//// tab | Zoo 3+\n\nThe zebra grazes.\n\n////\n", "Zoo 3+\n\n" + want},
		{"a file to include in a code block", "The zebra grazes.\n\n```py hl_lines=\"1\"\n{!> ../zebra.py!}\n```\n\n```rust\n{{#rustdoc_include ../zebra.rs:1st}}\n```\n", want},
		{"a file to include in code", "```sh\n--8<-- \"zebra.sh\"\ngraze zebra\n```\n", "```sh\n--8<-- \"zebra.sh\"\ngraze zebra\n```"},
		{"files to include in tabs", "The zebra grazes.\n\n//// tab | Zoo 3+\n\n```py\n{!> ../zebra.py!}\n```\n\n////\n", want},
		{"files to include", "{{#include zebra.md}}\n\n--8<-- \"zebra.md\"\n\n{* zebra.py hl[1] *}\n\nThe zebra grazes.\n", want},
		{"a path", "//zebra/grazes\n", `**//zebra/grazes**`},
		{"a comment", "/// Where the zebra grazes.\n", `**/// Where the zebra grazes.**`},
		{"names to document", "::: zebra.Graze\n\nThe zebra grazes.\n", want},
		{"classes and an id", "{.zebra #graze}\nThe zebra grazes.\n", want},
		{"a tag with signs in quotes", "<Listing caption=\"A `Zebra<T>`\">\n\nThe zebra grazes.\n\n</Listing>\n", want},
		{"a tag of a template with signs in quotes", "{{< zebra version=\"<VERSION>\" >}}\nThe zebra grazes.\n", want},
		{"a component around a text", "<ReadMore>The zebra grazes.</ReadMore>\n", want},
		{"a component with attributes around a text", "The <Tooltip tip=\"a\">zebra</Tooltip> grazes.\n", want},
		{"the end of a component", "The zebra grazes.</ReadMore>\n", want},
		{"attributes of a link", "The [zebra](z.md){.internal-link target=_blank} ![grazes](g.png){: width=\"9\" }.\n", want},
		{"braces after a link", "The [zebra](z.md){a, b} grazes.\n", "**The zebra{a, b} grazes.**"},
		{"targets of links in an item", "- The [zebra][z] grazes.\n\n  [z]: z.md\n  [`g`]: g.md\n", "- " + want},
		{"text in a paragraph", "The zebra::: grazes.\n", "**The zebra::: grazes.**"},
		{"three colons before text", ":::Zebras graze there.\n", "**:::Zebras graze there.**"},
	})
}

func TestATableRightBelowTheLineOfAnItemIsATable(t *testing.T) {
	t.Parallel()
	const table = "| zebra | food |\n|---|---|\n| Z-1 | grass |"
	wantQuotations(t, "Z-1 grass", []quotation{
		{"of a list", "* Zebras eat:\n  | zebra | food |\n  |---|---|\n  | Z-1 | grass |\n* Lions rest.\n", "* Zebras eat:\n\n" + table + "\n\n* Lions rest."},
		{"of a nested item", "- Animals\n  1. Zebras eat:\n     | zebra | food |\n     |---|---|\n     | Z-1 | grass |\n", "- Animals\n  1. Zebras eat:\n\n" + table},
		{"an item with bars", "- a | b\n- Z-1 | grass\n", "- a | b\n- **Z-1 | grass**"},
	})
}

func TestABackslashThatBreaksALineIsNotShown(t *testing.T) {
	t.Parallel()
	wantQuotations(t, "Where does the zebra graze?", []quotation{
		{"a paragraph", "The zebra\\\ngrazes.\n", "**The zebra\ngrazes.**"},
		{"an item", "- The zebra\\\n  grazes.\n", "- **The zebra\n  grazes.**"},
		{"at the end", "The zebra grazes\\\n", "The zebra grazes\\\\"},
		{"two of them", "The zebra\\\\\ngrazes.\n", "**The zebra\\\\\ngrazes.**"},
		{"in code", "The zebra `a\\\nb` grazes.\n", "**The zebra `a\\ b` grazes.**"},
	})
}

// What is far into an item, an admonition or indented code is stored apart from its beginning.
func TestWhatBeganFarBeforeIsReadByItsMarks(t *testing.T) {
	t.Parallel()
	filler := strings.Repeat("    "+strings.Repeat("some words of it ", 20)+"\n\n", 22)
	const zebra = "    The zebra grazes.\n"
	for _, c := range []struct{ name, begin, body, want string }{
		{"an admonition with a table", "??? info \"More\"\n\n", zebra + "\n    | a | b |\n    |---|---|\n    | 1 | 2 |\n", "\n\n**The zebra grazes.**\n\n| a | b |\n|---|---|\n| 1 | 2 |"},
		{"an admonition with another after it", "??? info \"More\"\n\n", zebra + "\n??? info \"Other\"\n", "\n\n**The zebra grazes.**"},
		{"an item with a link", "1. Item\n\n", "    See [more](https://docs.example/more).\n\n" + zebra, "\n\nSee more.\n\n**The zebra grazes.**"},
		{"nested items", "1. Item\n\n", zebra + "\n    - First look for the zebra.\n    - Then feed it with grass.\n",
			"\n\n**The zebra grazes.**\n\n- First look for the zebra.\n- Then feed it with grass."},
		{"indented code", "Run:\n\n", "    the zebra grazes\n", "\n\nthe zebra grazes\n```"},
		{"indented data", "Run:\n\n", "    - zebra: it does graze here\n", "\n\n- zebra: it does graze here\n```"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := unquoted(answerTo(t, "Where does the zebra graze?", "t", c.begin+filler+c.body).Markdown)
			if !strings.HasSuffix(got, c.want) || strings.Contains(c.want, "```") != strings.Contains(got, "```") {
				t.Errorf("got\n%s\nwant the end\n%s", got, c.want)
			}
		})
	}
	t.Run("code in an item", func(t *testing.T) {
		t.Parallel()
		code := strings.Repeat("    some code = \"of it\"\n\n", 200)
		body := "1. Item\n\n    ```toml tab=\"TOML\"\n" + code + "    zebra = \"graze\"\n    ```\n\n    ```yaml tab=\"YAML\"\n    zebra: graze\n    ```\n"
		got := unquoted(answerTo(t, "Where does the zebra graze?", "t", body).Markdown)
		if want := "\nzebra = \"graze\"\n```\n\n```yaml\nzebra: graze\n```"; !strings.HasSuffix(got, want) {
			t.Errorf("got\n%s\nwant the end\n%s", got, want)
		}
	})
}
