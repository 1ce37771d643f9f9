package team

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"docent/shared/apierr"
	"docent/shared/audit"
	"docent/shared/table"
)

// SAMLMetadata is the metadata of the team's SAML identity provider.
type SAMLMetadata struct {
	SAMLProvider
	UpdatedAt time.Time `json:"updatedAt"`
}

// SAMLProvider is the content of SAML metadata (SAML V2.0 Metadata, section 2).
type SAMLProvider struct {
	EntityID        string            `json:"entityId"`
	SingleSignOnURL string            `json:"singleSignOnUrl"`
	Certificates    []SAMLCertificate `json:"certificates"`          // at least one
	MetadataURL     string            `json:"metadataUrl,omitempty"` // where the metadata was read; empty if it was sent
}

// SAMLCertificate is a certificate with which the provider signs.
type SAMLCertificate struct {
	Subject  string    `json:"subject"`
	SHA256   string    `json:"sha256"` // of its DER form, in hexadecimal
	NotAfter time.Time `json:"notAfter"`
}

// MaxSAMLBytes limits the text of the metadata.
const MaxSAMLBytes = 1 << 20

// The text of the metadata is stored in parts that fit into items.
const (
	samlPart     = 300 << 10
	maxSAMLParts = (MaxSAMLBytes + samlPart - 1) / samlPart
)

func samlKey(teamID string) table.Key { return identity(teamID, "saml") }

func samlPartKey(teamID string, part int) table.Key {
	return identity(teamID+"/saml", fmt.Sprintf("%02d", part))
}

func missingSAML() error {
	return apierr.New(apierr.NotFound, apierr.CodeNotFound, "This team has no SAML metadata. Set it with PUT /team/saml-metadata.")
}

// SAML returns the metadata of the team's identity provider, or a 404 if none is set.
func (s *Service) SAML(ctx context.Context, teamID string) (SAMLMetadata, error) {
	item, err := s.Table.Get(ctx, samlKey(teamID))
	if errors.Is(err, table.ErrNotFound) {
		return SAMLMetadata{}, missingSAML()
	}
	if err != nil {
		return SAMLMetadata{}, fmt.Errorf("read SAML metadata: %w", err)
	}
	return samlFrom(item)
}

func samlItem(teamID string, m SAMLMetadata) (table.Item, error) {
	body, err := json.Marshal(m)
	if err != nil {
		return table.Item{}, fmt.Errorf("encode SAML metadata: %w", err)
	}
	return table.Item{Key: samlKey(teamID), Body: body}, nil
}

func samlFrom(item table.Item) (SAMLMetadata, error) {
	var m SAMLMetadata
	if err := json.Unmarshal(item.Body, &m); err != nil {
		return m, fmt.Errorf("decode SAML metadata: %w: %w", errDamaged, err)
	}
	return m, nil
}

// samlChanges returns the differences of before and after, certificates by their SHA-256.
// Events do not contain the text.
func samlChanges(before, after SAMLProvider) []audit.Change {
	var all []audit.Change
	for _, field := range []struct{ name, from, to string }{
		{"entityId", before.EntityID, after.EntityID}, {"singleSignOnUrl", before.SingleSignOnURL, after.SingleSignOnURL},
		{"metadataUrl", before.MetadataURL, after.MetadataURL},
	} {
		if field.from != field.to {
			all = append(all, audit.Change{Field: field.name, From: orNil(field.from), To: orNil(field.to)})
		}
	}
	sums := func(m SAMLProvider) []string {
		of := []string{}
		for _, c := range m.Certificates {
			of = append(of, c.SHA256)
		}
		return of
	}
	if from, to := sums(before), sums(after); !slices.Equal(from, to) {
		all = append(all, audit.Change{Field: "certificates", From: from, To: to})
	}
	return all
}

// orNil returns text, or nil if it is empty.
func orNil(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// SAMLText returns the text of the metadata, or a 404 if none is set.
func (s *Service) SAMLText(ctx context.Context, teamID string) ([]byte, error) {
	for range maxAttempts {
		var text []byte
		item, err := s.Table.Get(ctx, samlKey(teamID))
		if errors.Is(err, table.ErrNotFound) {
			return nil, missingSAML()
		}
		if err != nil {
			return nil, fmt.Errorf("read SAML metadata: %w", err)
		}
		complete := true
		for part, err := range table.All(ctx, s.Table, table.Query{Table: table.Identities, Partition: teamID + "/saml"}) {
			if err != nil {
				return nil, fmt.Errorf("read SAML metadata: %w", err)
			}
			complete = complete && part.Version == item.Version
			text = append(text, part.Body...)
		}
		if complete && int64(len(text)) == item.Numbers[samlBytes] {
			return text, nil
		}
	}
	return nil, fmt.Errorf("read SAML metadata: %w", table.ErrConflict)
}

// samlBytes is the length of the full text.
const samlBytes = "bytes"

// SAMLConfigured reports whether SAML metadata is set. A removal may take effect a second
// later.
func (s *Service) SAMLConfigured(ctx context.Context, teamID string) (bool, error) {
	for _, opts := range [][]table.ReadOption{{table.Eventual}, nil} {
		_, err := s.Table.Get(ctx, samlKey(teamID), opts...)
		if err == nil {
			return true, nil
		}
		if !errors.Is(err, table.ErrNotFound) {
			return false, fmt.Errorf("read SAML metadata: %w", err)
		}
	}
	return false, nil
}

// SetSAML replaces the team's SAML metadata by text, at most MaxSAMLBytes, whose content is p.
// The same text from the same place changes nothing.
func (s *Service) SetSAML(ctx context.Context, teamID string, p SAMLProvider, text []byte) (SAMLMetadata, error) {
	set, err := s.SAMLText(ctx, teamID)
	if err == nil && bytes.Equal(set, text) {
		if m, err := s.SAML(ctx, teamID); err != nil || m.MetadataURL == p.MetadataURL {
			return m, err
		}
	}
	if err != nil && !apierr.IsCode(err, apierr.CodeNotFound) {
		return SAMLMetadata{}, err
	}
	m := SAMLMetadata{SAMLProvider: p, UpdatedAt: s.moment()}
	item, err := samlItem(teamID, m)
	if err != nil {
		return m, err
	}
	item.Numbers = map[string]int64{samlBytes: int64(len(text))}
	err = s.changeSAML(ctx, teamID, audit.SAMLMetadataUpdated, p, func(version int64) []table.Op {
		item.Version = version
		ops := []table.Op{
			table.Put{Item: item},
			table.Check{Key: teamKey(teamID), If: table.Exists()},
		}
		for part := range maxSAMLParts {
			from := min(part*samlPart, len(text))
			piece := text[from:min(from+samlPart, len(text))]
			if len(piece) == 0 {
				ops = append(ops, table.Delete{Key: samlPartKey(teamID, part)})
				continue
			}
			ops = append(ops, table.Put{Item: table.Item{Key: samlPartKey(teamID, part), Version: version, Body: piece}})
		}
		return ops
	})
	return m, err
}

// RemoveSAML removes the team's SAML metadata, or returns a 404 if none is set.
func (s *Service) RemoveSAML(ctx context.Context, teamID string) error {
	if _, err := s.SAML(ctx, teamID); err != nil {
		return err
	}
	return s.changeSAML(ctx, teamID, audit.SAMLMetadataDeleted, SAMLProvider{}, func(int64) []table.Op {
		ops := []table.Op{table.Delete{Key: samlKey(teamID)}}
		for part := range maxSAMLParts {
			ops = append(ops, table.Delete{Key: samlPartKey(teamID, part)})
		}
		return ops
	})
}

// changeSAML writes the operations that change returns for the next version, the first of which
// is on the metadata's own item, and an event of the given kind with the changes to after.
func (s *Service) changeSAML(ctx context.Context, teamID string, kind audit.Type, after SAMLProvider, change func(version int64) []table.Op) error {
	event := s.Events.OrSilent(s.Table).Claim(ctx, teamID, 1)
	defer event.End(ctx)
	about := audit.Event{Type: kind, Targets: []audit.Target{{Type: audit.TargetSAMLMetadata, ID: teamID}}}
	for range maxAttempts {
		// The time, so that metadata set after a removal has another version: SAMLText knows by it which parts belong together.
		when, version := table.Absent(), s.Now().UnixNano()
		var before SAMLMetadata
		item, err := s.Table.Get(ctx, samlKey(teamID))
		switch {
		case err == nil:
			if before, err = samlFrom(item); err != nil {
				return err
			}
			when, version = table.VersionIs(item.Version), max(version, item.Version+1)
		case !errors.Is(err, table.ErrNotFound):
			return fmt.Errorf("read SAML metadata: %w", err)
		}
		about.Changes = samlChanges(before.SAMLProvider, after)
		ops := change(version)
		switch first := ops[0].(type) {
		case table.Put:
			first.If = when
			ops[0] = first
		case table.Delete:
			first.If = when
			ops[0] = first
		}
		err = event.Write(ctx, []audit.Event{about}, ops...)
		switch failed := table.AsConditionFailed(err); {
		case failed == nil && err != nil:
			return fmt.Errorf("store SAML metadata: %w", err)
		case failed == nil:
			return nil
		case failed.Key == teamKey(teamID):
			return missingTeam()
		}
	}
	return fmt.Errorf("store SAML metadata: %w", table.ErrConflict)
}
