package table

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
)

const (
	cursorFormat   = 1
	cursorSumBytes = 12
)

// CursorAt returns the cursor that continues q after the item under sort.
func (q Query) CursorAt(sort string) string {
	raw := append([]byte{cursorFormat}, q.sum(sort)...)
	return base64.RawURLEncoding.EncodeToString(append(raw, sort...))
}

// After returns the sort key after which q continues, empty for its start. It
// returns ErrInvalid for a damaged cursor and for one of another table, partition,
// range or direction.
func (q Query) After() (sort string, err error) {
	if q.Cursor == "" {
		return "", nil
	}
	raw, err := base64.RawURLEncoding.DecodeString(q.Cursor)
	if err != nil || len(raw) <= 1+cursorSumBytes {
		return "", fmt.Errorf("%w: damaged cursor", ErrInvalid)
	}
	sort = string(raw[1+cursorSumBytes:])
	if q.CursorAt(sort) != q.Cursor {
		return "", fmt.Errorf("%w: damaged cursor or cursor of another query", ErrInvalid)
	}
	return sort, nil
}

// sum binds a cursor to its query. It detects mistakes, not forgery: a forged cursor cannot
// read anything outside its query.
func (q Query) sum(sort string) []byte {
	direction := "up"
	if q.Descending {
		direction = "down"
	}
	var text []byte
	for _, part := range []string{q.Table, q.Partition, q.Prefix, q.From, q.To, direction, sort} {
		text = binary.AppendUvarint(text, uint64(len(part)))
		text = append(text, part...)
	}
	sum := sha256.Sum256(text)
	return sum[:cursorSumBytes]
}
