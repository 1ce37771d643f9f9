package team

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"docent/shared/apierr"
	"docent/shared/table"
)

// MaxAttributes limits the attributes of a user, in bytes.
const MaxAttributes = 128 << 10

// Profile is a user with all attributes, as stored. Attributes is the JSON object of the
// attributes that identity providers send (RFC 7643 section 4.1), spelled as in the RFC. User
// is computed from it, so nothing is stored twice.
type Profile struct {
	User
	ModifiedAt time.Time
	Attributes json.RawMessage
	Version    int64 // 1 when new; every change adds 1
}

// attributes are the attributes that the team's rules and the index read.
type attributes struct {
	UserName    string  `json:"userName"`
	DisplayName string  `json:"displayName"`
	ExternalID  string  `json:"externalId"`
	Active      *bool   `json:"active"`
	Emails      []value `json:"emails"`
	Roles       []value `json:"roles"`
}

type value struct {
	Value string `json:"value"`
}

// user returns the user. Without a displayName it is the userName; without active it is true; a
// role with the value admin makes an admin.
func (a *attributes) user() User {
	u := User{UserName: a.UserName, DisplayName: a.DisplayName, Role: RoleMember, Active: a.Active == nil || *a.Active}
	if u.DisplayName == "" {
		u.DisplayName = u.UserName
	}
	for _, r := range a.Roles {
		if IsAdminRole(r.Value) {
			u.Role = RoleAdmin
		}
	}
	return u
}

// IsAdminRole reports whether a value among a user's roles makes the user a team admin.
func IsAdminRole(value string) bool { return strings.EqualFold(value, string(RoleAdmin)) }

// NewProfile returns a new user, not stored yet. Invalid attributes are an *apierr.Error.
func (s *Service) NewProfile(encoded json.RawMessage) (Profile, error) {
	now := s.moment()
	return Profile{User: User{ID: s.NewID(), CreatedAt: now}, ModifiedAt: now, Version: 1}.with(encoded)
}

// Changed returns the next version of p, with other attributes.
func (s *Service) Changed(p Profile, encoded json.RawMessage) (Profile, error) {
	p.Version++
	p.ModifiedAt = s.moment()
	return p.with(encoded)
}

func (p Profile) with(encoded json.RawMessage) (Profile, error) {
	if len(encoded) > MaxAttributes {
		return p, apierr.New(apierr.TooLarge, apierr.CodeTooLarge, "The attributes of a user may have at most %d bytes.", MaxAttributes)
	}
	var a attributes
	if err := json.Unmarshal(encoded, &a); err != nil {
		return p, fmt.Errorf("decode the attributes of user %s: %w: %w", p.ID, errDamaged, err)
	}
	if err := checkUserName(a.UserName); err != nil {
		return p, err
	}
	p.Attributes, p.User = encoded, p.fill(a.user())
	return p, nil
}

func (p Profile) fill(u User) User {
	u.ID, u.CreatedAt = p.ID, p.CreatedAt
	return u
}

// admin reports whether the user is an active admin.
func (p Profile) admin() bool { return p.Active && p.Role == RoleAdmin }

// A user item has the field "state" next to its body, so that the Write that creates a
// key can check that its user is active.
const (
	stateField    = "state"
	stateActive   = "active"
	stateInactive = "inactive"
)

// stored is the body of a user's item.
type stored struct {
	CreatedAt  time.Time       `json:"createdAt"`
	ModifiedAt time.Time       `json:"modifiedAt"`
	Attributes json.RawMessage `json:"attributes"`
}

func (p Profile) item(teamID string) (table.Item, error) {
	body, err := json.Marshal(stored{p.CreatedAt, p.ModifiedAt, p.Attributes})
	if err != nil {
		return table.Item{}, fmt.Errorf("encode user: %w", err)
	}
	state := stateInactive
	if p.Active {
		state = stateActive
	}
	return table.Item{Key: userKey(teamID, p.ID), Version: p.Version, Body: body,
		Strings: map[string]string{stateField: state}}, nil
}

func profileFrom(item table.Item) (Profile, error) {
	var body stored
	var a attributes
	err := json.Unmarshal(item.Body, &body)
	if err == nil {
		err = json.Unmarshal(body.Attributes, &a)
	}
	if err != nil {
		return Profile{}, fmt.Errorf("decode user %s: %w: %w", item.Sort, errDamaged, err)
	}
	p := Profile{User: User{ID: item.Sort, CreatedAt: body.CreatedAt}, ModifiedAt: body.ModifiedAt,
		Attributes: body.Attributes, Version: item.Version}
	p.User = p.fill(a.user())
	return p, nil
}
