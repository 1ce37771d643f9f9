package scim

import (
	"context"
	"maps"
	"net/http"
	"slices"

	"docent/shared/fold"
	"docent/shared/scim/protocol"
	"docent/shared/team"
)

// guardAdmins protects who is an admin, and who signs in as one, from the change of stored to changed. An
// admin in person may change both, but makes or renames admins only with a full key. For any other caller it
// restores the admin role, and refuses to rename an admin.
func (s *Service) guardAdmins(ctx context.Context, stored, changed map[string]any) error {
	if p, ok := team.PrincipalFrom(ctx); !ok || !p.Admin {
		keepAdminRole(stored, changed)
		return keepAdminName(stored, changed)
	}
	had := len(adminRoles(stored)) > 0
	if had && renamed(stored, changed) || !had && len(adminRoles(changed)) > 0 {
		return s.Teams.RequireFullKey(ctx, "make a user an admin or rename an admin")
	}
	return nil
}

// keepAdminName refuses another userName for an admin. People sign in by it, so a caller who gives an admin the
// name of another person makes that person the admin. An admin who is inactive afterwards keeps the name
// instead: a provider may rename and deactivate in one request, and must not fail to deactivate.
func keepAdminName(stored, changed map[string]any) error {
	switch {
	case len(adminRoles(stored)) == 0 || !renamed(stored, changed):
		return nil
	case changed["active"] == false:
		changed["userName"] = stored["userName"]
		return nil
	}
	return protocol.Refuse(http.StatusForbidden, "",
		"This user is a team admin. Only an admin's personal key can change the userName of an admin. Change it with such a key first; then this request succeeds.")
}

// renamed reports whether the userName changes in more than its case and Unicode normal form, which do not count at sign-in.
func renamed(stored, changed map[string]any) bool {
	return fold.Composed(textOf(stored, "userName")) != fold.Composed(textOf(changed, "userName"))
}

// keepAdminRole restores the admin role in changed to its stored state. Other roles are left
// alone. It does not reject the request, because a provider sends roles with other attributes: a
// rejection would hold up a deactivation.
func keepAdminRole(stored, changed map[string]any) {
	had := adminRoles(stored)
	roles, _ := changed["roles"].([]any)
	switch has := adminRoles(changed); {
	case len(had) > 0 && len(has) == 0:
		roles = slices.Clone(roles)
		for _, role := range had {
			role = maps.Clone(role)
			if slices.ContainsFunc(roles, isPrimary) {
				delete(role, "primary")
			}
			roles = append(roles, role)
		}
	case len(had) == 0 && len(has) > 0:
		roles = slices.DeleteFunc(slices.Clone(roles), isAdminRole)
	default:
		return
	}
	if len(roles) == 0 {
		delete(changed, "roles")
		return
	}
	changed["roles"] = roles
}

// adminRoles returns the roles that make a user an admin.
func adminRoles(attributes map[string]any) []map[string]any {
	var out []map[string]any
	roles, _ := attributes["roles"].([]any)
	for _, role := range roles {
		if object, ok := role.(map[string]any); ok && isAdminRole(role) {
			out = append(out, object)
		}
	}
	return out
}

func isAdminRole(role any) bool {
	object, _ := role.(map[string]any)
	return team.IsAdminRole(textOf(object, "value"))
}

func isPrimary(element any) bool {
	object, _ := element.(map[string]any)
	return object["primary"] == true
}
