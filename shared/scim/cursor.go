package scim

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"strings"

	"docent/shared/scim/protocol"
)

// binding ties cursors to a team and a query, so that those of others are rejected. It
// detects mistakes and need not be secret: a cursor gives access to nothing that its
// query does not.
type binding []byte

const sumBytes = 8

func bind(teamID string, q query, root bool, types []*protocol.ResourceType) binding {
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

// position is the form of a SortKey in a cursor.
type position struct {
	Value   string `json:"v,omitempty"`
	Missing bool   `json:"m,omitempty"`
	ID      string `json:"i"`
}

// write returns the cursor of the position after k.
func (b binding) write(k protocol.SortKey) string {
	text, _ := json.Marshal(position{k.Value, k.Missing, k.ID}) // cannot fail for texts
	return base64.RawURLEncoding.EncodeToString(append(b.sum(text), text...))
}

// read returns the position in a cursor. Its error is invalidCursor.
func (b binding) read(cursor string) (protocol.SortKey, error) {
	refused := protocol.Bad(protocol.InvalidCursor, "The cursor is damaged or does not belong to this list.")
	raw, err := base64.RawURLEncoding.Strict().DecodeString(cursor)
	if err != nil || len(raw) <= sumBytes {
		return protocol.SortKey{}, refused
	}
	text := raw[sumBytes:]
	var at position
	if string(b.sum(text)) != string(raw[:sumBytes]) || json.Unmarshal(text, &at) != nil {
		return protocol.SortKey{}, refused
	}
	return protocol.SortKey{Value: at.Value, Missing: at.Missing, ID: at.ID}, nil
}
