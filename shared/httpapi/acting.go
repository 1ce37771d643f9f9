package httpapi

import (
	"context"
	"net/http"
	"strings"
	"time"

	"docent/shared/apierr"
	"docent/shared/audit"
	"docent/shared/team"
)

// actingHeader names the person for whom a team key acts.
const actingHeader = "Docent-User"

// actFor returns who with the rights of the person that the header of r names, or who
// itself without the header. A header that names nobody, such as an empty one, is
// refused: a program that lost its user's name must not read as the whole team.
func (s Services) actFor(r *http.Request, who team.Principal, reading bool) (team.Principal, error) {
	values := r.Header.Values(actingHeader)
	switch {
	case len(values) == 0:
		return who, nil
	case len(values) > 1:
		return who, apierr.New(apierr.Invalid, apierr.CodeInvalidRequest, "The header %s must be sent once.", actingHeader)
	}
	acting, err := s.Teams.ActFor(r.Context(), who, canonicalID(strings.TrimSpace(values[0])), reading, func(ctx context.Context, userID string) error {
		return s.recordActing(r.WithContext(ctx), who, userID)
	})
	if err != nil {
		return who, err
	}
	return acting, nil
}

// recordActing records that the key of who acts for a user: once a minute for each key,
// user and operation, like refusals.
func (s Services) recordActing(r *http.Request, who team.Principal, userID string) error {
	if s.Events == nil {
		return nil
	}
	event := audit.Event{Type: audit.KeyActedFor, Origin: originOf(r, who), Targets: []audit.Target{{Type: audit.TargetUser, ID: userID}}}
	name := strings.Join([]string{string(event.Type), who.KeyID, userID, requestFrom(r.Context()).pattern, s.Now().UTC().Format("2006-01-02T15:04")}, "#")
	_, err := s.Events.Once(r.Context(), who.TeamID, name, time.Hour, event)
	return err
}
