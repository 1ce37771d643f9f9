package document

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"

	"docent/shared/filter"
	"docent/shared/search"
	"docent/shared/table"
)

// Facts are what a provider says about an item, besides its text. Times are UTC in
// milliseconds; zero means unknown.
type Facts struct {
	Space     search.Space
	Author    string
	Assignees []string
	Project   string // such as a repository or a channel
	Number    string // of an issue or pull request, such as "42" or "DOC-42"
	State     string // open, closed or merged, for issues and pull requests
	Labels    []string
	Comment   bool      // on an issue or pull request
	Changed   time.Time // when the provider changed it last
	Closed    time.Time
	Merged    time.Time
}

func (e Entry) space() search.Space {
	if e.Facts == nil {
		return search.Documentation
	}
	return e.Facts.Space
}

// Attributes returns what filters decide by.
func (e Entry) Attributes() filter.Attributes {
	a := filter.Attributes{Metadata: e.Metadata, Facts: filter.Facts{CreatedAt: e.CreatedAt, UpdatedAt: e.UpdatedAt}}
	if f := e.Facts; f != nil {
		a.Facts.Author, a.Facts.Assignees, a.Facts.Project, a.Facts.Number = f.Author, f.Assignees, f.Project, f.Number
		a.Facts.State, a.Facts.Labels, a.Facts.ClosedAt, a.Facts.MergedAt = f.State, f.Labels, f.Closed, f.Merged
	}
	return a
}

func (f *Facts) equal(g Facts) bool {
	return f.Space == g.Space && f.Comment == g.Comment && f.Author == g.Author && f.Project == g.Project && f.Number == g.Number &&
		f.State == g.State && slices.Equal(f.Labels, g.Labels) && slices.Equal(f.Assignees, g.Assignees) &&
		f.Changed.Equal(g.Changed) && f.Closed.Equal(g.Closed) && f.Merged.Equal(g.Merged)
}

// dates sets the facts and the provider's times on e.
func (in Input) dates(e *Entry) {
	if in.Facts == nil {
		return
	}
	facts := *in.Facts
	for _, t := range []*time.Time{&facts.Changed, &facts.Closed, &facts.Merged} {
		*t = millis(*t)
	}
	e.Facts = &facts
	if !in.Created.IsZero() {
		e.CreatedAt = millis(in.Created)
	}
	if !facts.Changed.IsZero() {
		e.UpdatedAt = facts.Changed
	}
}

func millis(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return t.UTC().Truncate(time.Millisecond)
}

// The stored fields of facts. Every item has spaceField; documents have none.
const (
	spaceField     = "space"
	authorField    = "author"
	projectField   = "project"
	numberField    = "number"
	stateField     = "state"
	labelsField    = "labels"    // a JSON array
	assigneesField = "assignees" // a JSON array
	commentField   = "comment"
	changedField   = "changed"
	closedField    = "closed"
	mergedField    = "merged"
)

func (f *Facts) store(item table.Item) {
	item.Strings[spaceField] = string(f.Space)
	for name, text := range map[string]string{authorField: f.Author, projectField: f.Project, numberField: f.Number, stateField: f.State} {
		if text != "" {
			item.Strings[name] = text
		}
	}
	if f.Comment {
		item.Numbers[commentField] = 1
	}
	for name, texts := range map[string][]string{labelsField: f.Labels, assigneesField: f.Assignees} {
		if len(texts) == 0 {
			continue
		}
		encoded, err := json.Marshal(texts)
		if err != nil {
			panic(err) // strings always encode
		}
		item.Strings[name] = string(encoded)
	}
	for name, t := range map[string]time.Time{changedField: f.Changed, closedField: f.Closed, mergedField: f.Merged} {
		if !t.IsZero() {
			item.Numbers[name] = t.UnixMilli()
		}
	}
}

// factsFrom returns the facts of a stored item, or nil for a document.
func factsFrom(item table.Item) *Facts {
	space, ok := item.Strings[spaceField]
	if !ok {
		return nil
	}
	at := func(name string) time.Time {
		if ms, ok := item.Numbers[name]; ok {
			return time.UnixMilli(ms).UTC()
		}
		return time.Time{}
	}
	f := &Facts{Space: search.Space(space), Author: item.Strings[authorField], Project: item.Strings[projectField],
		Number: item.Strings[numberField], State: item.Strings[stateField],
		Comment: item.Numbers[commentField] != 0, Changed: at(changedField), Closed: at(closedField), Merged: at(mergedField)}
	// Lists that cannot be decoded are empty; only store writes them.
	_ = json.Unmarshal([]byte(cmp.Or(item.Strings[labelsField], "[]")), &f.Labels)
	_ = json.Unmarshal([]byte(cmp.Or(item.Strings[assigneesField], "[]")), &f.Assignees)
	return f
}
