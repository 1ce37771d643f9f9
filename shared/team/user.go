package team

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"docent/shared/apierr"
	"docent/shared/table"
)

// MaxUserName limits a user name, in Unicode code points.
const MaxUserName = 256

// Role determines what a user may do in its team.
type Role string

// The roles.
const (
	RoleAdmin  Role = "admin"
	RoleMember Role = "member"
)

// User is a person of a team. A Profile has all of the person's attributes.
type User struct {
	ID          string    `json:"id"`
	UserName    string    `json:"userName"` // unique in the team without regard to case
	DisplayName string    `json:"displayName"`
	Role        Role      `json:"role"`
	Active      bool      `json:"active"` // false: suspended
	CreatedAt   time.Time `json:"createdAt"`
}

// ErrUserNameTaken means that another user of the team has the name.
var ErrUserNameTaken = errors.New("user name taken")

// User returns a user of the team. For an unknown one it returns a 404.
func (s *Service) User(ctx context.Context, teamID, userID string) (User, error) {
	if !isUUID(userID) {
		return User{}, missingUser()
	}
	item, err := s.Table.Get(ctx, userKey(teamID, userID))
	if errors.Is(err, table.ErrNotFound) {
		return User{}, missingUser()
	}
	if err != nil {
		return User{}, fmt.Errorf("read user %s: %w", userID, err)
	}
	p, err := profileFrom(item)
	return p.User, err
}

// UserByName returns the team's user with that name in any case and Unicode normal form. For an unknown name
// it returns a 404.
func (s *Service) UserByName(ctx context.Context, teamID, userName string) (User, error) {
	ids, err := s.UserIDsByName(ctx, teamID, []string{userName})
	if err != nil {
		return User{}, err
	}
	id, ok := ids[userName]
	if !ok {
		return User{}, missingUser()
	}
	return s.User(ctx, teamID, id)
}

// firstAdmin returns a team's first user, before it is stored.
func (s *Service) firstAdmin(userName string) (Profile, error) {
	if err := checkUserName(userName); err != nil {
		return Profile{}, err
	}
	attributes := placeholders(userName)
	attributes["roles"] = []any{map[string]any{"value": string(RoleAdmin)}}
	encoded, err := json.Marshal(attributes)
	if err != nil {
		return Profile{}, fmt.Errorf("encode user: %w", err)
	}
	return s.NewProfile(encoded)
}

// placeholders returns attributes for a user of whom only the name is known, until an identity
// provider sends others. Importers reject users without a given name, a family name and an
// e-mail address, and then stop.
func placeholders(userName string) map[string]any {
	out := map[string]any{"userName": userName}
	local, domain, address := strings.Cut(userName, "@")
	if address && local != "" && domain != "" {
		out["emails"] = []any{map[string]any{"value": userName, "type": "work", "primary": true}}
	}
	words := strings.FieldsFunc(local, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	if len(words) > 0 {
		out["name"] = map[string]any{"givenName": capital(words[0]), "familyName": capital(words[len(words)-1])}
	}
	return out
}

func capital(word string) string {
	first, size := utf8.DecodeRuneInString(word)
	return string(unicode.ToUpper(first)) + word[size:]
}

// checkUserName returns an *apierr.Error for a name that is blank, longer than MaxUserName or
// contains control characters.
func checkUserName(name string) error {
	n, blank := 0, true
	for _, r := range name {
		if unicode.IsControl(r) {
			return apierr.BadField("/userName", "must not contain control characters")
		}
		blank = blank && unicode.IsSpace(r)
		n++
	}
	if blank || n > MaxUserName || !utf8.ValidString(name) {
		return apierr.BadField("/userName", "must have 1 to %d characters and not be blank", MaxUserName)
	}
	return nil
}

func missingUser() error { return apierr.Missing("user") }
