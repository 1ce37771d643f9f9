package slack_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"docent/shared/connect/slack"
	"docent/shared/connect/slack/slacktest"
	"docent/shared/source"
)

func open(t *testing.T, files map[string]string) (*slack.Archive, error) {
	t.Helper()
	archive := slacktest.Archive(t, files)
	return slack.Open(bytes.NewReader(archive), int64(len(archive)))
}

func collect(a *slack.Archive) (items []source.Item, errs []error) {
	for day, err := range a.Items() {
		items = append(items, day...)
		if err != nil {
			errs = append(errs, err)
		}
	}
	return items, errs
}

func TestMessagesOfAnExport(t *testing.T) {
	t.Parallel()
	a, err := open(t, map[string]string{
		"channels.json":           `[{"id":"C1","name":"ops"},{"id":"C2","name":"empty"}]`,
		"groups.json":             `[{"id":"G1","name":"board"}]`,
		"users.json":              `[{"id":"U1","name":"ada","profile":{"real_name":"Ada L."}},{"id":"U2","name":"grace"}]`,
		"ops/2026-05-02.json":     `[{"type":"message","user":"U2","text":"Ask <@U1> about <https://x.test|this>","ts":"1777700000.000100","edited":{"user":"U2","ts":"1777700100.000000"}}]`,
		"ops/2026-05-01.json":     `[{"type":"message","subtype":"channel_join","user":"U1","text":"joined","ts":"1777600000.000100"},{"type":"message","user":"U9","text":"Second","ts":"1777600000.000200"},{"type":"message","user":"U1","text":"  ","ts":"1777600000.000300"}]`,
		"board/2026-05-01.json":   `[{"type":"message","user":"U1","text":"secret","ts":"1777600000.000400"}]`,
		"../ops/2026-05-01.json":  `[{"type":"message","user":"U1","text":"elsewhere","ts":"1777600000.000500"}]`,
		"ops/attachments/x.json":  `{}`,
		"integration_logs.json":   `[]`,
		"__MACOSX/ops/2026-05-01": ``,
	})
	if err != nil {
		t.Fatal(err)
	}
	items, errs := collect(a)
	if len(errs) > 0 {
		t.Errorf("errors: %v", errs)
	}
	var got []string
	for _, i := range items {
		got = append(got, fmt.Sprint(i.URI, " ", i.Author, " ", i.Project, ": ", i.Body))
	}
	want := []string{"https://slack.com/archives/C1/p1777600000000200 U9 ops: Second",
		"https://slack.com/archives/C1/p1777700000000100 grace ops: Ask @Ada L. about [this](https://x.test)"}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestTheFolderOfAChannelIsReadOnce(t *testing.T) {
	t.Parallel()
	a, err := open(t, map[string]string{
		"channels.json":       `[{"id":"C1","name":"ops"}` + strings.Repeat(`,{"id":"C1","name":"ops"}`, 1000) + `]`,
		"ops/2026-05-01.json": `[{"type":"message","user":"U1","text":"First","ts":"1777600000.000200"}]`,
	})
	if err != nil {
		t.Fatal(err)
	}
	if items, errs := collect(a); len(items) != 1 || len(errs) > 0 || a.Days() != 1 {
		t.Errorf("%d items of %d days, %v", len(items), a.Days(), errs)
	}
}

func TestBadArchives(t *testing.T) {
	t.Parallel()
	bomb := `[{"type":"message","user":"U1","text":"` + strings.Repeat("x", 8<<20) + `","ts":"1777600000.000100"}]`
	for name, files := range map[string]map[string]string{
		"no export":          {"notes.txt": "x"},
		"broken channels":    {"channels.json": `{"id":`},
		"broken users":       {"channels.json": `[]`, "users.json": `nonsense`},
		"a bomb of channels": {"channels.json": `[` + strings.Repeat(" ", 8<<20) + `]`},
	} {
		if _, err := open(t, files); err == nil {
			t.Errorf("%s was opened", name)
		}
	}
	if _, err := slack.Open(strings.NewReader("PK"), 2); err == nil {
		t.Error("a file that is not a zip was opened")
	}
	a, err := open(t, map[string]string{"channels.json": `[{"id":"C1","name":"ops"}]`, "ops/2026-05-01.json": bomb,
		"ops/2026-05-02.json": `[{"type":"message","user":"U1","text":"After","ts":"1777700000.000100"}]`})
	if err != nil {
		t.Fatal(err)
	}
	if items, errs := collect(a); len(items) > 0 || len(errs) != 1 || !errors.Is(errs[0], slack.ErrBomb) {
		t.Errorf("a bomb: %d items, %v", len(items), errs)
	}
}

func TestLinesAreReadAsTheyWereWritten(t *testing.T) {
	t.Parallel()
	a, err := open(t, map[string]string{"channels.json": `[{"id":"C1","name":"ops"}]`,
		"ops/2026-05-01.json": `[{"type":"message","user":"U1","text":"Grüße <b> & \u2028","ts":"1777600000.000100"}]`})
	if err != nil {
		t.Fatal(err)
	}
	items, _ := collect(a)
	line, err := items[0].Line()
	if err != nil || bytes.ContainsAny(line, "\n\r") || !bytes.Contains(line, []byte(`"createdAt":"2026-05-01T01:46:40.0001Z"`)) || bytes.Contains(line, []byte("closedAt")) {
		t.Errorf("%s %v", line, err)
	}
}
