package search_test

import (
	"strings"
	"testing"
)

func TestWhatStandsAroundAShortBlockIsQuotedWithIt(t *testing.T) {
	t.Parallel()
	long := strings.TrimSpace(strings.Repeat("Grass and hay. ", 50))
	code := strings.Repeat("feed --with hay\n", 200)
	cases := []struct {
		name, body string
		want       []string // pieces of the quotation, in order
		without    string
	}{
		{"what follows", "The zebra is fed by running:\n\n```sh\nfeed\n```\n", []string{"The zebra is fed by running:", "```sh\nfeed\n```"}, "…"},
		{"what comes before", "Buy grass.\n\nThe zebra is fed.\n", []string{"Buy grass.\n\nThe zebra is fed."}, "…"},
		{"a line that leads to it once", "First words. How the zebra is fed:\n\n- Bring the zebra grass.\n", []string{"First words. How the zebra is fed:\n\n- Bring the zebra grass."}, "…"},
		{"what follows rather than what comes before", long + "\n\nThe zebra is fed.\n\n" + long[:500], []string{"The zebra is fed.\n\nGrass"}, "hay.\n\nThe zebra"},
		{"nothing that would make it too long", "The zebra is fed.\n\n" + long + " " + long[:500], []string{"The zebra is fed."}, "Grass"},
		{"the beginning of long code that is announced", "The zebra is fed by running all of this on the zebra:\n\n```\n" + code + "```\n", []string{"running all of this on the zebra:", "```\nfeed --with hay\n", "```\n\n…"}, ""},
		{"no term without what it means", "The zebra is fed.\n\nferry\n\n`hide()`\n\n" + long + " " + long[:500], []string{"The zebra is fed."}, "ferry"},
		{"no title without its text", "The zebra is fed.\n\n***NOTE* On lions**\n", []string{"The zebra is fed."}, "NOTE"},
		{"a short line that is announced", "The zebra is fed.\n\nThis is what it eats:\n\n`grass`\n\n" + long + " " + long[:500], []string{"The zebra is fed.", "eats:\n\n`grass`"}, "…"},
		{"a mark for what is announced and not quoted", "The zebra is fed. It eats all of this:\n\n" + long + " " + long[:500], []string{"eats all of this:\n\n…"}, "Grass"},
		{"nothing of another section", "The zebra is fed.\n\n## Lions\n\nLions sleep.\n", []string{"The zebra is fed."}, "Lions"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			a := answerTo(t, "How do I feed the zebra?", "t", c.body)
			pieces := quotedPieces(a.Markdown)
			if len(pieces) != 1 || len([]rune(pieces[0])) > 1300 || c.without != "" && strings.Contains(pieces[0], c.without) {
				t.Fatalf("%d pieces, or %q in\n%s", len(pieces), c.without, a.Markdown)
			}
			rest := pieces[0]
			for _, w := range c.want {
				_, after, ok := strings.Cut(rest, w)
				if !ok {
					t.Fatalf("no %q in\n%s", w, pieces[0])
				}
				rest = after
			}
			checkSafe(t, a.Markdown)
		})
	}
}

func TestWhoAsksHowIsShownSteps(t *testing.T) {
	t.Parallel()
	about := "## About\n\nTo feed the striped zebra is an art. Who feeds a zebra knows zebras.\n\n"
	for _, c := range []struct{ name, question, steps, want string }{
		{"code", "How do I feed a striped zebra?", "A striped zebra:\n\n```\nfeed zebra\n```\n", "feed zebra"},
		{"ordered items", "How to feed a striped zebra?", "A striped zebra:\n\n1. Bring feed.\n2. Stand back.\n", "Stand back"},
		{"not when something else is asked", "Is to feed a striped zebra dear?", "A striped zebra:\n\n1. Bring feed.\n2. Stand back.\n", "an art"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			a := answerTo(t, c.question, "t", about+"## Doing it\n\n"+c.steps)
			if pieces := quotedPieces(a.Markdown); len(pieces) != 1 || !strings.Contains(pieces[0], c.want) {
				t.Errorf("no %q in\n%s", c.want, a.Markdown)
			}
		})
	}
}

func TestAParagraphIsQuotedWithWhatNamesIt(t *testing.T) {
	t.Parallel()
	grass := strings.TrimSpace(strings.Repeat("Grass and hay. ", 79))
	for _, c := range []struct{ name, question, body, want, without string }{
		{"the definition of a term", "What is the default of max_zebras?",
			"`max_zebras` (`integer`)\n\nHow many may graze at a time. The default is 100.\n\n`reserved_zebras` (`integer`)\n\nThe default is three. It must be less than `max_zebras`.\n",
			"`max_zebras` (`integer`)\n\nHow many may graze at a time. **The default is 100.**", ""},
		{"the term rather than what follows", "Where does the zebra graze?", "`zebra`\n\nIt does graze in the north.\n\n" + grass, "`zebra`\n\n**It does graze in the north.**", "hay"},
		{"a question in bold", "How old is the striped zebra?", "**How old is the striped zebra?**\n\nSeven years, or eight.\n\n**How old is the lion?**\n\nNot the age of the striped zebra, which is old.\n",
			"**How old is the striped zebra?**\n\n**Seven years, or eight.**", ""},
		{"lines that are announced", "Does the budget cover hay?", "It is for what zebras need. The budget does not cover the following:\n\nLions\nHay\n\nWhere the budget is spent is not restricted.\n",
			"The budget does not cover the following:\n\n**Lions\nHay**", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := unquoted(answerTo(t, c.question, "t", c.body).Markdown)
			if !strings.Contains(got, c.want) || c.without != "" && strings.Contains(got, c.without) {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
			checkSafe(t, got)
		})
	}
}

func TestTheSentenceBeforeAListMayBeTheAnswer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, question, body, want string }{
		{"a list", "How many zebras may graze?", "The limit of zebras that graze is eight. Beyond that:\n\n- Ask the keeper of the zebras that graze.\n- Wait.\n",
			"**The limit of zebras that graze is eight.** Beyond that:\n\n- Ask the keeper of the zebras that graze.\n- Wait."},
		{"an item", "Who lets more zebras graze?", "The limit is eight. To let more zebras graze:\n\n- Ask the keeper of the zebras, Ada.\n- Wait.\n",
			"The limit is eight. To let more zebras graze:\n\n- **Ask the keeper of the zebras, Ada.**\n- Wait."},
		{"steps", "How do I let more zebras graze?", "Eight zebras graze. To let more zebras graze:\n\n1. Ask the keeper to let more zebras graze.\n2. Wait.\n",
			"Eight zebras graze. To let more zebras graze:\n\n1. **Ask the keeper to let more zebras graze.**\n2. Wait."},
		{"code", "How many zebras may graze?", "At most eight zebras graze. To count the zebras that graze:\n\n```\ncount zebras --graze\n```\n",
			"**At most eight zebras graze.** To count the zebras that graze:\n\n```\ncount zebras --graze\n```"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := unquoted(answerTo(t, c.question, "t", c.body).Markdown)
			if got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
			checkSafe(t, got)
		})
	}
}

// A passage may begin right after the term of the definition that it begins with.
func TestTheTermBeforeAPassageIsQuotedWithIt(t *testing.T) {
	t.Parallel()
	const want = "`max_zebras` (`integer`)\n\nHow many may graze. **The default is 100.**"
	before := strings.Repeat("Nothing else of any interest stands in here, at all.\n\n", 19)
	after := strings.Repeat(" Nothing else of any interest stands in here, at all.", 25)
	for n := range 12 { // two of these are cut right after the term
		body := before + strings.Repeat("Words. ", n) + "\n\n`max_zebras` (`integer`)\n\nHow many may graze. The default is 100." + after
		got := unquoted(answerTo(t, "What is the default of max zebras to graze, 100?", "t", body).Markdown)
		if !strings.Contains(got, want) {
			t.Errorf("%d: got\n%s\nwant\n%s", n, got, want)
		}
		checkSafe(t, got)
	}
}

// What a title names is the subject of all sentences below it.
func TestTheSubjectOfABlockDoesNotChooseItsSentence(t *testing.T) {
	t.Parallel()
	const text = "How long the striped zebra may graze in the north. The default is an hour. Where striped zebras graze in the north, the others rest.\n"
	const want = "How long the striped zebra may graze in the north. **The default is an hour.**"
	got := unquoted(answerTo(t, "What is the default of striped_zebra_north?", "t", "`striped_zebra_north`\n\n"+text).Markdown)
	if !strings.Contains(got, want) {
		t.Errorf("got\n%s", got)
	}
}
