package signon

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"docent/shared/apierr"
	"docent/shared/audit"
)

// Reason is why a sign-in failed. The dashboard has a sentence for each, and security events have
// the reason itself.
type Reason string

// The reasons.
const (
	NotConfigured      Reason = "not-configured"       // the team has no provider
	ProviderDown       Reason = "provider-unreachable" // the provider does not answer, or not as it should
	ProviderRefused    Reason = "provider-refused"     // the provider says that the sign-in failed
	RequestUnknown     Reason = "request-unknown"      // no sign-in was begun with this state, or it was used, or it took too long
	OtherBrowser       Reason = "other-browser"        // another browser began the sign-in
	TicketUnknown      Reason = "ticket-unknown"       // the last redirect was repeated, or came too late
	Malformed          Reason = "malformed"            // what the provider sent cannot be read, or is not allowed
	Encrypted          Reason = "encrypted"            // the assertion is encrypted
	Unsigned           Reason = "unsigned"             // neither the response nor the assertion is signed
	BadSignature       Reason = "bad-signature"        // no certificate of the provider verifies the signature
	WeakSignature      Reason = "weak-signature"       // SHA-1
	CertificateExpired Reason = "certificate-expired"  // all certificates of the provider have expired
	OtherIssuer        Reason = "other-issuer"         // another provider has issued it
	OtherAudience      Reason = "other-audience"       // it is for another service
	OtherRecipient     Reason = "other-recipient"      // it is for another address
	OtherRequest       Reason = "other-request"        // it answers another request
	Expired            Reason = "expired"              // it is too old, or not valid yet
	Replayed           Reason = "replayed"             // the assertion was used already
	NoName             Reason = "no-name"              // it does not name the user as configured
	EmailNotVerified   Reason = "email-not-verified"   // a first sign-in needs a verified e-mail address
	UserUnknown        Reason = "user-unknown"         // the team has no such user
	UserInactive       Reason = "user-inactive"        // the user is deactivated
	UserTaken          Reason = "user-taken"           // the user is another person at the provider
	TestNotByAdmin     Reason = "test-not-by-admin"    // who came back from a test is not an admin
)

// Reasons lists every reason.
var Reasons = []Reason{NotConfigured, ProviderDown, ProviderRefused, RequestUnknown, OtherBrowser, TicketUnknown, Malformed, Encrypted, Unsigned,
	BadSignature, WeakSignature, CertificateExpired, OtherIssuer, OtherAudience, OtherRecipient, OtherRequest, Expired, Replayed, NoName,
	EmailNotVerified, UserUnknown, UserInactive, UserTaken, TestNotByAdmin}

// Failure is a sign-in that is refused.
type Failure struct {
	Reason Reason
	Name   string // whom the provider named, if that is verified
	Cause  error  // for the log; may be nil
}

func (f *Failure) Error() string {
	if f.Cause != nil {
		return fmt.Sprintf("sign-in: %s: %v", f.Reason, f.Cause)
	}
	return "sign-in: " + string(f.Reason)
}

// Unwrap returns the cause.
func (f *Failure) Unwrap() error { return f.Cause }

// failed records the failure of a sign-in as an event, at most once a minute for one reason and
// user, because anybody can cause one. It returns err.
func (s *Service) failed(ctx context.Context, teamID string, r Request, err error) error {
	var f *Failure
	if s.Events == nil || !errors.As(err, &f) {
		return err
	}
	kind := audit.SAMLLoginFailed
	if r.Method == OIDC {
		kind = audit.OIDCLoginFailed
	}
	e := audit.Event{Type: kind, Outcome: audit.Outcome{Result: audit.Failure, Reason: string(f.Reason)}}
	if f.Name != "" {
		e.Changes = []audit.Change{{Field: "userName", To: f.Name}}
	}
	if r.TestBy != "" {
		e.Changes = append(e.Changes, audit.Change{Field: "testBy", To: r.TestBy})
	}
	if recording := s.Events.RecordRefusal(ctx, teamID, strings.Join([]string{string(f.Reason), hash(f.Name)[:16]}, "#"), e); recording != nil {
		return errors.Join(err, recording)
	}
	return err
}

// required is the error of a sign-in by another way.
func required() error {
	return apierr.New(apierr.Forbidden, apierr.CodeSignOnRequired,
		"Your team signs in with single sign-on. Use its sign-in address, or a link that the operator makes with docent signin.")
}
