package storedtest

import (
	"regexp"
	"strings"
	"sync"
	"testing"

	"docent/shared/table"
)

// Form is a stored form: the items of a table whose keys follow a pattern.
type Form struct {
	Table     string
	Partition string // a pattern, with placeholders such as {team}
	Sort      string
	// Since is the first version that stores it. Every fixture of that version or later has
	// an example.
	Since string
	// Until is the last version that stores it; empty: the current version does. The two
	// versions after Until can still read it.
	Until string
	// Engine is the only engine that stores it; empty: both do.
	Engine string
}

// Unreleased is the version of data that the current code stores, later than every release.
const Unreleased = "v1000000"

// Name returns the name of the form in tests and messages.
func (f Form) Name() string { return f.Table + ": " + f.Partition + " | " + f.Sort }

// Forms are all stored forms of items. To add one, enter it here, add an example to the tests
// that fill an installation, and a reader to the tests of its package. shared/table/tables.go
// documents the patterns, and package search those of the index.
var Forms = []Form{
	{Table: table.Collections, Partition: "{team}", Sort: "{source}", Since: "v0.1"},
	{Table: table.Collections, Partition: "{team}/count", Sort: "collections", Since: "v0.1"},
	{Table: table.Collections, Partition: "{team}/count", Sort: "sources", Since: "v0.1"},
	{Table: table.Collections, Partition: "{team}/source/{source}", Sort: "settings", Since: "v0.1"},
	{Table: table.Collections, Partition: "{team}/source/{source}", Sort: "replaced#{number}", Since: "v0.3"},
	{Table: table.Collections, Partition: "{team}/source/{source}", Sort: "sync", Since: "v0.1"},
	{Table: table.Collections, Partition: "{team}/source/{source}", Sort: "sync-asked", Since: "v0.1"},
	{Table: table.Collections, Partition: "{team}/source/{source}", Sort: "part#{text}", Since: "v0.1"},
	{Table: table.Collections, Partition: "{team}/source/{source}", Sort: "seen#{text}#{number}#{number}", Since: "v0.1"},
	{Table: table.Collections, Partition: "{team}/delivered/{source}", Sort: "{text}", Since: "v0.1"},
	{Table: table.Collections, Partition: "source/{source}", Sort: "secrets", Since: "v0.1"},
	{Table: table.Collections, Partition: "{team}/idempotency", Sort: "{key}#{hash}", Since: "v0.1"},
	{Table: table.Collections, Partition: "pending/{number}", Sort: "{number}#sync-source#{source}#{number}", Since: "v0.1"},

	{Table: table.Documents, Partition: "{team}/{doc}", Sort: "record", Since: "v0.1"},
	{Table: table.Documents, Partition: "{team}/{doc}", Sort: "failure", Since: "v0.1"},
	{Table: table.Documents, Partition: "{team}/{doc}", Sort: "removed", Since: "v0.1"},
	{Table: table.Documents, Partition: "{team}/{doc}", Sort: "ruled", Since: "v0.3"},
	{Table: table.Documents, Partition: "{team}/{doc}/{hash}/{number}", Sort: "{number}", Since: "v0.1"},
	{Table: table.Documents, Partition: "{team}/uploads", Sort: "{number}", Since: "v0.3"},
	{Table: table.Documents, Partition: "{team}/list", Sort: "{number}#{doc}", Since: "v0.1"},
	{Table: table.Documents, Partition: "{team}/list/{source}", Sort: "{number}#{doc}", Since: "v0.1"},
	{Table: table.Documents, Partition: "{team}/list/{source}", Sort: "{space}#{number}#{doc}", Since: "v0.1"},
	{Table: table.Documents, Partition: "pending/{number}", Sort: "{number}#index-document#{doc}#{number}", Since: "v0.1"},
	{Table: table.Documents, Partition: "pending-files/{number}", Sort: "{number}#extract-document#{doc}#{number}", Since: "v0.2"},
	{Table: table.Documents, Partition: "pending/{number}", Sort: "{number}#remove-document#{doc}#{number}", Since: "v0.1"},
	{Table: table.Documents, Partition: "pending/{number}", Sort: "{number}#remove-chunks#{doc}#{number}", Since: "v0.1"},
	{Table: table.Documents, Partition: "pending/{number}", Sort: "{number}#remove-collection#{source}#{number}", Since: "v0.1"},

	{Table: table.Index, Partition: "{team}", Sort: "{source}#documentation#{number}#{segment}", Since: "v0.1"},
	{Table: table.Index, Partition: "{team}", Sort: "{source}#messages#{number}#{segment}", Since: "v0.1"},
	{Table: table.Index, Partition: "{team}", Sort: "{source}#code#{number}#{segment}", Since: "v0.1"},
	{Table: table.Index, Partition: "{team}", Sort: "{source}#prs#{number}#{segment}", Since: "v0.1"},
	{Table: table.Index, Partition: "{team}", Sort: "{source}#issues#{number}#{segment}", Since: "v0.1"},
	{Table: table.Index, Partition: "{team}/meaning", Sort: "{source}#documentation#{number}#{segment}", Since: "v0.2"},
	{Table: table.Index, Partition: "{team}/meaning", Sort: "{source}#messages#{number}#{segment}", Since: "v0.2"},
	{Table: table.Index, Partition: "{team}/meaning", Sort: "{source}#code#{number}#{segment}", Since: "v0.2"},
	{Table: table.Index, Partition: "{team}/meaning", Sort: "{source}#prs#{number}#{segment}", Since: "v0.2"},
	{Table: table.Index, Partition: "{team}/meaning", Sort: "{source}#issues#{number}#{segment}", Since: "v0.2"},
	{Table: table.Index, Partition: "{team}/rebuild-meaning", Sort: "{source}#{space}", Since: "v0.2"},
	{Table: table.Index, Partition: "pending-meaning/{number}", Sort: "{number}#rebuild-index#{source}#{space}#meaning#{number}", Since: "v0.2"},
	{Table: table.Index, Partition: "{team}/stale", Sort: "{source}#{space}", Since: "v0.1"},
	{Table: table.Index, Partition: "{team}/rebuild", Sort: "{source}#{space}", Since: "v0.2"},
	{Table: table.Index, Partition: "pending/{number}", Sort: "{number}#rebuild-index#{source}#{space}#{number}", Since: "v0.2"},
	{Table: table.Index, Partition: "cleanup", Sort: "{number}#{segment}", Since: "v0.1"},
	{Table: table.Index, Partition: "cleanup", Sort: "orphans", Since: "v0.1"},

	{Table: table.Answers, Partition: "{question}", Sort: "answer", Since: "v0.1"},
	{Table: table.Answers, Partition: "{team}/list", Sort: "{number}#{question}", Since: "v0.1"},
	{Table: table.Answers, Partition: "{team}/list/{user}", Sort: "{number}#{question}", Since: "v0.1"},
	{Table: table.Answers, Partition: "pending/{number}", Sort: "{number}#answer-question#{question}#{number}", Since: "v0.1"},

	{Table: table.Identities, Partition: "teams", Sort: "{team}", Since: "v0.1"},
	{Table: table.Identities, Partition: "{team}", Sort: "team", Since: "v0.1"},
	{Table: table.Identities, Partition: "{team}", Sort: "admins", Since: "v0.1"},
	{Table: table.Identities, Partition: "{team}", Sort: "saml", Since: "v0.1"},
	{Table: table.Identities, Partition: "{team}/saml", Sort: "{number}", Since: "v0.1"},
	{Table: table.Identities, Partition: "{team}/users", Sort: "{user}", Since: "v0.1"},
	{Table: table.Identities, Partition: "{team}/userNames", Sort: "{text}", Since: "v0.1"},
	{Table: table.Identities, Partition: "{team}/by/{field}", Sort: "{hash}/{user}", Since: "v0.1"},
	{Table: table.Identities, Partition: "{team}/inactive", Sort: "{user}", Since: "v0.1"},
	{Table: table.Identities, Partition: "{team}/departed", Sort: "{user}", Since: "v0.1"},
	{Table: table.Identities, Partition: "{team}/groups", Sort: "{group}", Since: "v0.1"},
	{Table: table.Identities, Partition: "{team}/groupNames", Sort: "{hash}", Since: "v0.1"},
	{Table: table.Identities, Partition: "{team}/groupsBy/externalId", Sort: "{hash}/{group}", Since: "v0.1"},
	{Table: table.Identities, Partition: "{team}/members/{group}", Sort: "{user}", Since: "v0.1"},
	{Table: table.Identities, Partition: "{team}/memberships", Sort: "{user}/{group}", Since: "v0.1"},
	{Table: table.Identities, Partition: "{team}/departedGroups", Sort: "{group}", Since: "v0.1"},
	{Table: table.Identities, Partition: "key/{key}", Sort: "key", Since: "v0.1"},
	{Table: table.Identities, Partition: "key/{key}", Sort: "used", Since: "v0.1"},
	{Table: table.Identities, Partition: "link/{hash}", Sort: "link", Since: "v0.2"},
	{Table: table.Identities, Partition: "{team}", Sort: "signon", Since: "v0.2"},
	{Table: table.Identities, Partition: "{team}/assertions", Sort: "{hash}", Since: "v0.2"},
	{Table: table.Identities, Partition: "{team}/subjects", Sort: "{hash}", Since: "v0.2"},
	{Table: table.Identities, Partition: "{team}/subjects/{user}", Sort: "{hash}", Since: "v0.2"},
	{Table: table.Identities, Partition: "oauth-code/{hash}", Sort: "code", Since: "v0.2"},
	{Table: table.Identities, Partition: "signon/{hash}", Sort: "request", Since: "v0.2"},
	{Table: table.Identities, Partition: "signon/{hash}", Sort: "ticket", Since: "v0.2"},
	{Table: table.Identities, Partition: "{team}/keys", Sort: "{number}#{key}", Since: "v0.1"},
	{Table: table.Identities, Partition: "{team}/keys/{user}", Sort: "{key}", Since: "v0.1"},

	{Table: table.Usage, Partition: "{team}/quota", Sort: "answers-day#{date}", Since: "v0.1"},
	{Table: table.Usage, Partition: "{team}/quota", Sort: "pat-day#{key}#{date}", Since: "v0.1"},
	{Table: table.Usage, Partition: "{team}/rate", Sort: "team", Since: "v0.2"},
	{Table: table.Usage, Partition: "{team}/rate", Sort: "key#{key}", Since: "v0.2"},
	{Table: table.Usage, Partition: "{team}/{month}", Sort: "{hour}#K#{text}#{key}#{text}#{text}", Since: "v0.1"},
	{Table: table.Usage, Partition: "{team}/{month}", Sort: "{hour}#S#{text}#{source}", Since: "v0.1"},
	{Table: table.Usage, Partition: "{team}/users/{month}", Sort: "{user}#{date}#{number}", Since: "v0.3"},
	{Table: table.Usage, Partition: "{team}/keys/{month}", Sort: "{key}#{date}#{number}", Since: "v0.3"},
	{Table: table.Usage, Partition: "{team}/folded", Sort: "{date}", Since: "v0.3"},

	{Table: table.Events, Partition: "{team}/head", Sort: "head", Since: "v0.1"},
	{Table: table.Events, Partition: "{team}/{number}", Sort: "{number}", Since: "v0.1"},
	{Table: table.Events, Partition: "{team}/marks", Sort: "{time}", Since: "v0.1"},
	{Table: table.Events, Partition: "{team}/head", Sort: "marks", Since: "v0.1"},
	{Table: table.Events, Partition: "{team}/once", Sort: "{text}", Since: "v0.1"},
	{Table: table.Events, Partition: "{team}/webhooks", Sort: "{endpoint}", Since: "v0.2"},
	{Table: table.Events, Partition: "{team}/webhooks", Sort: "all", Since: "v0.2"},
	{Table: table.Events, Partition: "{team}/webhooks/state", Sort: "{endpoint}", Since: "v0.2"},
	{Table: table.Events, Partition: "{team}/deliveries/{endpoint}", Sort: "{delivery}", Since: "v0.2"},
	{Table: table.Events, Partition: "{team}/waiting/{endpoint}", Sort: "{number}#{delivery}", Since: "v0.2"},
	{Table: table.Events, Partition: "pending/{number}", Sort: "{number}#announce-events#{text}#{number}", Since: "v0.2"},
	{Table: table.Events, Partition: "pending/{number}", Sort: "{number}#deliver-webhooks#{endpoint}#{number}", Since: "v0.2"},
	{Table: table.Events, Partition: "daily", Sort: "round", Since: "v0.1"},
	{Table: table.Events, Partition: "sweeps", Sort: "last", Since: "v0.3"},
	{Table: table.Events, Partition: "secret", Sort: "cursor", Since: "v0.1"},

	{Table: queueTable, Partition: "{queue}/due", Sort: "{number}#{message}", Since: "v0.1", Until: "v0.1", Engine: Serve},
	{Table: queueTable, Partition: "{queue}/dead", Sort: "{message}", Since: "v0.1", Until: "v0.1", Engine: Serve},
}

const uuidPattern = `[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`

// placeholders has the expressions of placeholders in patterns. Any other is a UUID.
var placeholders = map[string]string{
	"number": `\d+`, "text": `.+`, "key": `[0-9A-Za-z]{16}`, "hash": `[0-9a-f]{16,64}`, "field": `[A-Za-z]+`,
	"space": `documentation|messages|code|prs|issues`, "date": `\d{4}-\d\d-\d\d`, "month": `\d{4}-\d\d`, "hour": `\d{4}-\d\d-\d\dT\d\d`,
	"time": `\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z`, "delivery": `msg_[0-9a-f]{37}`, "queue": `questions|documents|sources`,
}

var placeholder = regexp.MustCompile(`\\\{([a-zA-Z]+)\\\}`)

// compiled returns the expression that the keys of a pattern match.
func compiled(pattern string) *regexp.Regexp {
	expression := placeholder.ReplaceAllStringFunc(regexp.QuoteMeta(pattern), func(found string) string {
		if p, ok := placeholders[strings.Trim(found, `\{}`)]; ok {
			return "(?:" + p + ")"
		}
		return uuidPattern
	})
	return regexp.MustCompile(`\A(?:` + expression + `)\z`)
}

// FormOf returns the form of an item. The test fails if the item has none or several.
func FormOf(t testing.TB, k table.Key) Form {
	t.Helper()
	var found []Form
	for _, f := range matchers() {
		if f.Table == k.Table && f.partition.MatchString(k.Partition) && f.sort.MatchString(k.Sort) {
			found = append(found, f.Form)
		}
	}
	if len(found) != 1 {
		t.Errorf("an item of the table %s under %q %q is of %d stored forms; see shared/storedtest/README.md", k.Table, k.Partition, k.Sort, len(found))
		return Form{}
	}
	return found[0]
}

type matcher struct {
	Form
	partition, sort *regexp.Regexp
}

// matchers returns the forms with their compiled patterns.
var matchers = sync.OnceValue(func() []matcher {
	all := make([]matcher, len(Forms))
	for i, f := range Forms {
		all[i] = matcher{f, compiled(f.Partition), compiled(f.Sort)}
	}
	return all
})

// In reports whether a fixture of the version and engine holds an example of f.
func (f Form) In(version, engine string) bool {
	return compareVersions(f.Since, version) <= 0 && (f.Until == "" || compareVersions(version, f.Until) <= 0) &&
		(f.Engine == "" || f.Engine == engine)
}

// CheckForms fails unless each of items is of one stored form, and each form that the
// version stores at the engine is among them.
func CheckForms(t testing.TB, version, engine string, items []table.Item) {
	t.Helper()
	seen := map[string]bool{}
	for _, item := range items {
		seen[FormOf(t, item.Key).Name()] = true
	}
	for _, f := range Forms {
		if f.In(version, engine) && !seen[f.Name()] {
			t.Errorf("%s at %s has no example of the stored form %s", version, engine, f.Name())
		}
	}
}
