package httpapi

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"docent/shared/apierr"
	"docent/shared/table"
)

// PageParams are the parameters of every list.
type PageParams struct {
	Limit  int    `query:"limit" minimum:"1" maximum:"200" default:"100" doc:"Items a page."`
	After  string `query:"after" maxLength:"10000" doc:"Cursor: the page after it."`
	Before string `query:"before" maxLength:"10000" doc:"Cursor: the page before it."`
}

// window returns the window that p asks for. A cursor is a position in one list of one
// team, for both directions.
func (p PageParams) window(teamID, list string) (table.Window, error) {
	w := table.Window{Limit: p.Limit}
	if p.After != "" && p.Before != "" {
		return w, apierr.BadField("/query/before", "must not be combined with after")
	}
	var err error
	if p.After != "" {
		w.After, err = decodeCursor(teamID, list, p.After)
	} else if p.Before != "" {
		w.Before, err = decodeCursor(teamID, list, p.Before)
	}
	return w, err
}

// cursorSum is the length of the checksum in a cursor. It binds the cursor to its team
// and list, so that a damaged or foreign one is refused.
const cursorSum = 8

func encodeCursor(teamID, list, position string) string {
	return base64.RawURLEncoding.EncodeToString(append(sumOf(teamID, list, position), position...))
}

func decodeCursor(teamID, list, cursor string) (string, error) {
	refused := apierr.New(apierr.Invalid, apierr.CodeInvalidCursor, "The cursor does not belong to this list.")
	raw, err := base64.RawURLEncoding.Strict().DecodeString(cursor)
	if err != nil || base64.RawURLEncoding.EncodeToString(raw) != cursor || len(raw) <= cursorSum || len(raw) > table.MaxSortBytes {
		return "", refused
	}
	position := string(raw[cursorSum:])
	at := table.Key{Table: list, Partition: teamID, Sort: position}
	if at.Check() != nil || string(sumOf(teamID, list, position)) != string(raw[:cursorSum]) {
		return "", refused
	}
	return position, nil
}

func sumOf(teamID, list, position string) []byte {
	sum := sha256.Sum256([]byte(teamID + "\x00" + list + "\x00" + position))
	return sum[:cursorSum]
}

// linkHeader returns the Link header (RFC 8288) to the neighbours of a page, empty if
// there are none. Its URLs start with base; filter are the list's own parameters.
func linkHeader[T any](base, teamID, list string, limit int, filter url.Values, s table.Slice[T]) string {
	var links []string
	add := func(rel, parameter, position string) {
		query := url.Values{"limit": {strconv.Itoa(limit)}, parameter: {encodeCursor(teamID, list, position)}}
		for name, values := range filter {
			query[name] = values
		}
		links = append(links, fmt.Sprintf("<%s/%s?%s>; rel=%q", base, list, query.Encode(), rel))
	}
	if s.Prev && s.First != "" {
		add("prev", "before", s.First)
	}
	if s.Next && s.Last != "" {
		add("next", "after", s.Last)
	}
	return strings.Join(links, ", ")
}
