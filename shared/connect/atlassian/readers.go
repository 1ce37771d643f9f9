package atlassian

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"docent/shared/access"
)

// User is an account in the form of either product. A Cloud has account ids, a Data
// Center keys and user names.
type User struct {
	AccountID string `json:"accountId"`
	UserKey   string `json:"userKey"`  // Confluence
	Username  string `json:"username"` // Confluence
	Email     string `json:"email"`    // Confluence; empty if the account hides it
	Public    string `json:"publicName"`
	Key       string `json:"key"`          // Jira
	Name      string `json:"name"`         // Jira: user name
	Address   string `json:"emailAddress"` // Jira; empty if the account hides it
	Display   string `json:"displayName"`
	Active    *bool  `json:"active"`        // Jira; nil: not told
	Status    string `json:"accountStatus"` // Confluence Cloud; empty: not told
}

// inactive reports whether the account was deactivated, so that it reads nothing there.
func (u User) inactive() bool {
	return u.Active != nil && !*u.Active || u.Status != "" && u.Status != "active" && u.Status != "unknown"
}

// ID returns what identifies an account on its site, or "" for none.
func (u User) ID() string { return cmp.Or(u.AccountID, u.UserKey, u.Key, u.Username, u.Name) }

// Title returns the name for people to read.
func (u User) Title() string { return cmp.Or(u.Display, u.Public, u.Username, u.Name) }

// reader returns the name by which Docent may know the account: its email address or
// its user name.
func (u User) reader() string {
	return cmp.Or(u.Email, u.Address, u.Username, u.Name, u.AccountID, u.UserKey, u.Key)
}

// Audience is who may read something. The zero Audience is nobody.
type Audience struct {
	everyone bool
	users    map[string]string // names by id
	groups   map[string]bool   // by name
}

// Everyone returns the audience without a limit.
func Everyone() Audience { return Audience{everyone: true} }

// Add adds a user. An account without an id, or one that was deactivated, is nobody.
func (a *Audience) Add(u User) {
	if u.ID() == "" || u.inactive() {
		return
	}
	if a.users == nil {
		a.users = map[string]string{}
	}
	if known := a.users[u.ID()]; known == "" || u.reader() != u.ID() {
		a.users[u.ID()] = u.reader()
	}
}

// AddGroup adds a group, by its name.
func (a *Audience) AddGroup(name string) {
	if name == "" {
		return
	}
	if a.groups == nil {
		a.groups = map[string]bool{}
	}
	a.groups[name] = true
}

// Join adds all that b has.
func (a *Audience) Join(b Audience) {
	a.everyone = a.everyone || b.everyone
	for id, name := range b.users {
		if a.users == nil {
			a.users = map[string]string{}
		}
		a.users[id] = name
	}
	for g := range b.groups {
		a.AddGroup(g)
	}
}

// Members returns the members of a group by their ids, or nothing if they are unknown.
type Members func(group string) map[string]User

// Both returns who is in both a and b, as far as that is known. A group in a or b stays a group if all its members are
// in the other one; otherwise only those members who are in the other one stay, as users.
func Both(a, b Audience, members Members) Audience {
	switch {
	case a.everyone:
		return b
	case b.everyone:
		return a
	}
	var out Audience
	split := map[string]User{} // members of groups that do not stay
	for _, side := range [][2]Audience{{a, b}, {b, a}} {
		mine, other := side[0], side[1]
		inOther := other.holds(members)
		for id, name := range mine.users {
			if inOther(id) {
				out.Add(User{AccountID: id, Address: name})
			}
		}
		for g := range mine.groups {
			all := members(g)
			inside := map[string]User{}
			for id, u := range all {
				if inOther(id) {
					inside[id] = u
				}
			}
			if other.groups[g] || len(all) > 0 && len(inside) == len(all) {
				out.AddGroup(g)
			} else {
				maps.Copy(split, inside)
			}
		}
	}
	inOut := out.holds(members)
	for id, u := range split {
		if !inOut(id) {
			out.Add(u)
		}
	}
	return out
}

// holds returns a function that reports whether an account is in a. It reads the members of a group once, and only
// while it has not found the account.
func (a Audience) holds(members Members) func(id string) bool {
	unread := slices.Collect(maps.Keys(a.groups))
	known := map[string]bool{} // members of the groups that were read
	return func(id string) bool {
		if a.everyone || a.users[id] != "" {
			return true
		}
		for !known[id] && len(unread) > 0 {
			for member := range members(unread[0]) {
				known[member] = true
			}
			unread = unread[1:]
		}
		return known[id]
	}
}

// Names returns the rule of an item: nil for everyone. It leaves out names that no rule
// can have and, groups first, those that exceed its bounds.
func (a Audience) Names() *access.Names {
	if a.everyone {
		return nil
	}
	n := &access.Names{Users: []string{}, Groups: []string{}}
	bytes := 0
	fits := func(name string) bool {
		valid := strings.TrimSpace(name) != "" && utf8.ValidString(name) && utf8.RuneCountInString(name) <= access.MaxName && !slices.ContainsFunc([]rune(name), unicode.IsControl)
		if !valid || len(n.Users)+len(n.Groups) == access.MaxEntries || bytes+len(name) > access.MaxBytes {
			return false
		}
		bytes += len(name)
		return true
	}
	for _, g := range slices.Sorted(maps.Keys(a.groups)) {
		if fits(g) {
			n.Groups = append(n.Groups, g)
		}
	}
	for _, u := range slices.Sorted(maps.Values(a.users)) {
		if fits(u) {
			n.Users = append(n.Users, u)
		}
	}
	n.Users = slices.Compact(n.Users)
	return n
}
