package scim

import (
	"context"
	"maps"
	"slices"

	"docent/shared/team"
)

// keepAdminRole restores the admin role in changed to its stored state unless the request comes
// from an admin's personal key. Other roles are left alone. It does not reject the request,
// because a provider sends roles with other attributes: a rejection would hold up a
// deactivation.
func keepAdminRole(ctx context.Context, stored, changed map[string]any) {
	if p, ok := team.PrincipalFrom(ctx); ok && p.Admin {
		return
	}
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
