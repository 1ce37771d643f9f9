package audit

import (
	"crypto/sha256"
	"encoding/binary"
	"math/bits"
	"strings"
)

const (
	idPrefix = "evt_"
	idDigits = 26
	// crockford is Crockford's base32: 26 digits are two zero bits and 128 bits.
	crockford = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
)

// teamMark returns the part of an event's id that identifies its team.
func teamMark(teamID string) uint64 {
	sum := sha256.Sum256([]byte(teamID))
	return binary.BigEndian.Uint64(sum[:8])
}

// ID returns the id of an event. The ids of a team sort in the order of its feed.
func (e Event) ID() string { return eventID(e.TeamID, e.Sequence) }

func eventID(teamID string, n int64) string {
	hi, lo := teamMark(teamID), uint64(n)
	var digits [idDigits]byte
	for i := idDigits - 1; i >= 0; i-- {
		digits[i] = crockford[lo&31]
		lo = lo>>5 | hi<<59
		hi >>= 5
	}
	return idPrefix + string(digits[:])
}

// sequenceOf returns the number in an id, or false if it is not the id of an event of the team.
func sequenceOf(teamID, id string) (int64, bool) {
	digits, ok := strings.CutPrefix(id, idPrefix)
	if !ok || len(digits) != idDigits || digits[0] > '7' {
		return 0, false
	}
	var hi, lo uint64
	for i := range idDigits {
		value := strings.IndexByte(crockford, digits[i])
		if value < 0 {
			return 0, false
		}
		hi = hi<<5 | lo>>59
		lo = lo<<5 | uint64(value)
	}
	if hi != teamMark(teamID) || lo == 0 || bits.Len64(lo) > 63 {
		return 0, false
	}
	return int64(lo), true
}
