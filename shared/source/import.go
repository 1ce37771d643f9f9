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

	"docent/shared/access"
	"docent/shared/apierr"
	"docent/shared/document"
	"docent/shared/filter"
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
	// AccessUnknown are names in access that nobody has yet, up to 100 of each kind.
	AccessUnknown *access.Names `json:"accessUnknown,omitempty"`
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
	rule   *access.Rule // the item's Access with its names resolved
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
	unknown, err := s.resolveAll(ctx, teamID, groups)
	if err != nil {
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
				err := s.putBy(gctx, teamID, sourceID, requestID, l.item, l.rule, event.write)
				mu.Lock()
				switch {
				case err == nil:
					accepted++
				case errors.Is(err, document.ErrOtherSource):
					faults = append(faults, LineError{l.number, otherSource})
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
	result := importResult(accepted, faults)
	result.AccessUnknown = unknown
	return result, nil
}

// maxUnknown bounds the unknown names that a result lists.
const maxUnknown = 100

// resolveAll resolves the names in the rules of all lines at once, and returns those
// that nobody has, each once, or nil.
func (s *Service) resolveAll(ctx context.Context, teamID string, groups [][]line) (*access.Names, error) {
	var names []*access.Names
	var with []*line
	for _, group := range groups {
		for i := range group {
			if l := &group[i]; l.item.Access != nil {
				names, with = append(names, l.item.Access), append(with, l)
			}
		}
	}
	if len(with) == 0 {
		return nil, nil
	}
	rules, err := s.Resolve(ctx, teamID, names...)
	if err != nil {
		return nil, fmt.Errorf("resolve who may read: %w", err)
	}
	unknown := &access.Names{Users: []string{}, Groups: []string{}}
	add := func(list *[]string, names []string) {
		for _, name := range names {
			if len(*list) < maxUnknown && !slices.Contains(*list, name) {
				*list = append(*list, name)
			}
		}
	}
	for i, l := range with {
		l.rule = rules[i]
		none := l.rule.Unresolved()
		add(&unknown.Users, none.Users)
		add(&unknown.Groups, none.Groups)
	}
	if len(unknown.Users)+len(unknown.Groups) == 0 {
		return nil, nil
	}
	return unknown, nil
}

func importResult(accepted int, faults []LineError) ImportResult {
	slices.SortFunc(faults, func(a, b LineError) int { return a.Line - b.Line })
	return ImportResult{Accepted: accepted, Rejected: len(faults), Errors: append([]LineError{}, faults[:min(len(faults), maxLineErrors)]...)}
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
		groups[i] = append(groups[i], line{number: number, item: item})
	}
	return groups, faults, nil
}

// lineLimits bounds the JSON of one item.
var lineLimits = jsoninput.Limits{Depth: 64, Values: 10_000, Members: 1000, Literal: 100}

var errNoObject = errors.New("is not a JSON object")

// parseItem parses one line. Its errors are for the sender and do not quote the line.
func parseItem(raw []byte) (Item, error) {
	if !utf8.Valid(raw) {
		return Item{}, errors.New("is not UTF-8")
	}
	if jsoninput.HasLoneSurrogate(raw) {
		return Item{}, errors.New(jsoninput.LoneSurrogate)
	}
	if _, err := jsoninput.Check(raw, lineLimits); err != nil {
		return Item{}, err
	}
	if !json.Valid(raw) {
		return Item{}, errors.New(jsoninput.Malformed(raw, json.Unmarshal(raw, new(any))))
	}
	if fault := jsoninput.RepeatedName(raw); fault != "" {
		return Item{}, errors.New(fault)
	}
	members, err := jsoninput.AllMembers(raw)
	if err != nil || members == nil {
		return Item{}, errNoObject
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
		if string(text) == "null" {
			return Item{}, fmt.Errorf("%s must be a text", name) // those of other types are optional
		}
		if err := decodeMember(text, member); err != nil {
			want := "a text"
			switch member.(type) {
			case *[]string:
				want = "a list of texts"
			case *time.Time:
				want = "a time in RFC 3339"
			case **access.Names:
				want = "an object with the lists users and groups"
			case *filter.Metadata:
				return Item{}, metadataFault(err)
			}
			return Item{}, fmt.Errorf("%s must be %s", name, want)
		}
	}
	i.State = strings.ToLower(i.State)
	return i, i.check()
}

// decodeMember decodes the text of a member of an item.
func decodeMember(text []byte, member any) error {
	if plain, ok := member.(*string); ok {
		if value, rest, ok := jsoninput.CutString(text); ok && len(rest) == 0 {
			*plain = value
			return nil
		}
	}
	if names, ok := member.(**access.Names); ok {
		var err error
		*names, err = access.DecodeNames(text)
		return err
	}
	at, isTime := member.(*time.Time)
	if !isTime {
		return jsoninput.Decode(text, member)
	}
	var given string
	err := json.Unmarshal(text, &given)
	if err == nil {
		*at, err = jsoninput.ParseTime(given)
	}
	return err
}

// Line returns i as a line of an import, without the line break.
func (i Item) Line() ([]byte, error) {
	return json.Marshal(i)
}
