package source

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"reflect"
	"slices"
	"strings"

	"docent/shared/access"
	"docent/shared/apierr"
	"docent/shared/audit"
	"docent/shared/collection"
	"docent/shared/pending"
	"docent/shared/table"
)

// Change is a change of a connected data source. What it does not set stays.
type Change struct {
	Name     *string
	Settings Settings // these are set, secrets included
	Without  []string // these settings are removed
	Paused   *bool    // of a source that a connector reads

	SetsAccess    bool
	DefaultAccess *access.Rule // if SetsAccess; nil: everyone reads its items. A repeated name means whom it meant
}

// update is a data source that is being changed, as it was read.
type update struct {
	teamID        string
	provider      Provider
	d, after      DataSource
	settings      table.Item
	sealed        table.Item // Version 0: it has no secrets
	secrets, kept Secrets    // before and after
	changes       []audit.Change
}

// Update changes a connected data source and returns it with its settings and sync
// progress. New settings and secrets are checked like those of a new source. A running
// sync stops with its next page, and one with the new settings follows at once: parts
// that stay keep their checkpoints, new ones are read, and the items of others removed.
func (s *Service) Update(ctx context.Context, teamID, id string, c Change) (DataSource, error) {
	var tried Access // what the provider was last asked about
	for {
		u, err := s.readUpdate(ctx, teamID, id)
		if err != nil {
			return DataSource{}, err
		}
		if err := s.apply(ctx, u, c); err != nil {
			return DataSource{}, err
		}
		if len(u.changes) == 0 {
			return s.shownAfter(ctx, u)
		}
		u.after.ChangedAt = s.now()
		u.after.UpdatedAt = u.after.ChangedAt
		if now := (Access{Settings: u.after.Settings, Secrets: u.kept}); u.connects() && !reflect.DeepEqual(now, tried) {
			// A provider that cannot tell now shows in the sync that follows.
			if _, err := s.tried(ctx, u.d.Provider, now); err != nil {
				return DataSource{}, err
			}
			tried = now
		}
		ops, work, err := s.updateOps(ctx, u)
		if err != nil {
			return DataSource{}, err
		}
		changed := newEvent(audit.DataSourceUpdated, u.after)
		changed.Changes = u.changes
		err = s.Events.OrSilent(s.Table).Write(ctx, teamID, []audit.Event{changed}, ops...)
		switch failed := table.AsConditionFailed(err); {
		case failed != nil && failed.Key == collection.Key(teamID, id):
			return DataSource{}, Missing() // deleted in the meantime
		case failed != nil:
			continue // by another change, or by the sync
		case err != nil:
			return DataSource{}, fmt.Errorf("change data source: %w", err)
		}
		if work != nil {
			s.send(ctx, *work, 0)
		}
		return s.shownAfter(ctx, u)
	}
}

// shownAfter returns the changed source with its sync progress.
func (s *Service) shownAfter(ctx context.Context, u *update) (DataSource, error) {
	entries := []table.Entry[DataSource]{{Value: u.after}}
	err := s.addSettings(ctx, u.teamID, entries)
	return entries[0].Value, err
}

func (s *Service) readUpdate(ctx context.Context, teamID, id string) (*update, error) {
	item, err := s.get(ctx, teamID, id)
	if err != nil {
		return nil, err
	}
	u := &update{teamID: teamID, d: sourceFrom(item), secrets: Secrets{}}
	u.provider, _ = s.provider(u.d.Provider)
	items, err := s.Table.BatchGet(ctx, []table.Key{settingsKey(teamID, id), secretsKey(id)})
	if err != nil {
		return nil, fmt.Errorf("read settings: %w", err)
	}
	for _, item := range items {
		if item.Key == secretsKey(id) {
			u.sealed = item
			continue
		}
		u.settings = item
		if u.d.Settings, err = settingsFrom(item); err != nil {
			return nil, err
		}
	}
	return u, nil
}

// apply sets what is after c, and the changes for the audit event.
func (s *Service) apply(ctx context.Context, u *update, c Change) error {
	u.after = u.d
	if err := s.openBefore(ctx, u, c); err != nil {
		return err
	}
	if c.Name != nil && *c.Name != u.d.Name {
		u.after.Name = *c.Name
		if err := u.after.checkNewName(); err != nil {
			return err
		}
		u.changes = append(u.changes, audit.Change{Field: "name", From: u.d.Name, To: u.after.Name})
	}
	if c.SetsAccess {
		u.after.DefaultAccess = c.DefaultAccess.Repeating(u.d.DefaultAccess)
		u.changes = append(u.changes, collection.AccessChange(u.d.DefaultAccess, u.after.DefaultAccess)...)
	}
	if c.Paused != nil && *c.Paused != u.d.Paused {
		if s.Syncs == nil || !u.provider.IsSynced(u.d.Settings, u.secrets) {
			return apierr.BadField("/paused", "is allowed only for a source that a connector reads")
		}
		u.after.Paused = *c.Paused
		u.changes = append(u.changes, audit.Change{Field: "paused", From: u.d.Paused, To: u.after.Paused})
	}
	if err := u.after.checkName(); err != nil {
		return err
	}
	if len(c.Settings.values) == 0 && len(c.Without) == 0 {
		return nil
	}
	return s.applySettings(u, c)
}

// openBefore opens the secrets that the source has, if c needs to know them.
func (s *Service) openBefore(ctx context.Context, u *update, c Change) (err error) {
	if u.sealed.Version == 0 || len(c.Settings.values) == 0 && len(c.Without) == 0 && c.Paused == nil {
		return nil
	}
	u.secrets, err = s.openSecrets(ctx, u.teamID, u.d.ID, u.sealed)
	return err
}

// synced reports whether a connector reads the source before and after the change.
func (u *update) synced() (before, after bool) {
	kept := u.secrets
	if u.kept != nil {
		kept = u.kept
	}
	return u.provider.IsSynced(u.d.Settings, u.secrets), u.provider.IsSynced(u.after.Settings, kept)
}

func (s *Service) applySettings(u *update, c Change) error {
	settings, secrets, err := s.Configure(u.d.Provider, c.Settings)
	if err != nil {
		return err
	}
	values := map[string]any{}
	maps.Copy(values, u.d.Settings.values)
	maps.Copy(values, settings.values)
	u.kept = maps.Clone(u.secrets)
	maps.Copy(u.kept, secrets)
	checked := Secrets{}
	for _, one := range u.provider.Settings {
		if slices.Contains(c.Without, one.Name) {
			delete(values, one.Name)
			delete(u.kept, one.Name)
		}
		if text := u.kept[one.Name]; one.Kind == Secret && text != "" {
			checked[one.Name] = text
		}
		switch before, after := u.d.Settings.values[one.Name], values[one.Name]; {
		case one.Kind == Secret && u.secrets[one.Name] != u.kept[one.Name]:
			u.changes = append(u.changes, audit.RedactedChange("settings."+one.Name))
		case one.Kind != Secret && !reflect.DeepEqual(before, after):
			u.changes = append(u.changes, audit.Change{Field: "settings." + one.Name, From: before, To: after})
		}
	}
	u.after.Settings = Settings{values}
	if err := u.checkHosts(secrets); err != nil {
		return err
	}
	return u.after.check(u.provider, checked)
}

// checkHosts returns an error if a stored secret would be sent to another host than the one it was given for: the
// change must give it again. Otherwise someone who may change a source could read its secrets by pointing it at a
// server of their own.
func (u *update) checkHosts(given Secrets) error {
	moves := slices.ContainsFunc(u.provider.Settings, func(one Setting) bool {
		return one.Kind == URL && host(u.d.Settings.Text(one.Name)) != host(u.after.Settings.Text(one.Name))
	})
	if !moves {
		return nil
	}
	for _, one := range u.provider.Settings {
		if one.Kind == Secret && u.kept[one.Name] != "" && given[one.Name] == "" {
			return apierr.BadField("/settings/"+one.Name, "must be given again with an address on another host")
		}
	}
	return nil
}

// host returns the scheme, host and port of an address, or the address if it has none.
func host(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return address
	}
	return strings.ToLower(u.Scheme + "://" + u.Host)
}

// changesSettings reports whether settings other than secrets differ.
func (u *update) changesSettings() bool {
	return !reflect.DeepEqual(u.d.Settings.values, u.after.Settings.values)
}

// connects reports whether the provider is read differently from now on.
func (u *update) connects() bool {
	return u.kept != nil && (u.changesSettings() || !maps.Equal(u.secrets, u.kept))
}

// updateOps returns the operations of u, and the work of the sync that follows; nil: none
// does.
func (s *Service) updateOps(ctx context.Context, u *update) ([]table.Op, *pending.Work, error) {
	a := table.Add{Key: collection.Key(u.teamID, u.d.ID), If: table.Exists(), // a sync changes other fields of the item at any time
		Numbers: map[string]int64{changedField: u.after.ChangedAt.UnixMilli()}, Strings: map[string]string{}}
	if u.after.Name != u.d.Name {
		a.Strings[nameField] = u.after.Name
	}
	if !u.d.DefaultAccess.Equal(u.after.DefaultAccess) {
		collection.SetDefaultAccess(a, u.after.DefaultAccess)
	}
	if u.after.Paused != u.d.Paused {
		a.Strings[pausedField] = pausedText(u.after.Paused)
	}
	ops := []table.Op{a}
	if u.connects() {
		settings, err := u.settingsOps(ctx, s)
		if err != nil {
			return nil, nil, err
		}
		ops = append(ops, settings...)
	} else if u.after.Paused != u.d.Paused {
		settings, err := settingsItem(u.teamID, u.after)
		if err != nil {
			return nil, nil, err
		}
		// The same settings under a new version: of two changes at the same time, the one that is written second fails and
		// reads the source again.
		settings.Version = u.settings.Version + 1
		ops = append(ops, table.Put{Item: settings, If: table.VersionIs(u.settings.Version)})
		if u.sealed.Version != 0 {
			ops = append(ops, table.Add{Key: u.sealed.Key, If: table.Exists(), Strings: map[string]string{pausedField: pausedText(u.after.Paused)}})
		}
	}
	before, after := u.synced()
	if s.Syncs == nil || !before && !after || !u.connects() && u.after.Paused == u.d.Paused {
		return ops, nil, nil
	}
	more, work, err := s.interrupt(ctx, u)
	return append(ops, more...), work, err
}

// settingsOps returns the operations that store changed settings and secrets. They fail
// if either has changed, because they were checked together.
func (u *update) settingsOps(ctx context.Context, s *Service) ([]table.Op, error) {
	item, err := settingsItem(u.teamID, u.after)
	if err != nil {
		return nil, err
	}
	item.Version = u.settings.Version + 1
	ops := []table.Op{table.Put{Item: item, If: table.VersionIs(u.settings.Version)}}
	unchanged := table.VersionIs(u.sealed.Version)
	if u.sealed.Version == 0 {
		unchanged = table.Absent()
	}
	switch {
	case len(u.kept) == 0 && u.sealed.Version != 0:
		return append(ops, table.Delete{Key: secretsKey(u.d.ID), If: unchanged}), nil
	case len(u.kept) == 0:
		return append(ops, table.Check{Key: secretsKey(u.d.ID), If: unchanged}), nil
	}
	sealed, err := s.secretsItem(ctx, u.teamID, u.after, u.kept)
	if err != nil {
		return nil, err
	}
	sealed.Version = u.sealed.Version + 1
	return append(ops, table.Put{Item: sealed, If: unchanged}), nil
}

// interrupt returns the operations that make a running sync stop with its next page, and
// schedule one for now unless the source is paused or no connector reads it any more. The next sync applies the changed
// settings.
func (s *Service) interrupt(ctx context.Context, u *update) ([]table.Op, *pending.Work, error) {
	var st syncState
	cond := table.Absent()
	item, err := s.Table.Get(ctx, syncKey(u.teamID, u.d.ID))
	switch {
	case err == nil:
		if st, err = syncStateFrom(item); err != nil {
			return nil, nil, err
		}
		cond = table.VersionIs(st.version)
	case !errors.Is(err, table.ErrNotFound):
		return nil, nil, fmt.Errorf("read the state of the sync: %w", err)
	}
	before := st.work(u.teamID, u.d.ID)
	st.version++
	st.Paused, st.NotBefore, st.Limited, st.Code, st.Detail = u.after.Paused, 0, 0, "", ""
	if st.due = s.now().UnixMilli(); st.due == before.At {
		st.due++ // both pending keys contain the due time and must differ
	}
	var ops []table.Op
	if u.changesSettings() && cond != table.Absent() {
		st.Changed = true
		replaced, err := u.replaced().item(u.teamID, u.d.ID, u.settings.Version)
		if err != nil {
			return nil, nil, err
		}
		ops = append(ops, table.Put{Item: replaced})
	}
	if item, err = st.item(u.teamID, u.d.ID); err != nil {
		return nil, nil, err
	}
	ops = append(ops, table.Put{Item: item, If: cond}, table.Delete{Key: before.Key()})
	if _, synced := u.synced(); st.Paused || !synced {
		return ops, nil, nil
	}
	work := st.work(u.teamID, u.d.ID)
	return append(ops, work.Promise()), &work, nil
}

// replacedSettings are settings that were changed since the last sync.
type replacedSettings struct {
	Settings Settings `json:"settings"`
	// Reread: the change is about every part, so that none keeps its checkpoint.
	Reread bool `json:"reread,omitempty"`
	// Close: fewer may read the items; see Setting.Opens.
	Close bool `json:"close,omitempty"`
}

const replacedPrefix = "replaced#"

// replaced returns the settings that u replaces.
func (u *update) replaced() replacedSettings {
	old := replacedSettings{Settings: u.d.Settings}
	for _, one := range u.provider.Settings {
		if one.Kind != Secret && !one.Parts && !reflect.DeepEqual(u.d.Settings.values[one.Name], u.after.Settings.values[one.Name]) {
			old.Reread = true
		}
		if one.Opens != "" && u.d.Settings.Text(one.Name) == one.Opens && u.after.Settings.Text(one.Name) != one.Opens {
			old.Close = true
		}
	}
	return old
}

func (old replacedSettings) item(teamID, id string, version int64) (table.Item, error) {
	body, err := json.Marshal(old)
	if err != nil {
		return table.Item{}, fmt.Errorf("encode replaced settings: %w", err)
	}
	return table.Item{Key: table.Key{Table: table.Collections, Partition: settingsKey(teamID, id).Partition,
		Sort: fmt.Sprintf("%s%010d", replacedPrefix, version)}, Version: 1, Body: body}, nil
}

func replacedFrom(item table.Item) (old replacedSettings, err error) {
	if err := json.Unmarshal(item.Body, &old); err != nil {
		return old, fmt.Errorf("decode replaced settings: %w", err)
	}
	return old, nil
}
