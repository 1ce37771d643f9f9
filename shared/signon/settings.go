package signon

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"
	"unicode"

	"docent/shared/apierr"
	"docent/shared/audit"
	"docent/shared/table"
)

// Fields are the settings that an admin changes. They are declared only here: requests, the stored
// item and events use this struct.
type Fields struct {
	Method    Method `json:"method,omitempty" enum:"saml,oidc" doc:"How the team signs in. Without it, by SAML if its metadata is set."`
	Required  bool   `json:"required" doc:"Everybody signs in at the provider. A link that the operator makes still works."`
	Attribute string `json:"attribute,omitempty" maxLength:"256" doc:"The attribute of a SAML assertion that has the user name. Without it, the NameID has the user name."`
}

// Settings are the settings of single sign-on of a team. The metadata of its SAML provider is
// stored by package team.
type Settings struct {
	Fields
	OIDC      *Client   `json:"oidc,omitempty"`
	Test      *Test     `json:"test,omitempty"` // the last that ended well
	ChangedAt time.Time `json:"changedAt"`
}

// Client is this program at the team's OpenID Connect provider.
type Client struct {
	Issuer   string `json:"issuer"`
	ClientID string `json:"clientId"`
	Secret   []byte `json:"secret,omitempty"` // encrypted; none: a public client
}

// Test is a sign-in that an admin tried before it was required.
type Test struct {
	At       time.Time `json:"at"`
	UserName string    `json:"userName"` // of the admin
	Config   string    `json:"config"`   // hash of what was tested
}

// Limits of settings, in bytes.
const (
	MaxAttribute = 256
	MaxIssuer    = 1024
	MaxClientID  = 256
	MaxSecret    = 1024
)

func settingsKey(teamID string) table.Key {
	return table.Key{Table: table.Identities, Partition: teamID, Sort: "signon"}
}

// Settings returns the settings of the team. Its Method is empty if there is no provider.
func (s *Service) Settings(ctx context.Context, teamID string) (Settings, error) {
	settings, _, err := s.settings(ctx, teamID)
	if err != nil || settings.Method != "" {
		return settings, err
	}
	configured, err := s.Teams.SAMLConfigured(ctx, teamID)
	if configured {
		settings.Method = SAML
	}
	return settings, err
}

// settings returns the settings as stored, and their version, 0 if there are none.
func (s *Service) settings(ctx context.Context, teamID string) (Settings, int64, error) {
	item, err := s.Table.Get(ctx, settingsKey(teamID))
	if errors.Is(err, table.ErrNotFound) {
		return Settings{}, 0, nil
	}
	if err != nil {
		return Settings{}, 0, fmt.Errorf("read the settings of single sign-on: %w", err)
	}
	settings, err := bodyFrom[Settings](item)
	return settings, item.Version, err
}

// TestIsCurrent reports whether the last test was of the current provider and settings.
func (s *Service) TestIsCurrent(ctx context.Context, teamID string, settings Settings) (bool, error) {
	if settings.Test == nil {
		return false, nil
	}
	p := Party{Settings: settings}
	if settings.Method == SAML {
		var err error
		if p.Metadata, err = s.Teams.SAMLText(ctx, teamID); err != nil {
			if apierr.IsCode(err, apierr.CodeNotFound) {
				return false, nil
			}
			return false, err
		}
	}
	return settings.Test.Config == p.config(), nil
}

// config returns the hash of all that decides who signs in.
func (p Party) config() string {
	of := struct {
		Method    Method
		Attribute string
		Metadata  string
		OIDC      *Client
	}{Method: p.Settings.Method}
	if of.Method == SAML {
		of.Attribute, of.Metadata = p.Settings.Attribute, string(p.Metadata)
	} else {
		of.OIDC = p.Settings.OIDC
	}
	text, err := json.Marshal(of)
	if err != nil {
		panic(err) // it has no field that can fail to encode
	}
	return hash(string(text))
}

// Update applies change, possibly several times, and returns the settings. Single sign-on can be
// required only after a test of the settings by an admin. Invalid values are an *apierr.Error.
func (s *Service) Update(ctx context.Context, teamID string, change func(*Fields)) (Settings, error) {
	return s.update(ctx, teamID, func(after *Settings) error {
		change(&after.Fields)
		if len(after.Attribute) > MaxAttribute || strings.ContainsFunc(after.Attribute, unicode.IsControl) {
			return apierr.BadField("/attribute", "must have at most %d bytes and no control characters", MaxAttribute)
		}
		return nil
	})
}

// SetClient sets the team's OpenID Connect provider. A nil secret keeps the one that is stored for
// the same issuer and client; an empty one makes it a public client.
func (s *Service) SetClient(ctx context.Context, teamID, issuer, clientID string, secret *string) (Settings, error) {
	return s.update(ctx, teamID, func(after *Settings) error {
		c, err := s.client(ctx, teamID, after.OIDC, Client{Issuer: issuer, ClientID: clientID}, secret)
		after.OIDC = &c
		return err
	})
}

// RemoveClient removes the team's OpenID Connect provider, or returns a 404 if none is set.
func (s *Service) RemoveClient(ctx context.Context, teamID string) error {
	_, err := s.update(ctx, teamID, func(after *Settings) error {
		if after.OIDC == nil {
			return apierr.New(apierr.NotFound, apierr.CodeNotFound, "This team has no OpenID Connect provider. Set it with PUT /team/openid-provider.")
		}
		if after.Method == OIDC {
			if after.Required {
				return apierr.New(apierr.Conflict, apierr.CodeSignOnRequired, "Single sign-on is required. Turn that off before removing the provider.")
			}
			after.Method = ""
		}
		after.OIDC = nil
		return nil
	})
	return err
}

// update stores the settings that change makes.
func (s *Service) update(ctx context.Context, teamID string, change func(*Settings) error) (Settings, error) {
	for range maxAttempts {
		before, version, err := s.settings(ctx, teamID)
		if err != nil {
			return before, err
		}
		after := before
		if err = change(&after); err == nil {
			err = s.check(ctx, teamID, before, after)
		}
		if err != nil {
			return before, err
		}
		err = s.replace(ctx, teamID, before, after, version, audit.SignOnUpdated)
		if table.AsConditionFailed(err) == nil {
			if err != nil {
				return before, err
			}
			return s.Settings(ctx, teamID)
		}
	}
	return Settings{}, fmt.Errorf("change the settings of single sign-on: %w", table.ErrConflict)
}

const maxAttempts = 5

// check returns an error for settings with which nobody could sign in.
func (s *Service) check(ctx context.Context, teamID string, before, after Settings) error {
	if after.Method == OIDC && after.OIDC == nil {
		return apierr.New(apierr.Conflict, apierr.CodeSignOnNotConfigured, "Set the OpenID Connect provider before choosing it.")
	}
	configured, err := s.Teams.SAMLConfigured(ctx, teamID)
	if err != nil {
		return err
	}
	if after.Method == SAML && !configured {
		return apierr.New(apierr.Conflict, apierr.CodeSignOnNotConfigured, "Set the metadata of the SAML provider before choosing it.")
	}
	if !after.Required {
		return nil
	}
	if configured {
		before.Method, after.Method = cmp.Or(before.Method, SAML), cmp.Or(after.Method, SAML)
	}
	current, err := s.TestIsCurrent(ctx, teamID, after)
	if err != nil {
		return err
	}
	if !current && (!before.Required || before.Method != after.Method) {
		return apierr.New(apierr.Conflict, apierr.CodeSignOnNotTested, "Test the sign-in as an admin before requiring it: these settings were not tested yet.")
	}
	return nil
}

// client returns the client to store. A secret is never sent to another provider than it was
// entered for.
func (s *Service) client(ctx context.Context, teamID string, before *Client, after Client, secret *string) (Client, error) {
	if err := checkIssuer(after.Issuer); err != nil {
		return after, err
	}
	if n := len(after.ClientID); n == 0 || n > MaxClientID || strings.ContainsFunc(after.ClientID, unicode.IsControl) {
		return after, apierr.BadField("/clientId", "must have 1 to %d bytes and no control characters", MaxClientID)
	}
	switch {
	case secret == nil:
		if before != nil && before.Issuer == after.Issuer && before.ClientID == after.ClientID {
			after.Secret = before.Secret
		}
		return after, nil
	case *secret == "":
		return after, nil
	case len(*secret) > MaxSecret:
		return after, apierr.BadField("/clientSecret", "must have at most %d bytes", MaxSecret)
	}
	sealed, err := s.Seal(ctx, []byte(*secret), secretOf(teamID))
	if err != nil {
		return after, fmt.Errorf("encrypt the secret of a client: %w", err)
	}
	after.Secret = sealed
	return after, nil
}

// checkIssuer returns an error for an issuer that is not an https address; a loopback address may be
// without TLS, which only tests reach.
func checkIssuer(issuer string) error {
	u, err := url.Parse(issuer)
	loopback := err == nil && u.Scheme == "http" && (u.Hostname() == "127.0.0.1" || u.Hostname() == "localhost")
	if err != nil || u.Scheme != "https" && !loopback || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || len(issuer) > MaxIssuer {
		return apierr.BadField("/issuer", "must be an https address of at most %d bytes without a query", MaxIssuer)
	}
	return nil
}

// secretOf returns the text that the secret of a team's client is bound to.
func secretOf(teamID string) string { return teamID + "/single-sign-on" }

func (s *Service) openSecret(ctx context.Context, teamID string, settings Settings) (string, error) {
	switch {
	case settings.OIDC == nil:
		return "", &Failure{Reason: NotConfigured}
	case len(settings.OIDC.Secret) == 0:
		return "", nil
	}
	secret, err := s.Open(ctx, settings.OIDC.Secret, secretOf(teamID))
	if err != nil {
		return "", fmt.Errorf("decrypt the secret of a client: %w", err)
	}
	return string(secret), nil
}

// replace stores the settings under the condition that they still have the version before, with
// an event. Settings that do not change are not stored.
func (s *Service) replace(ctx context.Context, teamID string, before, after Settings, version int64, kind audit.Type) error {
	changes := changesOf(before, after)
	if len(changes) == 0 && kind == audit.SignOnUpdated {
		return nil
	}
	after.ChangedAt = s.Now().UTC().Truncate(time.Millisecond)
	item, err := itemOf(settingsKey(teamID), after, time.Time{})
	if err != nil {
		return err
	}
	item.Version = version + 1
	when := table.VersionIs(version)
	if version == 0 {
		when = table.Absent()
	}
	e := audit.Event{Type: kind, Changes: changes, Targets: []audit.Target{{Type: audit.TargetTeam, ID: teamID}}}
	err = s.Events.OrSilent(s.Table).Write(ctx, teamID, []audit.Event{e}, table.Put{Item: item, If: when})
	if err != nil {
		return fmt.Errorf("store the settings of single sign-on: %w", err)
	}
	return nil
}

// changesOf returns what differs, except the secret itself.
func changesOf(before, after Settings) []audit.Change {
	all := audit.Changes(before.Fields, after.Fields)
	for i, c := range all {
		if m, ok := c.From.(Method); ok {
			all[i].From, all[i].To = string(m), fmt.Sprint(c.To)
		}
	}
	var old, current Client
	if before.OIDC != nil {
		old = *before.OIDC
	}
	if after.OIDC != nil {
		current = *after.OIDC
	}
	if old.Issuer != current.Issuer {
		all = append(all, audit.Change{Field: "issuer", From: old.Issuer, To: current.Issuer})
	}
	if old.ClientID != current.ClientID {
		all = append(all, audit.Change{Field: "clientId", From: old.ClientID, To: current.ClientID})
	}
	if string(old.Secret) != string(current.Secret) {
		all = append(all, audit.RedactedChange("clientSecret"))
	}
	return all
}

// tested records a test that ended well.
func (s *Service) tested(ctx context.Context, t Ticket) error {
	for range maxAttempts {
		before, version, err := s.settings(ctx, t.TeamID)
		if err != nil {
			return err
		}
		after := before
		after.Test = &Test{At: s.Now().UTC().Truncate(time.Millisecond), UserName: t.UserName, Config: t.Config}
		if err = s.replace(ctx, t.TeamID, before, after, version, audit.SignOnTested); table.AsConditionFailed(err) == nil {
			return err
		}
	}
	return fmt.Errorf("record a test of single sign-on: %w", table.ErrConflict)
}

// CheckKeySignIn returns an error if the team requires single sign-on: then nobody can sign in
// with a personal key. A link of the operator still works.
func (s *Service) CheckKeySignIn(ctx context.Context, teamID string) error {
	settings, err := s.Settings(ctx, teamID)
	if err == nil && settings.Required && settings.Method != "" {
		return required()
	}
	return err
}

// CheckRemovableSAML returns a 409 if the team requires sign-in by SAML, whose metadata can then
// not be removed.
func (s *Service) CheckRemovableSAML(ctx context.Context, teamID string) error {
	settings, err := s.Settings(ctx, teamID)
	if err == nil && settings.Required && settings.Method == SAML {
		return apierr.New(apierr.Conflict, apierr.CodeSignOnRequired, "Single sign-on is required. Turn that off before removing the provider.")
	}
	return err
}

// TeamOf returns the id of the only team of the installation, or false if there are several.
func (s *Service) TeamOf(ctx context.Context) (string, bool, error) {
	ids, err := s.Teams.IDs(ctx, "", 2)
	if err != nil || len(ids) != 1 {
		return "", false, err
	}
	return ids[0], true, nil
}
