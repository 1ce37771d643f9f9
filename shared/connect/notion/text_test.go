package notion_test

import (
	"testing"

	"docent/shared/connect/notion/notiontest"
)

func TestNotionsMarkdownBecomesGeneral(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ text, want string }{
		"plain":      {"# Title\n\n- a\n\t- b\n", "# Title\n\n- a\n\t- b"},
		"colors":     {"## Red {color=\"red\"}\nA <span color=\"blue\">word</span>.", "## Red\nA word."},
		"pages":      {"<page url=\"https://app.notion.com/p/1\" icon=\"x\">Child</page>\n<database url=\"https://app.notion.com/p/2\" inline=\"true\">Table</database>", "[Child](https://app.notion.com/p/1)\n[Table](https://app.notion.com/p/2)"},
		"mentions":   {"See <mention-page url=\"https://app.notion.com/p/3\">Plan</mention-page> by <mention-user url=\"user://1\">Ada</mention-user> on <mention-date start=\"2026-06-01\"/>, away <mention-date start=\"2026-06-01\" end=\"2026-06-05\"/>.", "See [Plan](https://app.notion.com/p/3) by Ada on 2026-06-01, away 2026-06-01 to 2026-06-05."},
		"containers": {"<callout icon=\"!\">\n\tMind this.\n</callout>\n<columns>\n\t<column>\n\tLeft\n\t</column>\n</columns>\n<empty-block/>\n<unknown url=\"https://x\" alt=\"bookmark\"/>", "Mind this.\n\nLeft"},
		"a toggle":   {"<details>\n<summary>More</summary>\n\tText\n</details>", "More\nText"},
		"blocks in others": {"Text\n\tBelow it\n<columns>\n\t<column>\n\t\t## Left\n\t\t- a\n\t\t\t- b\n\t\t\t\tin b\n\t\tafter\n\t</column>\n</columns>\n> quote\n\tin it\n- item\n\t<callout>\n\t\tMind\n\t</callout>\n\n\tmore\n\n# End",
			"Text\nBelow it\n\n## Left\n- a\n\t- b\n\t\tin b\nafter\n\n> quote\nin it\n- item\n\t\n\tMind\n\t\n\n\tmore\n\n# End"},
		"code in others":     {"<callout>\n\t```sh\n\tif x\n\t\ty\n\t```\n</callout>\n- a\n\t```\n\tb\nc\n\t```\n\tin a", "```sh\nif x\n\ty\n```\n\n- a\n\t```\n\tb\nc\n\t```\n\tin a"},
		"a table":            {"<table header-row=\"true\">\n<tr>\n<td>Name</td>\n<td>Port</td>\n</tr>\n<tr>\n<td>a|b</td>\n<td>80<br>81</td>\n</tr>\n</table>", "| Name | Port |\n| --- | --- |\n| a\\|b | 80 81 |"},
		"signed addresses":   {"![A diagram](https://s3.test/x.png?X-Amz-Signature=1)\n<pdf src=\"https://s3.test/y?X-Amz-Signature=2\">Manual</pdf>", "A diagram\nManual"},
		"code stays":         {"```html\n<table><tr><td>x</td></tr></table> {color=\"red\"}\n```\n<empty-block/>", "```html\n<table><tr><td>x</td></tr></table> {color=\"red\"}\n```"},
		"code without end":   {"```\n<callout>x", "```\nx"},
		"links and emphasis": {"**Bold** [text](https://acme.test/?a=1) and x < y", "**Bold** [text](https://acme.test/?a=1) and x < y"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			page := notiontest.NewPage(1, "Page")
			page.Markdown = tt.text
			r := read(t, page)
			items, _, _, _, err := r.all(nil, nil)
			if err != nil || len(items) != 1 || items[0].Body != tt.want {
				t.Errorf("got %q, want %q %v", items[0].Body, tt.want, err)
			}
		})
	}
}
