package slack_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"docent/shared/connect/slack"
	"docent/shared/growthtest"
)

// TestTextsOfMessages: monitoring and build systems post what they say as blocks or attachments, often next to a short text for
// notifications.
func TestTextsOfMessages(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat(`[{"type":"context","elements":`, 50) + `[{"type":"mrkdwn","text":"deep"}]` + strings.Repeat("}]", 50)
	for name, tt := range map[string]struct{ text, blocks, attachments, bot, want string }{
		"blocks": {"", `[{"type":"header","text":{"type":"plain_text","text":"Alert"}},{"type":"section","text":{"type":"mrkdwn","text":"Disk of <https://acme.test/a|a> &lt; 5%"},
			"fields":[{"type":"mrkdwn","text":"*Host*"},{"type":"mrkdwn","text":"db1"}]},{"type":"divider"},{"type":"context","elements":[{"type":"image","image_url":"https://acme.test/i.png"},{"type":"mrkdwn","text":"by <@U1>"}]},
			{"type":"actions","elements":[{"type":"button","text":{"type":"plain_text","text":"Mute"}}]},{"type":"markdown","text":"**done**"}]`, "", "", "Alert\nDisk of [a](https://acme.test/a) < 5%\n*Host*\ndb1\nby @name of U1\n**done**"},
		"rich text": {"", `[{"type":"rich_text","elements":[{"type":"rich_text_section","elements":[{"type":"text","text":"Ask "},{"type":"user","user_id":"U1"},{"type":"text","text":" about "},
			{"type":"link","url":"https://acme.test/b"},{"type":"emoji","name":"tada"}]},{"type":"rich_text_list","elements":[{"type":"rich_text_section","elements":[{"type":"text","text":"one"}]},
			{"type":"rich_text_section","elements":[{"type":"text","text":"two"}]}]}]}]`, "", "", "Ask @name of U1 about https://acme.test/b:tada:\n- one\n- two"},
		"rich text of all kinds": {"", `[{"type":"rich_text","elements":[
			{"type":"rich_text_section","elements":[{"type":"text","text":"Set "},{"type":"text","text":"a<b>","style":{"code":true}},{"type":"text","text":" & see "},{"type":"link","url":"https://acme.test/a","text":"the guide"},
				{"type":"text","text":" in "},{"type":"channel","channel_id":"C1"},{"type":"text","text":" with "},{"type":"usergroup","usergroup_id":"S1"},{"type":"broadcast","range":"here"},{"type":"text","text":"\n"}]},
			{"type":"rich_text_list","style":"ordered","indent":0,"elements":[{"type":"rich_text_section","elements":[{"type":"text","text":"one"}]}]},
			{"type":"rich_text_list","style":"bullet","indent":1,"elements":[{"type":"rich_text_section","elements":[{"type":"text","text":"below"}]}]},
			{"type":"rich_text_preformatted","elements":[{"type":"text","text":"make <all>\n"},{"type":"link","url":"https://acme.test"}],"border":0},
			{"type":"rich_text_quote","elements":[{"type":"text","text":"She said\nyes"}]}]}]`, "", "",
			"Set `a<b>` & see [the guide](https://acme.test/a) in #C1 with @S1@here\n1. one\n  - below\n```\nmake <all>\nhttps://acme.test\n```\n> She said\n> yes"},
		"a table": {"", `[{"type":"table","column_settings":[{"align":"right"}],"rows":[[{"type":"raw_text","text":"Host"},{"type":"raw_text","text":"a | b"}],
			[{"type":"raw_text","text":"db1"},{"type":"rich_text","elements":[{"type":"rich_text_section","elements":[{"type":"link","url":"https://acme.test/a","text":"its page"},{"type":"text","text":"\nof two lines"}]}]}]]},
			{"type":"data_table","caption":"Costs","rows":[[{"type":"raw_text","text":"Item"}],[{"type":"raw_number","value":12.5}]]},{"type":"table","rows":7},{"type":"section","text":{"text":"after"}}]`, "", "",
			"| Host | a \\| b |\n| --- | --- |\n| db1 | [its page](https://acme.test/a) of two lines |\n\n\nCosts\n\n| Item |\n| --- |\n| 12.5 |\n\nafter"},
		"a table of a person": {"The hosts:", "", `[{"fallback":"[no preview available]","blocks":[{"type":"table","rows":[[{"type":"raw_text","text":"Host"}],[{"type":"raw_text","text":"db1"}]]}]},{"text":"A note of an app"}]`, "",
			"The hosts:\n\n| Host |\n| --- |\n| db1 |"},
		"attachments": {" ", "", `[{"fallback":"not shown","pretext":"New build","title":"#7","text":"It failed.","fields":[{"title":"Branch","value":"main"},{"value":"no title"}]},{"fallback":"Only this"},{"blocks":[{"type":"section","text":{"text":"In a block"}}]}]`,
			"", "New build\n#7\nIt failed.\nBranch: main\nno title\nOnly this\nIn a block"},
		"a text besides":                {"Text", `[{"type":"section","text":{"text":"Text"}}]`, `[{"text":"A preview of a link."}]`, "", "Text"},
		"mentions of groups, and dates": {"<!here> and <!subteam^S1|@design>, <!subteam^S2>: <!date^1700000000^{date_num}|2023-11-14> in <#C1|ops>", "", "", "", "@here and @design, @S2: 2023-11-14 in #ops"},
		"blocks of code": {"Run ```make &lt;all&gt;\ncurl <http://acme.test|acme.test> &lt;url&gt;``` then\n```\ndone\n```\nand see <https://acme.test/a|a> ``` open", "", "", "",
			"Run \n```\nmake <all>\ncurl acme.test <url>\n```\n then\n```\ndone\n```\nand see [a](https://acme.test/a) ``` open"},
		"another form":         {"", `{"type":"section"}`, `[{"fallback":"Something"}]`, "", "Something"},
		"nothing":              {"", `[{"type":"divider"}]`, `7`, "", ""},
		"blocks in each other": {"", deep, `[{"fallback":"Something"}]`, "", "Something"},
		"blocks for which Slack has a text of its own": {"This content can't be displayed.", `[{"type":"section","text":{"text":"Deployed to <@U1>"}}]`, "", "", "Deployed to @name of U1"},
		"an attachment of which Slack shows nothing":   {"[no preview available]", "", `[{"fallback":"[no preview available]"}]`, "B1", ""},
		"a text for notifications":                     {"Leave: 1 new", `[{"type":"section","text":{"text":"Ask <@U1>"}}]`, `[{"text":"until Friday"}]`, "B1", "Ask @name of U1\nuntil Friday"},
		"blocks of an app without words":               {"A chart", `[{"type":"image","image_url":"https://acme.test/i.png"}]`, "", "B1", "A chart"},
		"the rich text that Slack makes of a text": {"See <https://acme.test/a|the guide>", `[{"type":"rich_text","elements":[{"type":"rich_text_section","elements":[{"type":"text","text":"See "},
			{"type":"link","url":"https://acme.test/a","text":"the guide"}]}]}]`, "", "B1", "See [the guide](https://acme.test/a)"},
		"an app's attachment below its text, and a preview": {"Build failed", "", `[{"text":"In step 7"},{"from_url":"https://acme.test","text":"A preview of a link."}]`, "B1", "Build failed\nIn step 7"},
	} {
		s, c, a := workspace(t)
		m := message(9000, tt.text)
		m.BotID = tt.bot
		if tt.blocks != "" {
			m.Blocks = json.RawMessage(tt.blocks)
		}
		if tt.attachments != "" {
			m.Attachments = json.RawMessage(tt.attachments)
		}
		s.Channels[ops].Messages = append(s.Channels[ops].Messages, m)
		var bodies []string
		for page, err := range c.Read(t.Context(), a, ops, nil) {
			if err != nil {
				t.Fatal(err)
			}
			for _, i := range page.Items {
				if strings.HasSuffix(i.URI, "/p1780009000000100") {
					bodies = append(bodies, i.Body)
				}
			}
		}
		if want := slices.DeleteFunc([]string{tt.want}, func(s string) bool { return s == "" }); !slices.Equal(bodies, want) {
			t.Errorf("%s: got %q, want %q", name, bodies, want)
		}
	}
}

func TestTitleOfAMessageThatBeginsWithCode(t *testing.T) {
	t.Parallel()
	i, ok := slack.Message{TS: "1780000000.000100", Text: "```make\nok```"}.Item("C1", "ops")
	if want := "```\nmake\nok\n```"; !ok || i.Title != "make" || i.Body != want {
		t.Errorf("Item = %q, %q; want make, %q", i.Title, i.Body, want)
	}
}

func TestATableTakesMemoryInProportionToItsCells(t *testing.T) {
	growthtest.Linear(t, 5000, func(n int) {
		cell := `{"type":"raw_text","text":"a"}`
		blocks := `[{"type":"table","rows":[[` + cell + strings.Repeat(","+cell, n) + `]]}]`
		slack.Message{TS: "1780000000.000100", Text: "a", BotID: "B1", Blocks: json.RawMessage(blocks)}.Item("C1", "ops")
	})
}
