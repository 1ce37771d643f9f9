package scim

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"strings"
)

// binding ties cursors to a team and a query, so that one of another is refused.
// It finds mistakes; it is no seal, since a cursor reaches nothing that its query
// does not.
type binding []byte

const sumBytes = 8

func bind(teamID string, q query, root bool, types []*resourceType) binding {
	parts := []string{teamID, q.filter, q.sortBy, strings.ToLower(q.sortOrder)}
	for _, t := range types {
		parts = append(parts, t.Name)
	}
	if root {
		parts = append(parts, "root")
	}
	text, _ := json.Marshal(parts) // texts always encode
	return text
}

func (b binding) sum(position []byte) []byte {
	sum := sha256.Sum256(append(append([]byte{}, b...), position...))
	return sum[:sumBytes]
}

// position is the form of a sortKey in a cursor.
type position struct {
	Value   string `json:"v,omitempty"`
	Missing bool   `json:"m,omitempty"`
	ID      string `json:"i"`
}

// write returns the cursor to what follows the resource at k.
func (b binding) write(k sortKey) string {
	text, _ := json.Marshal(position{k.value, k.missing, k.id}) // cannot fail for texts
	return base64.RawURLEncoding.EncodeToString(append(b.sum(text), text...))
}

// read returns the place that a cursor names, or invalidCursor.
func (b binding) read(cursor string) (sortKey, error) {
	refused := bad(invalidCursor, "The cursor is damaged, or not one of this list.")
	raw, err := base64.RawURLEncoding.Strict().DecodeString(cursor)
	if err != nil || len(raw) <= sumBytes {
		return sortKey{}, refused
	}
	text := raw[sumBytes:]
	var at position
	if string(b.sum(text)) != string(raw[:sumBytes]) || json.Unmarshal(text, &at) != nil {
		return sortKey{}, refused
	}
	return sortKey{value: at.Value, missing: at.Missing, id: at.ID}, nil
}
