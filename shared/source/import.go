package source

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"golang.org/x/sync/errgroup"

	"docent/shared/apierr"
	"docent/shared/document"
	"docent/shared/jsoninput"
	"docent/shared/memory"
)

// Bounds of an import.
const (
	MaxLines        = 1000 // items of one import, so that it fits a function's timeout
	maxLineErrors   = 100  // listed in the result
	parallelImports = 16
)

// ImportResult is the result of an import.
type ImportResult struct {
	Accepted int         `json:"accepted"`
	Rejected int         `json:"rejected"`
	Errors   []LineError `json:"errors"`
}

// LineError says why a line was rejected. The first line has number 1.
type LineError struct {
	Line   int    `json:"line"`
	Detail string `json:"detail"`
}

// line is one line of an import.
type line struct {
	number int
	item   Item
}

// Import stores the items of JSON Lines. A faulty line does not affect the others.
// An item that is older than the stored one is accepted and changes nothing, so an
// import can be repeated after any failure. An import that changes anything records
// one event, together with the first changed item.
func (s *Service) Import(ctx context.Context, teamID, sourceID, requestID string, lines []byte) (ImportResult, error) {
	source, err := s.get(ctx, teamID, sourceID)
	if err != nil {
		return ImportResult{}, err
	}
	groups, faults, err := parseLines(lines)
	if err != nil {
		return ImportResult{}, err
	}
	if len(groups) == 0 {
		return importResult(0, faults), nil
	}
	if err := memory.WaitWrites(ctx); err != nil {
		return ImportResult{}, err
	}
	event := s.newImportEvent(teamID, sourceFrom(source), groups, faults)
	var mu sync.Mutex
	accepted := 0
	work, gctx := errgroup.WithContext(ctx)
	work.SetLimit(parallelImports)
	for _, group := range groups {
		work.Go(func() error {
			for _, l := range group { // all with the same uri, in order
				err := s.putBy(gctx, teamID, sourceID, requestID, l.item, event.write)
				mu.Lock()
				switch {
				case err == nil:
					accepted++
				case errors.Is(err, document.ErrOtherSource):
					faults = append(faults, LineError{l.number, "uri belongs to a document or to an item of another data source"})
				}
				mu.Unlock()
				if err != nil && !errors.Is(err, document.ErrOtherSource) {
					return fmt.Errorf("store line %d: %w", l.number, err)
				}
			}
			return nil
		})
	}
	if err := work.Wait(); err != nil {
		if apierr.IsCode(err, apierr.CodeNotFound) {
			return ImportResult{}, Missing() // deleted during the import
		}
		return ImportResult{}, err
	}
	if accepted > 0 {
		if err := s.recordSync(ctx, teamID, sourceID); err != nil {
			return ImportResult{}, err
		}
	}
	return importResult(accepted, faults), nil
}

func importResult(accepted int, faults []LineError) ImportResult {
	slices.SortFunc(faults, func(a, b LineError) int { return a.Line - b.Line })
	return ImportResult{accepted, len(faults), append([]LineError{}, faults[:min(len(faults), maxLineErrors)]...)}
}

// parseLines parses JSON Lines into groups of items with the same uri, and returns
// an error for each faulty line. It ignores blank lines.
func parseLines(text []byte) (groups [][]line, faults []LineError, err error) {
	at := map[string]int{}
	number, items := 0, 0
	for raw := range bytes.SplitSeq(text, []byte("\n")) {
		number++
		if len(bytes.TrimSpace(raw)) == 0 {
			continue
		}
		if items++; items > MaxLines {
			return nil, nil, apierr.New(apierr.Invalid, apierr.CodeInvalidRequest, "An import may have at most %d lines. Send the rest in another one.", MaxLines)
		}
		item, err := parseItem(raw)
		if err != nil {
			faults = append(faults, LineError{number, err.Error()})
			continue
		}
		i, ok := at[item.URI]
		if !ok {
			i = len(groups)
			at[item.URI], groups = i, append(groups, nil)
		}
		groups[i] = append(groups[i], line{number, item})
	}
	return groups, faults, nil
}

// lineLimits bounds the JSON of one item.
var lineLimits = jsoninput.Limits{Depth: 64, Values: 10_000, Members: 1000, Literal: 100}

// parseItem parses one line. Its errors are for the sender and do not quote the line.
func parseItem(raw []byte) (Item, error) {
	var members map[string]json.RawMessage
	if !utf8.Valid(raw) {
		return Item{}, errors.New("is not UTF-8")
	}
	if _, err := jsoninput.Check(raw, lineLimits); err != nil {
		return Item{}, err
	}
	if err := json.Unmarshal(raw, &members); err != nil || members == nil {
		return Item{}, errors.New("is not a JSON object")
	}
	var i Item
	item := reflect.ValueOf(&i).Elem()
	for _, field := range reflect.VisibleFields(item.Type()) {
		name, optional, _ := strings.Cut(field.Tag.Get("json"), ",")
		text, ok := members[name]
		switch {
		case name == "-" || optional != "" && (!ok || string(text) == "null"):
			continue
		case !ok:
			return Item{}, fmt.Errorf("%s is missing", name)
		}
		member := item.FieldByIndex(field.Index).Addr().Interface()
		if string(text) == "null" || json.Unmarshal(text, member) != nil {
			want := "a text"
			switch member.(type) {
			case *[]string:
				want = "a list of texts"
			case *time.Time:
				want = "a time in RFC 3339"
			}
			return Item{}, fmt.Errorf("%s must be %s", name, want)
		}
	}
	i.State = strings.ToLower(i.State)
	return i, i.check()
}

// Line returns i as a line of an import, without the line break.
func (i Item) Line() ([]byte, error) {
	return json.Marshal(i)
}
