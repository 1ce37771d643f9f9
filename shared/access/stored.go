package access

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Encode returns the stored form of r, "" for no rule.
func (r *Rule) Encode() string {
	if r == nil {
		return ""
	}
	encoded, err := json.Marshal(r)
	if err != nil {
		panic(err) // strings always encode
	}
	return string(encoded)
}

// Decode returns the rule that Encode encoded. What cannot be decoded opens to no
// person: a damaged rule must not become no rule.
func Decode(stored string) *Rule {
	if stored == "" {
		return nil
	}
	r := new(Rule)
	if err := json.Unmarshal([]byte(stored), r); err != nil {
		return new(Rule)
	}
	return r
}

// Names is a rule as requests, replies and events write it.
type Names struct {
	Users  []string `json:"users"`
	Groups []string `json:"groups"`
}

// Names returns r as it was written, nil for no rule.
func (r *Rule) Names() *Names {
	if r == nil {
		return nil
	}
	return &Names{Users: names(r.Users), Groups: names(r.Groups)}
}

func names(entries []Entry) []string {
	written := make([]string, len(entries))
	for i, e := range entries {
		written[i] = e.Name
	}
	return written
}

// Unresolved returns the names of r that nobody had when it was written.
func (r *Rule) Unresolved() Names {
	var unknown Names
	if r == nil {
		return unknown
	}
	for _, e := range r.Users {
		if e.ID == "" {
			unknown.Users = append(unknown.Users, e.Name)
		}
	}
	for _, e := range r.Groups {
		if e.ID == "" {
			unknown.Groups = append(unknown.Groups, e.Name)
		}
	}
	return unknown
}

// String returns how many users and groups r names, for events: never their names.
func (r *Rule) String() string {
	if r == nil {
		return "everyone"
	}
	return counted(len(r.Users), "user") + ", " + counted(len(r.Groups), "group")
}

// counted returns n things, as in "1 user" and "2 users".
func counted(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}

// NamesError is a fault in Names. Its text is meant for the author of the names.
type NamesError struct {
	Pointer string // a JSON pointer within the names, "" for all of them
	Detail  string
}

func (e *NamesError) Error() string { return strings.TrimPrefix(e.Pointer+" "+e.Detail, " ") }

// DecodeNames decodes names as clients write them: an object with the lists users and groups, either of which may be left out.
// It returns a *NamesError for any other member. If a misspelt one were ignored, people would lose what they should
// read; and if one of a later version said who may not read, they would read it.
func DecodeNames(text []byte) (*Names, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(text, &members); err != nil {
		return nil, fmt.Errorf("decode names: %w", err)
	}
	for name := range members {
		if name != "users" && name != "groups" {
			return nil, &NamesError{"", "must have no members but users and groups"}
		}
	}
	n := new(Names)
	if err := json.Unmarshal(text, n); err != nil {
		return nil, fmt.Errorf("decode names: %w", err)
	}
	return n, nil
}

// Check returns a *NamesError unless n has at most MaxEntries names, each with 1 to
// MaxName characters and no control characters, and at most MaxBytes bytes of them.
func (n *Names) Check() error {
	if n == nil {
		return nil
	}
	if len(n.Users)+len(n.Groups) > MaxEntries {
		return &NamesError{"", fmt.Sprintf("must have at most %d users and groups together", MaxEntries)}
	}
	size := 0
	for list, names := range map[string][]string{"users": n.Users, "groups": n.Groups} {
		for i, name := range names {
			size += len(name)
			if count := utf8.RuneCountInString(name); count < 1 || count > MaxName || strings.TrimSpace(name) == "" ||
				!utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl) {
				return &NamesError{fmt.Sprintf("/%s/%d", list, i), fmt.Sprintf("must have 1 to %d characters, not only blanks and no control characters", MaxName)}
			}
		}
	}
	if size > MaxBytes {
		return &NamesError{"", fmt.Sprintf("must have at most %d bytes of names", MaxBytes)}
	}
	return nil
}
