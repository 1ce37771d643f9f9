package team

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"docent/shared/table"
)

// UserRecord is a stored user whose attributes are not decoded. Reading it takes a tenth of the
// time of a Profile.
type UserRecord struct {
	ID         string
	CreatedAt  time.Time
	ModifiedAt time.Time
	Version    int64
	attributes json.RawMessage
}

// Attributes calls do with the name and the JSON value of each attribute. Both are valid only
// during the call.
func (r UserRecord) Attributes(do func(name, value []byte)) error {
	if err := eachMember(r.attributes, do); err != nil {
		return fmt.Errorf("decode the attributes of user %s: %w: %w", r.ID, errDamaged, err)
	}
	return nil
}

// Record returns p as a UserRecord.
func (p Profile) Record() UserRecord {
	return UserRecord{ID: p.ID, CreatedAt: p.CreatedAt, ModifiedAt: p.ModifiedAt, Version: p.Version, attributes: p.Attributes}
}

func recordOf(item table.Item) (UserRecord, error) {
	r := UserRecord{ID: item.Sort, Version: item.Version}
	var timeErr error
	at := func(to *time.Time, value []byte) {
		if err := to.UnmarshalJSON(value); err != nil {
			timeErr = err
		}
	}
	err := eachMember(item.Body, func(name, value []byte) {
		switch string(name) {
		case "createdAt":
			at(&r.CreatedAt, value)
		case "modifiedAt":
			at(&r.ModifiedAt, value)
		case "attributes":
			r.attributes = value
		}
	})
	if err == nil {
		err = timeErr
	}
	if err != nil {
		return r, fmt.Errorf("decode user %s: %w: %w", item.Sort, errDamaged, err)
	}
	return r, nil
}

// SelectUsers returns what pick returns for the team's users, in the order of their ids, which
// is the order of creation. After the first page it reads from both ends in parallel until they
// meet. So two goroutines call pick, which must not keep the record. Two pages of at most 1 MB
// each are in memory at a time.
func SelectUsers[T any](ctx context.Context, s *Service, teamID string, pick func(UserRecord) (T, bool, error)) ([]T, error) {
	q := table.Query{Table: table.Identities, Partition: teamID + "/users"}
	page, err := s.Table.Query(ctx, q)
	if err != nil {
		return nil, fmt.Errorf("list users: %w", err)
	}
	low, err := pickFrom(page.Items, pick)
	var high []T // from the last user down
	for left := page.Cursor != "" && len(page.Items) > 0; left && err == nil; {
		q.From = keyAfter(page.Items[len(page.Items)-1].Sort)
		var up, down table.Page
		if up, down, err = s.bothEnds(ctx, q); err != nil {
			break
		}
		if left = up.Cursor != "" && down.Cursor != ""; left {
			page, q.To = up, keyBefore(down.Items[len(down.Items)-1].Sort)
		}
		var work errgroup.Group
		var lower, upper []T
		work.Go(func() (err error) { lower, err = pickFrom(up.Items, pick); return err })
		work.Go(func() (err error) { upper, err = pickFrom(down.Items, pick); return err })
		err = work.Wait()
		low, high = append(low, lower...), append(high, upper...)
	}
	slices.Reverse(high)
	return append(low, high...), err
}

// bothEnds reads a page from each end of what q selects. No item is in both pages. If there are
// items between them, both have a cursor.
func (s *Service) bothEnds(ctx context.Context, q table.Query) (up, down table.Page, err error) {
	work, ctx := errgroup.WithContext(ctx)
	work.Go(func() (err error) { up, err = s.Table.Query(ctx, q); return err })
	work.Go(func() (err error) {
		backward := q
		backward.Descending = true
		down, err = s.Table.Query(ctx, backward)
		return err
	})
	if err := work.Wait(); err != nil {
		return up, down, fmt.Errorf("list users: %w", err)
	}
	switch {
	case up.Cursor == "" || len(up.Items) == 0:
		down = table.Page{}
	case down.Cursor == "" || len(down.Items) == 0:
		up = table.Page{}
	default:
		last := up.Items[len(up.Items)-1].Sort
		if met := slices.IndexFunc(down.Items, func(i table.Item) bool { return i.Sort <= last }); met >= 0 {
			down = table.Page{Items: down.Items[:met]}
		}
	}
	return up, down, nil
}

// keyAfter returns a key after id and before every greater id.
func keyAfter(id string) string { return id + "\x01" }

// keyBefore returns a key before id and after every smaller id. All ids have the same length
// and are ASCII.
func keyBefore(id string) string {
	end := len(id) - 1
	return id[:end] + string(rune(id[end]-1)) + "~"
}

func pickFrom[T any](items []table.Item, pick func(UserRecord) (T, bool, error)) ([]T, error) {
	var out []T
	for _, item := range items {
		r, err := recordOf(item)
		if err != nil {
			return nil, err
		}
		picked, ok, err := pick(r)
		if err != nil {
			return nil, err
		}
		if ok {
			out = append(out, picked)
		}
	}
	return out, nil
}

// UserName is the id and the folded name of a user.
type UserName struct{ ID, Folded string }

// UserNames returns the names of all users of the team in the order of the ids. It reads less
// than SelectUsers, because names are separate items.
func (s *Service) UserNames(ctx context.Context, teamID string) ([]UserName, error) {
	var names []UserName
	q := table.Query{Table: table.Identities, Partition: userNamesPartition(teamID)}
	for item, err := range table.All(ctx, s.Table, q) {
		if err != nil {
			return nil, fmt.Errorf("list user names: %w", err)
		}
		names = append(names, UserName{item.Strings[userField], item.Sort})
	}
	slices.SortFunc(names, func(a, b UserName) int { return strings.Compare(a.ID, b.ID) })
	// A user renamed during the read may appear twice.
	return slices.CompactFunc(names, func(a, b UserName) bool { return a.ID == b.ID }), nil
}

// eachMember calls do with the name and the value of each member of a JSON object, without
// decoding them. It finds only some faults: this program encoded the object.
func eachMember(object []byte, do func(name, value []byte)) error {
	s := skimmer{rest: bytes.TrimSpace(object)}
	s.expect('{')
	for more := s.next() != '}'; more && !s.bad; {
		name := s.value()
		s.expect(':')
		value := s.value()
		if s.bad || len(name) < 2 || name[0] != '"' {
			return errNotAnObject
		}
		do(name[1:len(name)-1], value)
		if more = s.next() == ','; more {
			s.expect(',')
		}
	}
	if s.expect('}'); s.bad || len(s.rest) > 0 {
		return errNotAnObject
	}
	return nil
}

var errNotAnObject = errors.New("not a JSON object")

// skimmer reads tokens and whole values of JSON text. bad is set after an error.
type skimmer struct {
	rest []byte
	bad  bool
}

// next returns the next byte that is not white space, or 0 at the end.
func (s *skimmer) next() byte {
	for len(s.rest) > 0 {
		switch s.rest[0] {
		case ' ', '\t', '\r', '\n':
			s.rest = s.rest[1:]
		default:
			return s.rest[0]
		}
	}
	return 0
}

func (s *skimmer) expect(c byte) {
	if s.next() != c {
		s.bad, s.rest = true, nil
		return
	}
	s.rest = s.rest[1:]
}

// value reads the next value.
func (s *skimmer) value() []byte {
	s.next()
	depth := 0
	for i := 0; i < len(s.rest); i++ {
		switch s.rest[i] {
		case '"':
			if i = closingQuote(s.rest, i); i == len(s.rest) {
				return s.fail()
			}
			if depth == 0 {
				return s.cut(i + 1)
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return s.cut(i)
			}
			if depth--; depth == 0 {
				return s.cut(i + 1)
			}
		case ',', ':', ' ', '\t', '\r', '\n':
			if depth == 0 {
				return s.cut(i)
			}
		}
	}
	return s.fail()
}

// closingQuote returns the position of the quote that ends the string at start, or the length
// of text.
func closingQuote(text []byte, start int) int {
	for i := start + 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return len(text)
}

func (s *skimmer) cut(length int) []byte {
	if length == 0 {
		return s.fail()
	}
	value := s.rest[:length]
	s.rest = s.rest[length:]
	return value
}

func (s *skimmer) fail() []byte {
	s.bad, s.rest = true, nil
	return nil
}
