package scim

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"

	"docent/shared/scim/protocol"
	"docent/shared/table"
	"docent/shared/team"
)

// user returns the resource of p without groups and the manager's name, which are stored
// elsewhere.
func (s *Service) user(p team.Profile) (map[string]any, error) {
	resource, err := attributesOf(p)
	if err != nil {
		return nil, err
	}
	s.addComputed(resource, p.Record(), func(string) bool { return true })
	return resource, nil
}

// partialUser returns the part of the resource of r that a query reads, and its id.
func (s *Service) partialUser(r team.UserRecord, at protocol.AttributeSet) (map[string]any, error) {
	resource := map[string]any{}
	var fault error
	err := r.Attributes(func(name, value []byte) {
		// displayName is computed from userName, schemas from the extension.
		if !at[string(name)] && (!at["displayName"] || string(name) != "userName") && (!at["schemas"] || string(name) != protocol.EnterpriseURN) {
			return
		}
		decoded, err := protocol.DecodeStored(value)
		if err != nil {
			fault = fmt.Errorf("decode user %s: %v", r.ID, err) //nolint:errorlint // not the client's fault, so not its error
		}
		resource[string(name)] = decoded
	})
	if err == nil {
		err = fault
	}
	s.addComputed(resource, r, func(name string) bool { return at[name] })
	return resource, err
}

// addComputed adds the attributes that are computed from others and from the record, as far as
// shows selects them.
func (s *Service) addComputed(resource map[string]any, r team.UserRecord, shows func(name string) bool) {
	if shows("schemas") {
		resource["schemas"] = protocol.UserType.SchemasOf(resource)
	}
	resource["id"] = r.ID
	if shows("meta") {
		resource["meta"] = s.meta(protocol.UserType, r.ID, r.CreatedAt, r.ModifiedAt, r.Version)
	}
	if shows("displayName") && textOf(resource, "displayName") == "" {
		resource["displayName"] = resource["userName"]
	}
	if _, ok := resource["active"]; !ok && shows("active") {
		resource["active"] = true
	}
	if _, ok := resource["name"]; !ok && shows("name") {
		resource["name"] = map[string]any{}
	}
}

// attributesOf decodes the stored attributes of p.
func attributesOf(p team.Profile) (map[string]any, error) {
	tree, err := protocol.DecodeObject(p.Attributes)
	if err != nil {
		return nil, fmt.Errorf("decode user %s: %v", p.ID, err) //nolint:errorlint // not the client's fault, so not its error
	}
	return tree, nil
}

func (s *Service) createUser(ctx context.Context, teamID string, body map[string]any) (team.Profile, error) {
	attributes, err := protocol.UserType.Read(body)
	if err != nil {
		return team.Profile{}, err
	}
	if err := s.guardAdmins(ctx, nil, attributes); err != nil {
		return team.Profile{}, err
	}
	encoded, err := protocol.Encode(attributes)
	if err != nil {
		return team.Profile{}, fmt.Errorf("encode user: %w", err)
	}
	p, err := s.Teams.NewProfile(encoded)
	if err == nil {
		err = s.Teams.InsertProfile(ctx, teamID, p)
	}
	return p, asSCIMError(err)
}

// changeUser applies change to the user's attributes. It fails if only names another
// version. A change that changes nothing stores nothing.
func (s *Service) changeUser(ctx context.Context, teamID, id string, only conditions,
	change func(p team.Profile, attributes map[string]any) (map[string]any, error),
) (after team.Profile, err error) {
	err = s.retryOnConflict(ctx, teamID, protocol.UserType, id, func() error {
		before, err := s.Teams.Profile(ctx, teamID, id)
		if err != nil {
			return asSCIMError(err)
		}
		if err := only.check(before.Version); err != nil {
			return err
		}
		attributes, err := attributesOf(before)
		if err != nil {
			return err
		}
		changed, err := change(before, attributes)
		if err != nil {
			return err
		}
		if err := s.guardAdmins(ctx, attributes, changed); err != nil {
			return err
		}
		if after = before; protocol.Equal(attributes, changed) {
			return nil
		}
		encoded, err := protocol.Encode(changed)
		if err != nil {
			return fmt.Errorf("encode user %s: %w", id, err)
		}
		if after, err = s.Teams.Changed(before, encoded); err != nil {
			return asSCIMError(err)
		}
		return asSCIMError(s.Teams.ReplaceProfile(ctx, teamID, before, after))
	})
	return after, err
}

func (s *Service) replaceUser(ctx context.Context, teamID, id string, only conditions, body map[string]any) (team.Profile, error) {
	return s.changeUser(ctx, teamID, id, only, func(team.Profile, map[string]any) (map[string]any, error) {
		return protocol.UserType.Read(body)
	})
}

func (s *Service) patchUser(ctx context.Context, teamID, id string, only conditions, operations []protocol.Operation) (team.Profile, error) {
	return s.changeUser(ctx, teamID, id, only, func(p team.Profile, attributes map[string]any) (map[string]any, error) {
		fixed := map[string]any{"id": id, "meta": s.meta(protocol.UserType, id, p.CreatedAt, p.ModifiedAt, p.Version)}
		return protocol.UserType.Patch(attributes, fixed, operations)
	})
}

// deleteUser deletes a user with its personal keys and memberships. It also completes a
// deletion that was interrupted.
func (s *Service) deleteUser(ctx context.Context, teamID, id string, only conditions) error {
	err := s.retryOnConflict(ctx, teamID, protocol.UserType, id, func() error {
		p, err := s.Teams.Profile(ctx, teamID, id)
		if err != nil {
			pending, readErr := s.Teams.DeletionPending(ctx, teamID, id)
			if readErr != nil {
				return readErr
			}
			if pending {
				return nil
			}
			return asSCIMError(err)
		}
		if err := only.check(p.Version); err != nil {
			return err
		}
		return asSCIMError(s.Teams.DeleteProfile(ctx, teamID, p))
	})
	if err != nil {
		return err
	}
	work, workCtx := errgroup.WithContext(ctx)
	work.Go(func() error {
		_, err := s.Teams.RevokeUserKeys(workCtx, teamID, id)
		return err
	})
	work.Go(func() error { return s.leaveGroups(workCtx, teamID, id) })
	if err := work.Wait(); err != nil {
		return err
	}
	return s.Teams.FinishDeletion(ctx, teamID, id)
}

// leaveGroups removes a deleted user from its groups, which get a new version.
func (s *Service) leaveGroups(ctx context.Context, teamID, userID string) error {
	memberships, err := s.memberships(ctx, teamID, table.Query{Prefix: userID + "/"})
	if err != nil {
		return err
	}
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(parallel)
	for _, m := range memberships[userID] {
		work.Go(func() error {
			return s.retryOnConflict(ctx, teamID, protocol.GroupType, m.groupID, func() error { return s.leaveGroup(ctx, teamID, m, userID) })
		})
	}
	return work.Wait()
}

func (s *Service) leaveGroup(ctx context.Context, teamID string, m membership, userID string) error {
	ops := []table.Op{
		table.Delete{Key: memberKey(teamID, m.groupID, userID)},
		table.Delete{Key: membershipKey(teamID, userID, m.groupID)},
	}
	g, err := s.group(ctx, teamID, m.groupID)
	var refused *protocol.Error
	switch {
	case errors.As(err, &refused): // the group is gone
	case err != nil:
		return err
	default:
		next := g
		if g.isMember(m.mark) {
			next = s.nextVersion(g)
		}
		put, err := next.put(teamID, table.VersionIs(g.stored))
		if err != nil {
			return err
		}
		ops = append(ops, put)
	}
	return conflicting(s.Table.Write(ctx, ops...))
}

// conflicting turns a failed condition into table.ErrConflict, for writes whose conditions are
// all on what was read before.
func conflicting(err error) error {
	if table.AsConditionFailed(err) != nil {
		return table.ErrConflict
	}
	return err
}
