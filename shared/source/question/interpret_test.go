package question_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"docent/shared/search"
	"docent/shared/source/question"
)

// asked is a Saturday.
var asked = time.Date(2026, 11, 21, 15, 4, 5, 0, time.UTC)

// shown formats a filter and the remaining text as one line.
func shown(f question.Filter, text string) string {
	var out []string
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	if f.State != "" {
		add("%s", f.State)
	}
	if f.User != "" {
		add("%s=%s", map[question.Role]string{"": "user"}[f.Role]+string(f.Role), f.User)
	}
	for _, p := range f.Projects {
		add("project=%s", p)
	}
	for _, l := range f.Labels {
		add("label=%s", l)
	}
	for _, s := range []struct {
		name string
		span question.Span
	}{{"created", f.Created}, {"updated", f.Updated}, {"completed", f.Completed}} {
		day := func(t time.Time) string {
			if t.IsZero() {
				return ""
			}
			return t.Format(time.DateOnly)
		}
		if s.span != (question.Span{}) {
			add("%s=%s..%s", s.name, day(s.span.After), day(s.span.Before))
		}
	}
	if f.Sort != "" {
		add("sort=%s", f.Sort)
	}
	return strings.TrimSpace(strings.Join(out, " ") + " | " + text)
}

func TestInterpret(t *testing.T) {
	t.Parallel()
	for _, space := range []search.Space{search.Issues, search.PRs} {
		for text, want := range map[search.Space]map[string]string{search.Issues: issueQuestions, search.PRs: prQuestions}[space] {
			t.Run(text, func(t *testing.T) {
				t.Parallel()
				if got := shown(question.Interpret(text, space, asked)); got != want {
					t.Errorf("got  %s\nwant %s", got, want)
				}
			})
		}
	}
}

var issueQuestions = map[string]string{
	// states
	"open bugs about login assigned to me since March": "open assignee=me created=2026-03-01.. | login",
	"open issues":                             "open |",
	"Show me all open issues":                 "open |",
	"closed tickets about billing":            "closed | billing",
	"issues that are still open":              "open |",
	"login issues, closed":                    "closed | login",
	"open login bugs":                         "open | login",
	"which bugs were resolved last week?":     "closed completed=2026-11-09..2026-11-16 |",
	"unresolved issues with the payment page": "open | payment page",
	"open file dialog crashes on Windows":     "| open file dialog crashes on Windows",
	"connection closed by peer":               "| connection closed by peer",
	"is:open label:bug crash":                 "open label=bug | crash",
	"state:closed timeout":                    "closed | timeout",
	"merged issues":                           "closed |",
	`"open issues" dashboard shows nothing`:   "| open issues dashboard shows nothing",
	"not resolved issues in acme/api":         "open project=acme/api |",
	"issues done since Monday":                "closed completed=2026-11-16.. |",
	// people
	"my issues":                            "user=me |",
	"my open issues":                       "open user=me |",
	"issues of mine about export":          "user=me | export",
	"issues I opened":                      "author=me |",
	"issues opened by @ada":                "author=ada |",
	"bugs reported by ada since yesterday": "author=ada created=2026-11-20.. |",
	"issues by grace":                      "author=grace |",
	"issues from ada@acme.test":            "author=ada@acme.test |",
	"author:ada flaky test":                "author=ada | flaky test",
	"assignee:me":                          "assignee=me |",
	"assigned to @grace, memory leak":      "assignee=grace | memory leak",
	"user:me sort:updated":                 "user=me sort=updated |",
	"sorting by name is broken":            "| sorting by name is broken",
	"crash caused by timeout":              "| crash caused by timeout",
	// projects
	"bugs in acme/api":                   "project=acme/api |",
	"bugs in repo api":                   "project=api |",
	"memory leak in the API project":     "project=API | memory leak",
	"project:Mobile dark mode":           "project=Mobile | dark mode",
	"repo:acme/web slow page":            "project=acme/web | slow page",
	"issues from repository acme/web-ui": "project=acme/web-ui |",
	// labels
	"issues labeled bug":                         "label=bug |",
	"issues labelled security and opened by ada": "author=ada label=security |",
	`tickets tagged "good first issue"`:          "label=good first issue |",
	`label:"help wanted" docs`:                   "label=help wanted | docs",
	"open issues with the labels ui and bug":     "open label=ui label=bug |",
	"issues with label p1 since 2026-01-05":      "label=p1 created=2026-01-05.. |",
	"label:bug label:ui":                         "label=bug label=ui |",
	// dates
	"issues since 2026-03-01":                      "created=2026-03-01.. |",
	"issues after 2026-03-01":                      "created=2026-03-02.. |",
	"issues before 2026-03-01":                     "created=..2026-03-01 |",
	"issues until 2026-03-01":                      "created=..2026-03-02 |",
	"issues on 2026-03-01":                         "created=2026-03-01..2026-03-02 |",
	"issues in March":                              "created=2026-03-01..2026-04-01 |",
	"issues in December":                           "created=2025-12-01..2026-01-01 |",
	"issues in May 2024":                           "created=2024-05-01..2024-06-01 |",
	"issues in 2025":                               "created=2025-01-01..2026-01-01 |",
	"issues since March 3rd":                       "created=2026-03-03.. |",
	"issues since 3 March 2025":                    "created=2025-03-03.. |",
	"issues since December 24":                     "created=2025-12-24.. |",
	"issues between 2026-01-01 and 2026-01-31":     "created=2026-01-01..2026-02-01 |",
	"issues from January to March":                 "created=2026-01-01..2026-04-01 |",
	"issues today":                                 "created=2026-11-21..2026-11-22 |",
	"issues this week":                             "created=2026-11-16..2026-11-23 |",
	"issues last month":                            "created=2026-10-01..2026-11-01 |",
	"issues this quarter":                          "created=2026-10-01..2027-01-01 |",
	"issues last year":                             "created=2025-01-01..2026-01-01 |",
	"issues in the last 7 days":                    "created=2026-11-14..2026-11-22 |",
	"issues of the past two weeks":                 "created=2026-11-07..2026-11-22 |",
	"issues since 3 weeks ago":                     "created=2026-10-31.. |",
	"issues since Monday":                          "created=2026-11-16.. |",
	"issues updated since Saturday":                "updated=2026-11-14.. |",
	"issues updated yesterday":                     "updated=2026-11-20..2026-11-21 |",
	"issues opened before June and closed in July": "closed created=..2026-06-01 completed=2026-07-01..2026-08-01 |",
	"open issues older than 30 days":               "open created=..2026-10-22 |",
	"issues newer than two weeks":                  "created=2026-11-07.. |",
	"created:>=2026-03-01 updated:<2026-04-01":     "created=2026-03-01.. updated=..2026-04-01 |",
	"closed:2026-03":                               "completed=2026-03-01..2026-04-01 |",
	"created:2026-01-01..2026-01-31 crash":         "created=2026-01-01..2026-02-01 | crash",
	"issues since February 30":                     "| since February 30",
	"may crash after restart":                      "| may crash after restart",
	"created:soon":                                 "| created:soon",
	// order
	"latest issues about login":         "sort=created | login",
	"recently updated issues":           "sort=updated |",
	"issues sorted by last update":      "sort=updated |",
	"newest bugs":                       "sort=created |",
	"the latest version does not start": "| latest version does not start",
	// nothing
	"":                            "|",
	"the of and":                  "|",
	"why does login fail":         "| login fail",
	"https://acme.test/x:y fails": "| https://acme.test/x:y fails",
}

var prQuestions = map[string]string{
	"PRs merged last week":                             "merged completed=2026-11-09..2026-11-16 |",
	"merged pull requests about caching by @ada":       "merged author=ada | caching",
	"open PRs of mine":                                 "open user=me |",
	"pull requests I created this month":               "author=me created=2026-11-01..2026-12-01 |",
	"is:merged merged:>2026-10-01":                     "merged completed=2026-10-02.. |",
	"is:pr is:closed author:@me":                       "closed author=me |",
	"unmerged PRs":                                     "open |",
	"PRs that are not merged":                          "open |",
	"completed PRs since June in repo acme/web":        "merged project=acme/web completed=2026-06-01.. |",
	"what did we change in the retry logic":            "| change in the retry logic",
	"latest merged PRs labeled breaking":               "merged label=breaking sort=created |",
	"my PRs closed in October":                         "closed user=me completed=2026-10-01..2026-11-01 |",
	"merge requests opened by grace before 2026-02-01": "author=grace created=..2026-02-01 |",
}

func FuzzInterpret(f *testing.F) {
	for q := range issueQuestions {
		f.Add(q, true)
	}
	for q := range prQuestions {
		f.Add(q, false)
	}
	f.Fuzz(func(t *testing.T, asking string, issues bool) {
		space := search.PRs
		if issues {
			space = search.Issues
		}
		filter, text := question.Interpret(asking, space, asked)
		again, textAgain := question.Interpret(asking, space, asked)
		if shown(filter, text) != shown(again, textAgain) {
			t.Error("two readings differ")
		}
		for w := range strings.FieldsSeq(text) {
			if !strings.Contains(asking, w) {
				t.Errorf("%q is not of the question", w)
			}
		}
		switch filter.State {
		case "", "open", "closed":
		case "merged":
			if issues {
				t.Error("merged issues")
			}
		default:
			t.Errorf("state %q", filter.State)
		}
		if filter.Role != "" && filter.User == "" {
			t.Errorf("role %q without a user", filter.Role)
		}
	})
}
