package access

import (
	"slices"

	"docent/shared/fold"
)

// Reader is a caller with the rights to read. The zero Reader reads nothing.
type Reader struct {
	all    bool
	userID string  // empty: nobody, or everything
	tokens []Token // sorted, distinct
}

// Group is a group that a person is a member of.
type Group struct {
	ID          string
	DisplayName string
	ExternalID  string // empty: none
}

// Everything returns the Reader of a team key that acts for nobody: it reads what any
// rule keeps from people.
func Everything() Reader { return Reader{all: true} }

// Person returns the Reader of a user who is a member of groups at this moment. An
// administrator is a person too. Without a userID it returns the zero Reader.
func Person(id, name string, groups []Group) Reader {
	if id == "" {
		return Reader{}
	}
	tokens := make([]Token, 0, 3+4*len(groups))
	tokens = append(tokens, userID(id), userName(id))
	if name != "" {
		for _, form := range fold.Forms(name) { // a rule may spell the name otherwise
			tokens = append(tokens, "U:"+Token(form))
		}
	}
	for _, g := range groups {
		if g.ID == "" {
			continue
		}
		tokens = append(tokens, groupID(g.ID), groupName(g.ID))
		if g.DisplayName != "" {
			for _, form := range fold.Forms(g.DisplayName) {
				tokens = append(tokens, "G:"+Token(form))
			}
		}
		if g.ExternalID != "" {
			tokens = append(tokens, groupName(g.ExternalID))
		}
	}
	slices.Sort(tokens)
	return Reader{userID: id, tokens: slices.Compact(tokens)}
}

// All reports whether r reads everything, whatever the rules say.
func (r Reader) All() bool { return r.all }

// UserID returns the id of the person that r is, or "".
func (r Reader) UserID() string { return r.userID }

// Tokens returns the names by which rules may open to r, sorted and distinct. A Reader
// of everything has none. The caller must not change them.
func (r Reader) Tokens() []Token { return r.tokens }

// MayRead reports whether r may read a document with the rule own. Without one,
// byDefault decides, the rule of the document's source; without both, every Reader but
// the zero one reads it.
func (r Reader) MayRead(own, byDefault *Rule) bool {
	if r.all {
		return true
	}
	if r.userID == "" {
		return false
	}
	rule := own
	if rule == nil {
		rule = byDefault
	}
	if rule == nil {
		return true
	}
	return slices.ContainsFunc(rule.Users, func(e Entry) bool { return r.is(userToken(e)) }) ||
		slices.ContainsFunc(rule.Groups, func(e Entry) bool { return r.is(groupToken(e)) })
}

// Within reports whether every rule that opens to r opens to other, too.
func (r Reader) Within(other Reader) bool {
	if r.all || other.all {
		return other.all
	}
	return r.userID == "" || r.userID == other.userID && !slices.ContainsFunc(r.tokens, func(t Token) bool { return !other.is(t) })
}

// is reports whether r is known by token.
func (r Reader) is(token Token) bool {
	_, found := slices.BinarySearch(r.tokens, token)
	return found
}

// By returns the entries of rule that open to r, none if no entry does. A Reader of
// everything needs none.
func (r Reader) By(rule *Rule) Rule {
	var by Rule
	if rule == nil {
		return by
	}
	for _, e := range rule.Users {
		if r.is(userToken(e)) {
			by.Users = append(by.Users, e)
		}
	}
	for _, e := range rule.Groups {
		if r.is(groupToken(e)) {
			by.Groups = append(by.Groups, e)
		}
	}
	return by
}
