package question

import (
	"regexp"
	"slices"
	"strings"

	"docent/shared/search"
	"docent/shared/source"
)

// rules are tried in this order at every word. Each returns how many words it takes.
var rules = []func(*reader) int{qualifier, order, person, label, project, dated, state, verb, noun}

// nouns are what a question calls issues and pull requests.
var nouns = []string{"pull requests", "pull request", "merge requests", "merge request", "issues", "issue", "tickets", "ticket", "bugs", "prs", "pr", "mrs", "mr", "pull-requests"}

// noun drops words that only name what is searched.
func noun(r *reader) int { return r.any(0, nouns...) }

// The states of issues and pull requests.
const (
	open   = source.StateOpen
	closed = source.StateClosed
	merged = source.StateMerged
)

var states = map[string]string{"open": open, "unresolved": open, "unmerged": open, "unfinished": open, "closed": closed, "resolved": closed,
	"completed": closed, "finished": closed, "fixed": closed, "done": closed, "merged": merged, "landed": merged}

// verbs map a verb to the field that its date belongs to.
var verbs = map[string]string{"opened": "created", "created": "created", "filed": "created", "reported": "created", "raised": "created",
	"submitted": "created", "authored": "created", "written": "created", "wrote": "created",
	"updated": "updated", "changed": "updated", "modified": "updated", "touched": "updated", "active": "updated",
	"closed": "completed", "merged": "completed", "resolved": "completed", "completed": "completed", "finished": "completed",
	"fixed": "completed", "done": "completed", "landed": "completed", "shipped": "completed"}

// state takes the word for a state if it describes issues: shortly before or after
// their noun, alone, or before a date or a person.
func state(r *reader) int {
	name := r.peek(0)
	to, ok := states[name]
	n := 1
	if name == "not" && (r.peek(1) == "merged" || r.peek(1) == "closed" || r.peek(1) == "resolved" || r.peek(1) == "done") {
		to, ok, n = open, true, 2
	}
	if !ok || !r.describes(n) {
		return 0
	}
	if r.space == search.Issues && to == merged {
		to = closed
	}
	if r.space == search.PRs && to == closed && name != "closed" {
		to = merged // a pull request that is done is merged
	}
	r.filter.State = to
	if n == 1 {
		r.verb = verbs[name]
	} else {
		r.verb = ""
	}
	return n
}

// describes reports whether the n words at the current one, which name a state,
// describe issues.
func (r *reader) describes(n int) bool {
	before := r.peek(-1)
	if slices.Contains([]string{"still", "is", "are", "was", "were", "been", "being", "get", "got", "i", "currently", "recently"}, before) {
		return true
	}
	if r.at+n == len(r.words) { // at the end: "login issues, closed"
		return len(r.words) <= n || r.named(-r.at, r.at)
	}
	for i := n; i <= n+3; i++ {
		if r.any(i, nouns...) > 0 || r.any(i, "and", "or") > 0 && r.any(i+1, nouns...) > 0 {
			return true
		}
	}
	if r.named(-3, 3) || r.peek(n) == "ones" {
		return true
	}
	_, date := r.dateFrom(n)
	return date > 0 || r.personAt(n) > 0 && r.known(n+1)
}

// named reports whether one of n words, starting at from, is a noun.
func (r *reader) named(from, n int) bool {
	for i := from; i < from+n; i++ {
		if r.any(i, nouns...) > 0 {
			return true
		}
	}
	return false
}

// verb takes a verb before a date or a person.
func verb(r *reader) int {
	to, ok := verbs[r.peek(0)]
	if !ok {
		return 0
	}
	_, date := r.dateFrom(1)
	if date == 0 && (to != "created" || r.personAt(1) == 0) {
		return 0
	}
	r.verb = to
	return 1
}

// personAt returns how many words at n name an author, such as "by ada"; 0 for none.
func (r *reader) personAt(n int) int {
	if (r.peek(n) == "by" || r.peek(n) == "from") && isName(r.text(n+1)) {
		return 2
	}
	return 0
}

// known reports whether the word at n can only be a person.
func (r *reader) known(n int) bool { return r.peek(n) == Me || strings.Contains(r.peek(n), "@") }

// isName reports whether a word can be a user's name.
func isName(text string) bool {
	lower := strings.ToLower(text)
	return lower == Me || strings.Trim(text, "@") != "" && !slices.Contains(fillers, lower)
}

// person takes the author or assignee.
func person(r *reader) int {
	set := func(name string, role Role, n int) int {
		r.filter.User, r.filter.Role = strings.TrimLeft(name, "@"), role
		if strings.EqualFold(name, Me) || strings.EqualFold(name, "myself") {
			r.filter.User = Me
		}
		return n
	}
	if n := r.any(0, "assigned to", "assignee"); n > 0 && isName(r.text(n)) {
		return set(r.text(n), Assignee, n+1)
	}
	if n := r.any(0, "of mine", "mine"); n > 0 {
		return set(Me, "", n)
	}
	if r.peek(0) == "my" && r.named(1, 4) {
		return set(Me, "", 1)
	}
	if _, ok := verbs[r.peek(1)]; ok && r.peek(0) == "i" && verbs[r.peek(1)] == "created" {
		r.verb = "created"
		return set(Me, Author, 2)
	}
	if n := r.personAt(0); n > 0 {
		name := r.text(1)
		_, before := verbs[r.peek(-1)]
		authored := before && verbs[r.peek(-1)] == "created" || r.peek(0) == "by" && r.named(-2, 2)
		if r.known(1) && !(before && verbs[r.peek(-1)] != "created") || authored {
			return set(name, Author, n)
		}
	}
	return 0
}

// label takes "labeled bug", "with the labels ui and bug".
func label(r *reader) int {
	n := r.any(0, "labeled as", "labelled as", "labeled with", "labelled with", "labeled", "labelled", "tagged as", "tagged with", "tagged",
		"with the labels", "with the label", "with labels", "with label", "having label", "label", "labels")
	if n == 0 {
		return 0
	}
	many := strings.HasSuffix(r.peek(n-1), "labels")
	start := n
	for r.at+n < len(r.words) {
		if !r.words[r.at+n].quoted && slices.Contains(fillers, r.peek(n)) {
			break
		}
		r.filter.Labels = append(r.filter.Labels, strings.TrimPrefix(r.text(n), "#"))
		n++
		if r.peek(n) != "and" || !many && !r.lastLabel(n+1) {
			break
		}
		n++
	}
	if n == start {
		return 0
	}
	return n
}

// lastLabel reports whether the word at n, after "and", is another label: no rule
// takes it.
func (r *reader) lastLabel(n int) bool {
	next := r.peek(n)
	_, isState := states[next]
	_, isVerb := verbs[next]
	return next != "" && !isState && !isVerb && !slices.Contains(fillers, next) && r.any(n, nouns...) == 0 &&
		!strings.Contains(next, ":") && r.any(n, "assigned", "labeled", "tagged", "since", "before", "after", "until", "between") == 0
}

// projectPath is the form of owner/name.
var projectPath = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,38}/[A-Za-z0-9._-]{1,100}$`)

// project takes "in acme/api", "in repo api", "in the API project".
func project(r *reader) int {
	at := r.any(0, "in the", "of the", "from the", "for the", "in", "of", "from", "for")
	set := func(text string, n int) int {
		r.filter.Projects = append(r.filter.Projects, text)
		return n
	}
	words := []string{"repository", "repo", "project"}
	if slices.Contains(words, r.peek(at)) && isName(r.text(at+1)) && !r.takesOver(at+1) {
		return set(r.text(at+1), at+2)
	}
	if at == 0 {
		return 0
	}
	if r.text(at) != "" && slices.Contains(words, r.peek(at+1)) && !slices.Contains(fillers, r.peek(at)) {
		return set(r.text(at), at+2)
	}
	if projectPath.MatchString(r.text(at)) && !r.words[r.at+at].quoted {
		return set(r.text(at), at+1)
	}
	return 0
}

// takesOver reports whether another rule takes the word at n.
func (r *reader) takesOver(n int) bool {
	_, isState := states[r.peek(n)]
	_, isVerb := verbs[r.peek(n)]
	return isState || isVerb || r.any(n, "since", "before", "after", "until", "between", "assigned", "labeled", "tagged") > 0
}

// order takes the words for the order of the results.
func order(r *reader) int {
	set := func(to Order, n int) int {
		r.filter.Sort = to
		return n
	}
	by := r.any(0, "sorted by", "sort by", "ordered by", "order by")
	switch {
	case by > 0 && r.any(by, "last update", "updated", "update", "activity", "last updated") > 0:
		return set(ByUpdated, by+r.any(by, "last update", "last updated", "updated", "update", "activity"))
	case by > 0 && r.any(by, "created", "creation", "date", "newest", "creation date") > 0:
		return set(ByCreated, by+r.any(by, "creation date", "created", "creation", "date", "newest"))
	case by > 0 && r.peek(by) == "relevance":
		return set(ByRelevance, by+1)
	}
	if n := r.any(0, "most recently updated", "recently updated", "last updated", "latest updated", "recently changed", "recently active"); n > 0 {
		return set(ByUpdated, n)
	}
	n := r.any(0, "newest first", "most recent", "most recently created", "newest", "latest", "recently opened", "recently created")
	if n > 0 && (r.named(n, 4) || strings.HasSuffix(r.peek(n-1), "first") || strings.HasPrefix(r.peek(0), "recently")) {
		return set(ByCreated, n)
	}
	return 0
}
