package audit

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"time"

	"docent/shared/apierr"
	"docent/shared/table"
)

// cursorState is the content of a cursor: the position and the query.
type cursorState struct {
	at      int64 // the last number read; when reading downwards, the lowest
	end     int64 // upwards: the last number to read, if bounded
	low     int64 // downwards: the numbers up to it are not read
	made    int64 // when end was fixed, in Unix milliseconds
	bounded bool
	down    bool
	filter  [filterSum]byte
}

const (
	cursorFormat = 1
	filterSum    = 8
	plainBytes   = 2 + 4*8 + filterSum
	macBytes     = 16
)

// sealed returns the state as a cursor of the team's feed.
func (p cursorState) sealed(key []byte, teamID string) string {
	raw := make([]byte, 2, plainBytes+macBytes)
	raw[0] = cursorFormat
	if p.bounded {
		raw[1] |= 1
	}
	if p.down {
		raw[1] |= 2
	}
	for _, n := range []int64{p.at, p.end, p.low, p.made} {
		raw = binary.BigEndian.AppendUint64(raw, uint64(n))
	}
	raw = append(raw, p.filter[:]...)
	return base64.RawURLEncoding.EncodeToString(append(raw, seal(key, teamID, raw)...))
}

func seal(key []byte, teamID string, raw []byte) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(teamID + "\x00"))
	mac.Write(raw)
	return mac.Sum(nil)[:macBytes]
}

func badCursor() error {
	return apierr.New(apierr.Invalid, apierr.CodeInvalidCursor, "The cursor does not belong to this feed with these filters.")
}

// unsealed decodes a cursor that sealed made with the same key for the same team.
func unsealed(key []byte, teamID, cursor string) (cursorState, error) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(cursor)
	if err != nil || len(raw) != plainBytes+macBytes || raw[0] != cursorFormat {
		return cursorState{}, badCursor()
	}
	plain := raw[:plainBytes]
	if !hmac.Equal(seal(key, teamID, plain), raw[plainBytes:]) {
		return cursorState{}, badCursor()
	}
	p := cursorState{bounded: raw[1]&1 != 0, down: raw[1]&2 != 0}
	for i, n := range []*int64{&p.at, &p.end, &p.low, &p.made} {
		*n = int64(binary.BigEndian.Uint64(plain[2+8*i:]))
	}
	copy(p.filter[:], plain[2+4*8:])
	if min(p.at, p.end, p.low) < 0 || p.down && (!p.bounded || p.at > p.end+1) {
		return cursorState{}, badCursor() // sealed by a faulty program
	}
	return p, nil
}

// secret is the key that seals the cursors of this installation. It is stored in the table, so
// that all processes share it, and cached.
type secret struct {
	mu  sync.Mutex
	key []byte
}

const secretBytes = 32

func (l *Log) cursorKey(ctx context.Context) ([]byte, error) {
	l.secret.mu.Lock()
	defer l.secret.mu.Unlock()
	if l.secret.key != nil {
		return l.secret.key, nil
	}
	at := table.Key{Table: table.Events, Partition: "secret", Sort: "cursor"}
	item, err := l.Table.Get(ctx, at)
	if errors.Is(err, table.ErrNotFound) {
		fresh := make([]byte, secretBytes)
		_, _ = rand.Read(fresh) // it never fails
		item = table.Item{Key: at, Version: 1, Body: fresh}
		err = l.Table.Write(ctx, table.Put{Item: item, If: table.Absent()})
		if failed := table.AsConditionFailed(err); failed != nil && failed.Item != nil {
			item, err = *failed.Item, nil // another process was first
		}
	}
	if err != nil {
		return nil, fmt.Errorf("read the cursor key: %w", err)
	}
	l.secret.key = item.Body
	return l.secret.key, nil
}

// ExpiredError is returned for a cursor whose events are past retention. It unwraps to an
// *apierr.Error of kind Gone with code cursor-expired.
type ExpiredError struct {
	Oldest string // the cursor of the oldest stored event, with the same filters
}

func (e *ExpiredError) Error() string { return "the cursor is past retention" }

// Unwrap returns the error for the client.
func (e *ExpiredError) Unwrap() error {
	return apierr.New(apierr.Gone, apierr.CodeCursorExpired,
		"Events are kept for %d days; some after this cursor have expired. Continue from oldestCursor.", Retention/(24*time.Hour))
}
