package scim

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"docent/shared/apierr"
	"docent/shared/audit"
	"docent/shared/scim/protocol"
	"docent/shared/table"
	"docent/shared/team"
)

// Service stores the users and groups of all teams as SCIM resources. It must not be copied.
type Service struct {
	Table  table.Store
	Events *audit.Log // nil: nothing is recorded
	Teams  *team.Service
	Now    func() time.Time
	NewID  func() string // time-ordered UUIDs
	// BaseURL is the absolute URL of the API, ending in /v1. Links start with it.
	BaseURL string
	// Names keeps the names of groups for GroupsOf. Services of one process share it.
	Names *GroupNames
	// MaxReply limits a reply, in bytes; 0: no limit.
	MaxReply int

	changeTurns turns         // changes, by resource
	listTurns   turns         // lists of everything, by team and in all
	changeTime  time.Duration // 0: the constant; tests shorten it
	maxCompared int64         // 0: the constant; tests lower it
}

// location returns the absolute URL of a resource.
func (s *Service) location(t *protocol.ResourceType, id string) string {
	return s.BaseURL + "/scim/v2" + t.Endpoint + "/" + id
}

// meta returns the meta attribute of a resource.
func (s *Service) meta(t *protocol.ResourceType, id string, created, modified time.Time, version int64) map[string]any {
	return map[string]any{"resourceType": t.Name, "created": formatTime(created), "lastModified": formatTime(modified),
		"location": s.location(t, id), "version": versionTag(version)}
}

func notFound(t *protocol.ResourceType) error {
	return protocol.Refuse(http.StatusNotFound, "", "This %s does not exist.", t.Name)
}

// asSCIMError turns the errors of other areas that SCIM clients understand into protocol
// errors, and returns all others as they are.
func asSCIMError(err error) error {
	var e *apierr.Error
	switch {
	case errors.Is(err, team.ErrUserNameTaken):
		return protocol.Refuse(http.StatusConflict, protocol.Uniqueness, "Another user of this team has this userName.")
	case errors.Is(err, team.ErrLastAdmin):
		return protocol.Refuse(http.StatusConflict, "", "This is the team's last active admin with a working personal API key that may manage. Make another user an admin and give them such a key before you delete, deactivate or demote this one.")
	case errors.As(err, &e) && e.Kind == apierr.Invalid:
		return protocol.Bad(protocol.InvalidValue, "%s", e.Detail)
	case errors.As(err, &e) && e.Kind == apierr.NotFound:
		return notFound(protocol.UserType)
	}
	return err
}

// batches splits values into parts of at most size.
func batches[T any](values []T, size int) [][]T {
	var out [][]T
	for len(values) > size {
		out, values = append(out, values[:size]), values[size:]
	}
	if len(values) > 0 {
		out = append(out, values)
	}
	return out
}

// requireSAML returns an error unless the team has SAML metadata, which provisioning requires.
func (s *Service) requireSAML(ctx context.Context, teamID string) error {
	configured, err := s.Teams.SAMLConfigured(ctx, teamID)
	if err != nil {
		return fmt.Errorf("look for SAML metadata: %w", err)
	}
	if !configured {
		return apierr.New(apierr.Forbidden, apierr.CodeSAMLNotConfigured,
			"SCIM requires SAML identity provider metadata for this team. An admin sets it with PUT /team/saml-metadata.")
	}
	return nil
}
