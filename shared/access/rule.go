// Package access decides who may read a document. A Rule names people and groups; a
// Reader is a caller with the rights to read. Reader.MayRead is the one function that decides; Tokens are the
// same decision in a form that an index can keep.
//
// A name of a rule is resolved to an id when the rule is written, if a user or group has it
// then. From that moment the rule means this id: a renamed user or group keeps what it
// may read, and who takes the old name gets nothing. A name that nobody had is kept as
// a name, and opens to whoever has it when something is read.
package access

import (
	"slices"

	"docent/shared/fold"
)

// MaxEntries bounds the users and groups of a rule together.
const MaxEntries = 200

// MaxName bounds the name of an entry, in Unicode code points: that of a userName.
const MaxName = 256

// MaxBytes bounds the names of a rule together, because it is stored several times.
const MaxBytes = 16 << 10

// Rule says who may read a document, besides team keys. A nil *Rule means that there is none. A rule
// without entries opens to no person.
type Rule struct {
	Users  []Entry `json:"users"`
	Groups []Entry `json:"groups"`
}

// Entry names a user or a group.
type Entry struct {
	Name string `json:"name"`         // as it was written
	ID   string `json:"id,omitempty"` // whom Name meant then; empty: nobody had it
}

// Token is one name by which a rule opens, or by which a reader is known: "u:" and a
// user's id, "g:" and a group's id, "U:" and a folded userName or id, or "G:" and a
// folded displayName, externalId or id.
type Token string

func userID(id string) Token      { return Token("u:" + id) }
func groupID(id string) Token     { return Token("g:" + id) }
func userName(name string) Token  { return Token("U:" + fold.Text(name)) }
func groupName(name string) Token { return Token("G:" + fold.Text(name)) }

// Tokens returns the tokens that open r, sorted and distinct: of each entry its id, or
// its name if it has no id. They are nil for no rule and empty for a rule without
// entries.
func (r *Rule) Tokens() []Token {
	if r == nil {
		return nil
	}
	tokens := make([]Token, 0, len(r.Users)+len(r.Groups))
	for _, e := range r.Users {
		tokens = append(tokens, userToken(e))
	}
	for _, e := range r.Groups {
		tokens = append(tokens, groupToken(e))
	}
	slices.Sort(tokens)
	return slices.Compact(tokens)
}

func userToken(e Entry) Token {
	if e.ID != "" {
		return userID(e.ID)
	}
	return userName(e.Name)
}

func groupToken(e Entry) Token {
	if e.ID != "" {
		return groupID(e.ID)
	}
	return groupName(e.Name)
}

// Equal reports whether r and other are written alike and mean the same people. No
// rule equals only no rule.
func (r *Rule) Equal(other *Rule) bool {
	if r == nil || other == nil {
		return r == other
	}
	return slices.Equal(r.Users, other.Users) && slices.Equal(r.Groups, other.Groups)
}

// Repeating returns r, written in place of old, with the ids that old has for the same names, in any
// case and Unicode normal form. So writing a rule again, as programs do every night, moves no right to another user who took the
// name of another in the meantime. What old has no id for keeps what it means in r.
func (r *Rule) Repeating(old *Rule) *Rule {
	if r == nil || old == nil {
		return r
	}
	return &Rule{Users: repeating(r.Users, old.Users), Groups: repeating(r.Groups, old.Groups)}
}

func repeating(entries, old []Entry) []Entry {
	ids := map[string]string{} // by folded name
	for _, o := range slices.Backward(old) {
		if o.ID != "" {
			ids[fold.Composed(o.Name)] = o.ID
		}
	}
	out := slices.Clone(entries)
	for i, e := range out {
		if id, ok := ids[fold.Composed(e.Name)]; ok {
			out[i].ID = id
		}
	}
	return out
}
