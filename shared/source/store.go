package source

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"docent/shared/collection"
	"docent/shared/table"
)

// A connected source has three items: a small one for lists and searches, stored
// with the collections; its settings; and its secrets, stored by its id alone
// because a webhook names no team.
func settingsKey(teamID, id string) table.Key {
	return table.Key{Table: table.Collections, Partition: teamID + "/source/" + id, Sort: "settings"}
}

const secretsPrefix = "source/" // followed by the source's id

func secretsKey(id string) table.Key {
	return table.Key{Table: table.Collections, Partition: secretsPrefix + id, Sort: "secrets"}
}

func deliveryKey(teamID, id, delivery string) table.Key {
	return table.Key{Table: table.Collections, Partition: teamID + "/delivered/" + id, Sort: delivery}
}

func countKey(teamID string) table.Key {
	return table.Key{Table: table.Collections, Partition: teamID + "/count", Sort: "sources"}
}

// The fields of a source's item. An Add sets lastSync and the fields of an error,
// so that other changes of the item do not conflict.
const (
	nameField      = "name"
	stateField     = "state"
	codeField      = "errorCode"
	detailField    = "errorDetail"
	createdField   = "created"
	syncField      = "lastSync"
	errorTimeField = "errorAt"
	teamField      = "team"
	changedField   = "changed"
	pausedField    = "paused" // also of the secrets, for webhooks
)

func sourceItem(teamID string, d DataSource) table.Item {
	item := table.Item{Key: collection.Key(teamID, d.ID), Version: 1,
		Strings: map[string]string{collection.ProviderField: string(d.Provider), nameField: d.Name, stateField: string(d.State)},
		Numbers: map[string]int64{createdField: d.CreatedAt.UnixMilli()}}
	if d.Paused {
		item.Strings[pausedField] = pausedText(true)
	}
	if d.LastError != nil {
		item.Strings[codeField], item.Strings[detailField] = d.LastError.Code, d.LastError.Detail
		item.Numbers[errorTimeField] = d.LastError.At.UnixMilli()
	}
	collection.StoreDefaultAccess(&item, d.DefaultAccess)
	return item
}

func sourceFrom(item table.Item) DataSource {
	at := func(name string) time.Time { return time.UnixMilli(item.Numbers[name]).UTC() }
	d := DataSource{ID: item.Sort, Provider: ProviderName(item.Strings[collection.ProviderField]), Name: item.Strings[nameField],
		State: State(item.Strings[stateField]), CreatedAt: at(createdField), ChangedAt: at(createdField),
		DefaultAccess: collection.DefaultAccess(item), Paused: item.Strings[pausedField] != ""}
	if t := at(changedField); t.After(d.ChangedAt) {
		d.ChangedAt = t
	}
	d.UpdatedAt = d.ChangedAt
	if _, ok := item.Numbers[syncField]; ok {
		t := at(syncField)
		if d.LastSync = &t; t.After(d.UpdatedAt) {
			d.UpdatedAt = t
		}
	}
	if code := item.Strings[codeField]; code != "" {
		d.LastError = &SyncFailure{code, item.Strings[detailField], at(errorTimeField)}
		if d.LastError.At.After(d.UpdatedAt) {
			d.UpdatedAt = d.LastError.At
		}
	}
	return d
}

func settingsItem(teamID string, d DataSource) (table.Item, error) {
	body, err := json.Marshal(d.Settings)
	if err != nil {
		return table.Item{}, fmt.Errorf("encode settings: %w", err)
	}
	return table.Item{Key: settingsKey(teamID, d.ID), Version: 1, Body: body}, nil
}

func settingsFrom(item table.Item) (Settings, error) {
	var s Settings
	if err := json.Unmarshal(item.Body, &s); err != nil {
		return s, fmt.Errorf("decode settings of %s: %w", item.Partition, err)
	}
	return s, nil
}

// about returns the text that the secrets of a source are bound to.
func about(teamID, id string) string { return teamID + "/" + id }

func (s *Service) secretsItem(ctx context.Context, teamID string, d DataSource, secrets Secrets) (table.Item, error) {
	text, err := json.Marshal(secrets)
	if err != nil {
		return table.Item{}, fmt.Errorf("encode secrets: %w", err)
	}
	sealed, err := s.Seal(ctx, text, about(teamID, d.ID))
	if err != nil {
		return table.Item{}, fmt.Errorf("encrypt secrets: %w", err)
	}
	item := table.Item{Key: secretsKey(d.ID), Version: 1, Body: sealed,
		Strings: map[string]string{teamField: teamID, collection.ProviderField: string(d.Provider)}}
	if d.Paused {
		item.Strings[pausedField] = pausedText(true)
	}
	return item, nil
}

// pausedText returns the stored form of whether a source is paused.
func pausedText(paused bool) string {
	if paused {
		return "yes"
	}
	return ""
}

// openSecrets decrypts the secrets of a source.
func (s *Service) openSecrets(ctx context.Context, teamID, id string, item table.Item) (Secrets, error) {
	var secrets Secrets
	text, err := s.Open(ctx, item.Body, about(teamID, id))
	if err != nil {
		return nil, fmt.Errorf("decrypt secrets of data source %s: %w", id, err)
	}
	if err := json.Unmarshal(text, &secrets); err != nil {
		return nil, fmt.Errorf("decode secrets of data source %s: %w", id, err)
	}
	return secrets, nil
}

// webhookSource is a source that a webhook found by its id alone.
type webhookSource struct {
	teamID   string
	id       string
	provider ProviderName
	secrets  Secrets
	paused   bool
}

// webhookSourceByID returns the source with that id, whatever its team, or
// table.ErrNotFound.
func (s *Service) webhookSourceByID(ctx context.Context, id string) (webhookSource, error) {
	if !collection.IsID(id) {
		return webhookSource{}, table.ErrNotFound
	}
	item, err := s.Table.Get(ctx, secretsKey(id))
	if errors.Is(err, table.ErrNotFound) {
		return webhookSource{}, err
	}
	if err != nil {
		return webhookSource{}, fmt.Errorf("read secrets: %w", err)
	}
	return s.webhookSourceFrom(ctx, item)
}

func (s *Service) webhookSourceFrom(ctx context.Context, item table.Item) (webhookSource, error) {
	k := webhookSource{teamID: item.Strings[teamField], id: strings.TrimPrefix(item.Partition, secretsPrefix),
		provider: ProviderName(item.Strings[collection.ProviderField]), paused: item.Strings[pausedField] != ""}
	var err error
	k.secrets, err = s.openSecrets(ctx, k.teamID, k.id, item)
	return k, err
}
