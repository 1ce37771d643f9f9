package question

import (
	"slices"
	"strings"
	"time"

	"docent/shared/search"
)

// Interpret returns the filters in a question about issues or pull requests, and the
// text that is left to rank by. It is deterministic and knows these forms, in any
// case and order:
//
//	qualifiers  is:open state:closed author:ada assignee:me label:bug label:"good first issue" repo:acme/api
//	            project:API created:>=2026-03-01 updated:<2026-04-01 closed:2026-03 merged:2026-01-01..2026-02-01
//	            sort:updated
//	states      open, closed, resolved, merged, unmerged … before or after what they describe: "open bugs",
//	            "issues that are still open", "PRs merged last week"
//	people      my, mine, of mine, by me, assigned to me, I opened, by @ada, opened by ada, from ada@acme.test
//	projects    in acme/api, in repo api, in the API project, project API
//	labels      labeled bug, tagged "good first issue", with label bug, with the labels ui and bug
//	dates       since, after, before, until, in, on, during, between … and …, from … to …, older than, newer than:
//	            2026-03-01, 2026-03, March, March 3rd 2025, 2025, today, yesterday, Monday, this or last week,
//	            month, quarter, year, the last 7 days, 3 weeks ago
//	order       latest, newest, most recent, recently updated, sorted by update
//
// A date belongs to the verb before it (opened, updated, closed, merged …); otherwise
// to the creation. "since March" means since the start of the last March, "after March"
// since its end. What is in double quotes is text, never a filter.
func Interpret(question string, space search.Space, now time.Time) (Filter, string) {
	r := &reader{words: split(question), space: space, now: now.UTC()}
	r.lower = lower(texts(r.words))
	for r.at < len(r.words) {
		if r.words[r.at].quoted {
			r.keep(1)
			continue
		}
		matched := false
		for _, rule := range rules {
			if n := rule(r); n > 0 {
				r.at += n
				matched = true
				break
			}
		}
		if !matched {
			r.keep(1)
		}
	}
	return r.filter, r.left()
}

// word is one word of a question, without punctuation at its ends, or a text in
// double quotes.
type word struct {
	text   string
	quoted bool
}

// quotable are the qualifiers whose value may be in quotes: label:"good first issue".
var quotable = []string{"label:", "project:", "repo:", "repository:"}

func split(question string) []word {
	var words []word
	for question != "" {
		before, rest, found := strings.Cut(question, `"`)
		inside, after, closed := strings.Cut(rest, `"`)
		if found && !closed {
			before, inside, after = before+" "+rest, "", ""
		}
		fields := strings.Fields(before)
		glued := len(fields) > 0 && slices.Contains(quotable, strings.ToLower(fields[len(fields)-1])) && !strings.HasSuffix(before, " ")
		for _, f := range fields {
			if t := strings.Trim(f, ".,;!?()[]"); t != "" {
				words = append(words, word{text: t})
			}
		}
		if inside = strings.TrimSpace(inside); inside != "" {
			if glued && len(words) > 0 {
				words[len(words)-1].text += inside
			} else {
				words = append(words, word{inside, true})
			}
		}
		question = after
	}
	return words
}

func texts(words []word) []string {
	out := make([]string, len(words))
	for i, w := range words {
		if out[i] = w.text; w.quoted {
			out[i] = "\"" // matches no word of any rule
		}
	}
	return out
}

// reader goes through the words of a question.
type reader struct {
	words  []word
	lower  []string
	at     int
	space  search.Space
	now    time.Time
	filter Filter
	verb   string // what the next date belongs to
	kept   []int  // indexes of the words that remain text
}

// peek returns the n-th word after the current one in lower case, or "".
func (r *reader) peek(n int) string {
	if i := r.at + n; i >= 0 && i < len(r.lower) {
		return r.lower[i]
	}
	return ""
}

// text returns the n-th word after the current one as written, even if quoted.
func (r *reader) text(n int) string {
	if i := r.at + n; i < len(r.words) {
		return r.words[i].text
	}
	return ""
}

// follows returns the number of words of phrase if they occur at n, otherwise 0.
func (r *reader) follows(n int, phrase string) int {
	words := strings.Fields(phrase)
	for i, w := range words {
		if r.peek(n+i) != w {
			return 0
		}
	}
	return len(words)
}

// any returns follows for the first of phrases that occurs at n.
func (r *reader) any(n int, phrases ...string) int {
	for _, p := range phrases {
		if taken := r.follows(n, p); taken > 0 {
			return taken
		}
	}
	return 0
}

func (r *reader) keep(n int) {
	for range n {
		r.kept = append(r.kept, r.at)
		r.at++
	}
}

// fillers are words without meaning at the ends of the remaining text.
var fillers = strings.Fields(`a an the all any some every show list find get give me us see tell search look for about on in of with without
	regarding concerning related to and or that which who what why whose when where how many are is was were be been being do does did have has had
	there please i we you my our mine still ones from by at as it its new`)

// left returns the text that no rule took, without fillers at its ends.
func (r *reader) left() string {
	kept := r.kept
	isFiller := func(i int) bool { return !r.words[i].quoted && slices.Contains(fillers, r.lower[i]) }
	for len(kept) > 0 && isFiller(kept[0]) {
		kept = kept[1:]
	}
	for len(kept) > 0 && isFiller(kept[len(kept)-1]) {
		kept = kept[:len(kept)-1]
	}
	out := make([]string, len(kept))
	for i, k := range kept {
		out[i] = r.words[k].text
	}
	return strings.Join(out, " ")
}
