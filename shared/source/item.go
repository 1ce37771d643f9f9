package source

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"docent/shared/access"
	"docent/shared/apierr"
	"docent/shared/document"
	"docent/shared/filter"
	"docent/shared/search"
)

// Bounds of an item, in Unicode code points. Title and uri have the bounds of a
// document's.
const (
	maxFact   = 256 // author, assignee, project
	maxNumber = 64
	MaxLabel  = 100
	MaxListed = 50 // labels, assignees
)

// Item is an item of a connected source: an issue, a message, a page. In the JSON of
// an import the members with omitempty or omitzero are optional.
type Item struct {
	URI        string    `json:"uri"`
	Title      string    `json:"title"`
	Body       string    `json:"body"`
	SourceType string    `json:"sourceType"`
	Author     string    `json:"author,omitempty"`
	Assignees  []string  `json:"assignees,omitempty"`
	Project    string    `json:"project,omitempty"`
	Number     string    `json:"number,omitempty"`
	State      string    `json:"state,omitempty"`
	Labels     []string  `json:"labels,omitempty"`
	CreatedAt  time.Time `json:"createdAt,omitzero"` // zero: unknown, as in the other times
	UpdatedAt  time.Time `json:"updatedAt,omitzero"`
	ClosedAt   time.Time `json:"closedAt,omitzero"`
	MergedAt   time.Time `json:"mergedAt,omitzero"`
	// Metadata is what filters select by, besides the members above.
	Metadata filter.Metadata `json:"metadata,omitempty"`

	// Access says who may read it; nil: the default of its source decides.
	Access  *access.Names `json:"access,omitempty"`
	Comment bool          `json:"-"` // on an issue or pull request; queries leave it out
	About   string        `json:"-"` // of a comment: uri of its issue or pull request, whose title it gets
	File    *File         `json:"-"` // with its text, instead of Body; nil: Body has it
	// KeepBody means that its text could not be read now. The stored text stays, and everything else that is known is
	// updated. If no text is stored, nothing is.
	KeepBody bool `json:"-"`
	// CommentsUnread means that not all comments on it could be read. Its comments are the items with its uri and a fragment. See keepComments.
	CommentsUnread bool `json:"-"`
	// CommentsDenied means that the provider refuses to show them, with CommentsUnread.
	CommentsDenied bool `json:"-"`
	// Listed is set by a sync: the provider has had the item as it is since.
	Listed time.Time `json:"-"`
	// CheckKept is set by a sync: its text or file, if that is kept, is compared with what was stored.
	CheckKept bool `json:"-"`
}

// sourceTypes are the API's names of the spaces.
var sourceTypes = map[search.Space]string{search.Code: "code", search.PRs: "pull_request", search.Issues: "issue",
	search.Documentation: "documentation", search.Messages: "message"}

// TypeOf returns the source type of the items of a space.
func TypeOf(space search.Space) string { return sourceTypes[space] }

func spaceOf(sourceType string) (search.Space, bool) {
	for space, name := range sourceTypes {
		if name == sourceType {
			return space, true
		}
	}
	return "", false
}

// check returns an error for the sender if an item is invalid.
func (i Item) check() error {
	space, ok := spaceOf(i.SourceType)
	switch {
	case !ok:
		return errors.New("sourceType must be code, pull_request, issue, documentation or message")
	case utf8.RuneCountInString(i.Title) < 1 || utf8.RuneCountInString(i.Title) > document.MaxTitle:
		return fmt.Errorf("title must have 1 to %d characters", document.MaxTitle)
	case len(i.Labels) > MaxListed || len(i.Assignees) > MaxListed:
		return fmt.Errorf("labels and assignees must have at most %d entries each", MaxListed)
	case space != search.Issues && space != search.PRs && i.State != "":
		return errors.New("state is for issues and pull requests")
	case i.State != "" && !slices.Contains(statesOf(space), i.State):
		return fmt.Errorf("state must be one of %s", strings.Join(statesOf(space), ", "))
	}
	if err := cmp.Or(checkFact("author", i.Author, maxFact), checkFact("project", i.Project, maxFact)); err != nil {
		return err
	}
	for _, text := range i.Labels {
		if err := checkFact("a label", text, MaxLabel); err != nil || text == "" {
			return fmt.Errorf("a label must have 1 to %d characters and no control characters", MaxLabel)
		}
	}
	for _, text := range i.Assignees {
		if err := checkFact("an assignee", text, maxFact); err != nil || text == "" {
			return fmt.Errorf("an assignee must have 1 to %d characters and no control characters", maxFact)
		}
	}
	for _, t := range []time.Time{i.CreatedAt, i.UpdatedAt, i.ClosedAt, i.MergedAt} {
		if !t.IsZero() && (t.Year() < 1970 || t.Year() > 9999) {
			return errors.New("times must be within the years 1970 to 9999")
		}
	}
	if err := i.Access.Check(); err != nil {
		return fmt.Errorf("access %w", err)
	}
	if err := checkFact("number", i.Number, maxNumber); err != nil {
		return err
	}
	if err := i.Metadata.Check(""); err != nil {
		return metadataFault(err)
	}
	var refused *apierr.Error
	if err := document.CheckURI(i.URI); errors.As(err, &refused) {
		return fmt.Errorf("uri %s", refused.Fields[0].Detail)
	}
	return nil
}

// metadataFault returns err, of package filter, for the sender of an item.
func metadataFault(err error) error {
	var refused *apierr.Error
	if !errors.As(filter.Under("/metadata", err), &refused) {
		return errors.New("metadata must be an object")
	}
	return fmt.Errorf("%s %s", strings.TrimPrefix(refused.Fields[0].Pointer, "/"), refused.Fields[0].Detail)
}

func checkFact(name, text string, most int) error {
	if utf8.RuneCountInString(text) > most || strings.ContainsFunc(text, unicode.IsControl) {
		return fmt.Errorf("%s must have at most %d characters and no control characters", name, most)
	}
	return nil
}

func statesOf(space search.Space) []string {
	if space == search.PRs {
		return []string{StateOpen, StateClosed, StateMerged}
	}
	return []string{StateOpen, StateClosed}
}

// The states of issues and pull requests.
const (
	StateOpen   = "open"
	StateClosed = "closed"
	StateMerged = "merged"
)

func (i Item) input(sourceID, requestID string) document.Input {
	space, _ := spaceOf(i.SourceType)
	in := document.Input{Fields: document.Fields{CollectionID: sourceID, Title: i.Title, URI: i.URI, Metadata: i.Metadata}, Body: i.Body, RequestID: requestID,
		Match: func(int64) error { return nil }, Who: document.Anyone(), Created: i.CreatedAt, Listed: i.Listed, KeepContent: i.KeepBody, CheckKept: i.CheckKept,
		Facts: &document.Facts{Space: space, Author: i.Author, Assignees: i.Assignees, Project: i.Project, Number: i.Number,
			State: i.State, Labels: i.Labels, Comment: i.Comment, Changed: i.UpdatedAt, Closed: i.ClosedAt, Merged: i.MergedAt}}
	if i.File != nil {
		in.MediaType = i.File.MediaType
	}
	return in
}

// put stores one valid item.
func (s *Service) put(ctx context.Context, teamID, sourceID, requestID string, i Item) error {
	rules, err := s.Resolve(ctx, teamID, i.Access)
	if err != nil {
		return fmt.Errorf("resolve who may read: %w", err)
	}
	return s.putBy(ctx, teamID, sourceID, requestID, i, rules[0], nil)
}

// putBy stores one valid item, whose Access is rule, with write; nil: a plain Write.
func (s *Service) putBy(ctx context.Context, teamID, sourceID, requestID string, i Item, rule *access.Rule, write writer) error {
	in := i.input(sourceID, requestID)
	in.Access = rule
	in.Write = write
	_, _, err := s.Documents.Put(ctx, teamID, in)
	return err
}

// ClipTitle returns text as a title: on one line, cut if it is too long, never empty.
func ClipTitle(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	const most = 200
	if utf8.RuneCountInString(text) > most {
		text = string([]rune(text)[:most-1]) + "…"
	}
	if text == "" {
		return "Untitled"
	}
	return text
}
