package atlassian

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"docent/shared/connect/rest"
	"docent/shared/source"
)

const maxMessage = 200 // characters

// message returns what the provider says about a refusal, in one of the three forms that the
// APIs have; it may be empty.
func message(e *rest.StatusError) string {
	var body struct {
		Message  string   `json:"message"`
		Messages []string `json:"errorMessages"`
		Errors   any      `json:"errors"`
	}
	if json.Unmarshal(e.Body, &body) != nil {
		return ""
	}
	text := strings.Join(append(body.Messages, body.Message), " ")
	if list, ok := body.Errors.([]any); ok {
		for _, one := range list {
			if fields, ok := one.(map[string]any); ok {
				title, _ := fields["title"].(string)
				text += " " + title
			}
		}
	}
	return Fact(text, maxMessage)
}

// treatsAsNobody reports whether a reply says that the token is not accepted, whatever its status. A site answers such a request as one of
// an anonymous visitor, who sees no issue or page, or only those that everyone sees. If several logins were tried, one that succeeded counts.
func treatsAsNobody(h http.Header) bool {
	refused := false
	for reason := range strings.SplitSeq(strings.Join(h.Values("X-Seraph-LoginReason"), ","), ",") {
		switch strings.ToUpper(strings.TrimSpace(reason)) {
		case "OK":
			return false
		case "AUTHENTICATED_FAILED", "AUTHENTICATION_DENIED":
			refused = true
		}
	}
	return refused
}

// rejected returns the failure for a token that is not accepted.
func (s *Site) rejected() *source.SyncError {
	token := "personal access token"
	if s.Cloud {
		token = "email address with its API token"
	}
	return &source.SyncError{Code: source.Unauthorized, AllParts: true,
		Detail: fmt.Sprintf("%s does not accept the %s. The token may have expired or been revoked.", s.Provider, token)}
}

// refusal returns the failure for a reply that is not a success.
func (s *Site) refusal(e *rest.StatusError) *source.SyncError {
	switch {
	case e.IsWebPage():
		return &source.SyncError{Code: source.Refused,
			Detail: s.Provider + " sent a web page instead of data. Check the base address: it must be the one of the product itself, without a page."}
	case e.Status != http.StatusUnauthorized && strings.Contains(e.Header.Get("X-Authentication-Denied-Reason"), "CAPTCHA"):
		return &source.SyncError{Code: source.Unauthorized, AllParts: true,
			Detail: s.Provider + " asks the account to solve a CAPTCHA. Log in with it in a browser once."}
	case e.Status == http.StatusUnauthorized, e.Status < http.StatusInternalServerError && treatsAsNobody(e.Header):
		return s.rejected()
	case e.Status == http.StatusForbidden:
		return &source.SyncError{Code: source.Unauthorized,
			Detail: fmt.Sprintf("The account of the token may not read %s. Give it permission to view this in %s.", s.About, s.Provider)}
	case e.Status == http.StatusNotFound || e.Status == http.StatusGone:
		return &source.SyncError{Code: source.NotThere,
			Detail: fmt.Sprintf("Not found in %s, or not visible to the account of the token: %s.", s.Provider, s.About)}
	case e.Status >= http.StatusInternalServerError:
		return &source.SyncError{Code: source.Unreadable, Detail: fmt.Sprintf("%s failed with status %d for %s.", s.Provider, e.Status, s.About)}
	default:
		detail := fmt.Sprintf("%s refused the request for %s with status %d.", s.Provider, s.About, e.Status)
		if said := message(e); said != "" {
			detail += " It says: " + said
		}
		return &source.SyncError{Code: source.Refused, Detail: detail}
	}
}

// Status returns the HTTP status that err was caused by, or 0.
func Status(err error) int {
	var answered *rest.StatusError
	if errors.As(err, &answered) {
		return answered.Status
	}
	return 0
}

// AccessUnknown is the code of a notice.
const AccessUnknown = "access-unknown"

// Unknown notes that the readers of something are unknown, and what helps.
func (s *Site) Unknown(what, remedy string) {
	if s.Notice == nil {
		s.Notice = &source.SyncError{Code: AccessUnknown, Detail: fmt.Sprintf(
			"Who may read %s is unknown, so that no person reads the items that depend on it: %s.", what, remedy)}
	}
}

// Invisible reports whether err says that something does not exist for the account of
// the token.
func Invisible(err error) bool {
	var failed *source.SyncError
	return errors.As(err, &failed) && !failed.AllParts && (failed.Code == source.NotThere || failed.Code == source.Unauthorized)
}

// IsCode reports whether err is a *source.SyncError with one of these codes.
func IsCode(err error, codes ...string) bool {
	var failed *source.SyncError
	return errors.As(err, &failed) && slices.Contains(codes, failed.Code)
}
