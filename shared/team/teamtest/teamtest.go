// Package teamtest creates users for tests of other packages, as an identity provider
// does.
package teamtest

import (
	"context"
	"encoding/json"

	"docent/shared/team"
)

// CreateUser inserts an active user. It returns the errors of Service.NewProfile and
// Service.InsertProfile.
func CreateUser(ctx context.Context, teams *team.Service, teamID, userName string, role team.Role) (team.User, error) {
	attributes := map[string]any{"userName": userName}
	if role == team.RoleAdmin {
		attributes["roles"] = []any{map[string]any{"value": string(role)}}
	}
	encoded, err := json.Marshal(attributes)
	if err != nil {
		return team.User{}, err
	}
	p, err := teams.NewProfile(encoded)
	if err != nil {
		return team.User{}, err
	}
	return p.User, teams.InsertProfile(ctx, teamID, p)
}
