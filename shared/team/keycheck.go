package team

import (
	"context"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"docent/shared/apierr"
)

// checkNewKey returns k as it is stored, with its data sources and scopes without repeats, or the first error. The Write
// that stores the key checks that the user is active.
func (s *Service) checkNewKey(ctx context.Context, teamID string, k NewKey) (NewKey, error) {
	switch {
	case k.Kind != KindPersonal && k.Kind != KindTeam && k.Kind != KindSCIM:
		return k, apierr.BadField("/kind", "must be personal, team or scim")
	case k.Kind == KindPersonal && !isUUID(k.UserID):
		return k, invalidUser()
	case k.Kind != KindPersonal && k.UserID != "":
		return k, apierr.BadField("/userId", "must not be given for a %s key", k.Kind)
	case k.Kind != KindTeam && k.ActFor:
		return k, apierr.BadField("/actFor", "must not be given for a %s key", k.Kind)
	case k.ExpiresAt != nil && !k.ExpiresAt.After(s.Now()):
		return k, apierr.BadField("/expiresAt", "must be in the future")
	}
	if err := checkName("/name", k.Name); err != nil {
		return k, err
	}
	scopes, err := checkScopes(k)
	if err != nil {
		return k, err
	}
	k.Scopes = scopes
	if err := mayGrant(ctx, k); err != nil {
		return k, err
	}
	if k.ExpiresAt != nil {
		expires := k.ExpiresAt.UTC().Truncate(time.Millisecond)
		k.ExpiresAt = &expires
	}
	if err := s.endsWithCaller(ctx, k.ExpiresAt); err != nil {
		return k, err
	}
	if k.DataSourceIDs == nil {
		return k, nil
	}
	if k.Kind == KindSCIM {
		return k, apierr.BadField("/dataSourceIds", "must not be given for a scim key")
	}
	if n := len(k.DataSourceIDs); n < 1 || n > MaxSources {
		return k, apierr.BadField("/dataSourceIds", "must have 1 to %d entries", MaxSources)
	}
	k.DataSourceIDs, err = s.checkSources(ctx, teamID, k.DataSourceIDs)
	return k, err
}

func (s *Service) checkSources(ctx context.Context, teamID string, ids []string) ([]string, error) {
	exists := make([]bool, len(ids))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(10)
	for i, id := range ids {
		if !isUUID(id) || slices.Contains(ids[:i], id) {
			exists[i] = isUUID(id)
			continue
		}
		if s.SourceExists == nil {
			exists[i] = true
			continue
		}
		group.Go(func() (err error) {
			exists[i], err = s.SourceExists(ctx, teamID, id)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, fmt.Errorf("look data sources up: %w", err)
	}
	var distinct []string
	for i, id := range ids {
		if slices.Contains(distinct, id) {
			continue
		}
		if !exists[i] {
			return nil, apierr.BadField(fmt.Sprintf("/dataSourceIds/%d", i), "is not a data source of this team")
		}
		distinct = append(distinct, id)
	}
	return distinct, nil
}

func invalidUser() error { return apierr.BadField("/userId", "must be an active user of this team") }

// isUUID reports whether id has the form of the ids of users and data sources.
func isUUID(id string) bool {
	if len(id) != 36 {
		return false
	}
	for i, c := range []byte(id) {
		dash := i == 8 || i == 13 || i == 18 || i == 23
		if dash != (c == '-') || !dash && (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}
