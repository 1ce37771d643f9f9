package moving

import (
	"testing"

	"docent/shared/pending"
	"docent/shared/table"
)

func TestTheCopyStaysLifelessUntilTheEnd(t *testing.T) {
	t.Parallel()
	const team, other = "0f8d3460-0000-7000-8000-000000000001", "0f8d3460-0000-7000-8000-000000000002"
	for _, c := range []struct {
		table, partition, sort string
		want                   stage
	}{
		{table.Collections, team, other, early},
		{table.Collections, "source/" + other, "secrets", access},
		{table.Collections, team + "/source/" + other, "settings", early},
		{table.Documents, team + "/" + other, "record", early},
		{table.Documents, "pending/3", "1#index-document", work},
		{table.Index, "cleanup", "1#x", work},
		{table.Index, "cleanup", "orphans", never},
		{table.Index, "pending/3", "1#rebuild-index", work},
		{table.Documents, "pending-files/3", "1#extract-document", work},
		{table.Index, "pending-meaning/3", "1#rebuild-index", work},
		{table.Answers, other, "answer", early},
		{table.Identities, "teams", team, arrival},
		{table.Identities, team, "team", access},
		{table.Identities, team, "signon", access},
		{table.Identities, team + "/users", other, early},
		{table.Identities, team + "/keys", "1#k", early},
		{table.Identities, "key/k", "key", access},
		{table.Identities, "link/h", "link", access},
		{table.Identities, "oauth-code/h", "code", access},
		{table.Identities, "signon/h", "ticket", access},
		{table.Events, team + "/head", "head", early},
		{table.Events, "daily", "round", never},
		{table.Events, "sweeps", "last", never},
		{table.Events, "secret", "cursor", early},
		{table.Events, "a kind/that is new", "x", early},
	} {
		if got := stageOf(table.Key{Table: c.table, Partition: c.partition, Sort: c.sort}); got != c.want {
			t.Errorf("%s %s %s: stage %d, want %d", c.table, c.partition, c.sort, got, c.want)
		}
	}
}

func TestNoPendingWorkIsCopiedBeforeTheEnd(t *testing.T) {
	t.Parallel()
	for _, name := range table.Names {
		for _, partition := range pending.Partitions(name) {
			if got := stageOf(table.Key{Table: name, Partition: partition, Sort: "1"}); got != work {
				t.Errorf("%s %s: stage %d", name, partition, got)
			}
		}
	}
}

func TestSetInJSONKeepsTheRest(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		body, want string
		path       []string
	}{
		{`{"b":1,"sealed":"AA==","new":{"x":[1.50]}}`, `{"b":1,"new":{"x":[1.50]},"sealed":"Bw=="}`, []string{"sealed"}},
		{`{"oidc":{"issuer":"i","secret":"AA==","z":9007199254740993}}`, `{"oidc":{"issuer":"i","secret":"Bw==","z":9007199254740993}}`, []string{"oidc", "secret"}},
	} {
		got, err := SetInJSON([]byte(c.body), []byte{7}, c.path...)
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %s, %v", c.body, got, err)
		}
	}
	for _, body := range []string{``, `null`, `[]`, `{"oidc":1}`, `{}`} {
		if got, err := SetInJSON([]byte(body), 1, "oidc", "secret"); err == nil {
			t.Errorf("%q became %s", body, got)
		}
	}
}

func TestContentsDoNotDependOnOrderButOnEverythingElse(t *testing.T) {
	t.Parallel()
	items := []table.Item{
		{Key: table.Key{Table: "t", Partition: "p", Sort: "1"}, Version: 1, Body: []byte("a")},
		{Key: table.Key{Table: "t", Partition: "p", Sort: "2"}, Numbers: map[string]int64{"n": 1}, Strings: map[string]string{"s": "x"}},
	}
	sum := func(items ...table.Item) (c contents) {
		for _, item := range items {
			c.add(item)
		}
		return c
	}
	if sum(items[0], items[1]) != sum(items[1], items[0]) {
		t.Error("the order changes the digest")
	}
	empty := items[0]
	empty.Numbers, empty.Strings = map[string]int64{}, map[string]string{}
	if sum(empty) != sum(items[0]) {
		t.Error("an empty map changes the digest")
	}
	for name, change := range map[string]func(*table.Item){
		"version":   func(i *table.Item) { i.Version++ },
		"body":      func(i *table.Item) { i.Body = []byte("b") },
		"sort":      func(i *table.Item) { i.Sort = "3" },
		"number":    func(i *table.Item) { i.Numbers = map[string]int64{"n": 1} },
		"string":    func(i *table.Item) { i.Strings = map[string]string{"n": "1"} },
		"partition": func(i *table.Item) { i.Partition = "q" },
	} {
		changed := items[0]
		change(&changed)
		if sum(changed) == sum(items[0]) {
			t.Errorf("the %s does not change the digest", name)
		}
	}
}
