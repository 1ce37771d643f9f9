package put

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"docent/client"
)

// Summary is the result of a run.
type Summary struct {
	CollectionID string         `json:"collectionId"` // empty when a dry run would create it
	Put          int            `json:"put"`
	Unchanged    int            `json:"unchanged"`
	Skipped      int            `json:"skipped"`                // files of other kinds
	SkippedTypes map[string]int `json:"skippedTypes,omitempty"` // how many of them, by the extension, which may be empty
	Deleted      int            `json:"deleted"`
	Failed       int            `json:"failed"`
	Failures     []Failure      `json:"failures"`
	Seconds      float64        `json:"seconds"`
	DryRun       bool           `json:"dryRun,omitempty"`
	Planned      []Planned      `json:"planned,omitempty"` // of a dry run
}

// Failure is a file, or the URI of a document, and the reason why it failed.
type Failure struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// Planned is the change that a run would make to the document at a URI.
type Planned struct {
	Action string `json:"action"` // put or delete
	URI    string `json:"uri"`
}

func (s *Summary) fail(path string, err error) {
	s.Failed++
	s.Failures = append(s.Failures, Failure{Path: path, Reason: err.Error()})
}

func (s *Summary) plan(action, uri string) {
	s.Planned = append(s.Planned, Planned{Action: action, URI: uri})
}

func (s *Summary) finish(took time.Duration) {
	s.Seconds = math.Round(took.Seconds()*10) / 10
	if s.Failures == nil {
		s.Failures = []Failure{} // an empty list in JSON, not null
	}
	slices.SortStableFunc(s.Failures, func(a, b Failure) int { return cmp.Compare(a.Path, b.Path) })
	slices.SortFunc(s.Planned, func(a, b Planned) int {
		return cmp.Or(-cmp.Compare(a.Action, b.Action), cmp.Compare(a.URI, b.URI))
	})
}

// oneLine escapes line breaks and tabs, so that the name of a file cannot look like another line of the summary.
var oneLine = strings.NewReplacer("\n", "\\n", "\t", "\\t")

// Print writes the summary for a person: the plan of a dry run, the counts in one line, and each failure.
func (s Summary) Print(w io.Writer) error {
	out := func(format string, args ...any) (err error) {
		_, err = io.WriteString(w, client.Printable(fmt.Sprintf(format, args...)))
		return err
	}
	for _, p := range s.Planned {
		if err := out("would %s %s\n", p.Action, p.URI); err != nil {
			return err
		}
	}
	put := "put"
	if s.DryRun {
		put = "to put"
	}
	line := fmt.Sprintf("%d %s, %d unchanged, %d skipped, %d failed", s.Put, put, s.Unchanged, s.Skipped, s.Failed)
	if s.Deleted > 0 {
		line += fmt.Sprintf(", %d deleted", s.Deleted)
		if s.DryRun {
			line = line[:len(line)-len("deleted")] + "to delete"
		}
	}
	if err := out("%s in %.1f s\n", line, s.Seconds); err != nil {
		return err
	}
	if len(s.SkippedTypes) > 0 {
		if err := out("skipped: %s\n", oneLine.Replace(s.skipped())); err != nil {
			return err
		}
	}
	for _, f := range s.Failures {
		if err := out("failed: %s: %s\n", oneLine.Replace(f.Path), f.Reason); err != nil {
			return err
		}
	}
	return nil
}

// maxTypes bounds how many kinds of skipped files are named.
const maxTypes = 10

// skipped names the kinds of files that were skipped, the most frequent first.
func (s Summary) skipped() string {
	extensions := slices.SortedFunc(maps.Keys(s.SkippedTypes), func(a, b string) int {
		return cmp.Or(cmp.Compare(s.SkippedTypes[b], s.SkippedTypes[a]), cmp.Compare(a, b))
	})
	var kinds []string
	for _, extension := range extensions[:min(len(extensions), maxTypes)] {
		kinds = append(kinds, fmt.Sprintf("%d %s", s.SkippedTypes[extension], cmp.Or(extension, "without an extension")))
	}
	if len(extensions) > maxTypes {
		kinds = append(kinds, "and other types")
	}
	return strings.Join(kinds, ", ")
}
