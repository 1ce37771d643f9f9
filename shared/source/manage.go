package source

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"docent/shared/access"
	"docent/shared/apierr"
	"docent/shared/audit"
	"docent/shared/collection"
	"docent/shared/document"
	"docent/shared/pending"
	"docent/shared/table"
)

// Create connects a data source with d's provider, name and settings. If Docent
// generates the secret that signs its deliveries, Create returns that too; it is
// never shown again. Settings that the provider rejects are a field error. If the
// provider cannot be reached, the source is created and says so in LastError.
func (s *Service) Create(ctx context.Context, teamID string, d DataSource, secrets Secrets) (DataSource, string, error) {
	p, known := s.provider(d.Provider)
	if !known {
		return DataSource{}, "", apierr.BadField("/provider", "must be one of the providers that can be connected")
	}
	if err := cmp.Or(d.checkNewName(), d.check(p, secrets)); err != nil {
		return DataSource{}, "", err
	}
	now := s.now()
	d.ID, d.CreatedAt, d.ChangedAt, d.UpdatedAt, d.State = s.NewID(), now, now, now, Ready
	if p.Webhook != nil || p.IsSynced(d.Settings, secrets) {
		d.State = Connecting
	}
	generated := ""
	if p.Webhook != nil && p.Webhook.NewSecret != "" {
		generated = newSecret()
		given := secrets
		secrets = Secrets{}
		maps.Copy(secrets, given)
		secrets[p.Webhook.NewSecret] = generated
	}
	settings, err := settingsItem(teamID, d)
	if err != nil {
		return DataSource{}, "", err
	}
	var ops []table.Op
	if len(secrets) > 0 {
		sealed, err := s.secretsItem(ctx, teamID, d, secrets)
		if err != nil {
			return DataSource{}, "", err
		}
		ops = append(ops, table.Put{Item: sealed, If: table.Absent()})
	}
	if d.LastError, err = s.tried(ctx, d.Provider, Access{Settings: d.Settings, Secrets: secrets}); err != nil {
		return DataSource{}, "", err
	}
	ops = append(ops,
		table.Add{Key: countKey(teamID), By: map[string]int64{"n": 1}, If: table.Below("n", MaxPerTeam)},
		table.Put{Item: sourceItem(teamID, d), If: table.Absent()},
		table.Put{Item: settings, If: table.Absent()})
	first, work, err := s.firstSync(teamID, d, secrets)
	if err != nil {
		return DataSource{}, "", err
	}
	ops = append(ops, first...)
	err = s.Events.OrSilent(s.Table).Write(ctx, teamID, []audit.Event{newEvent(audit.DataSourceCreated, d)}, ops...)
	if failed := table.AsConditionFailed(err); failed != nil && failed.Key == countKey(teamID) {
		return DataSource{}, "", apierr.New(apierr.Conflict, apierr.CodeDataSourceLimit, "This team has reached its limit of %d connected data sources. Disconnect one first.", MaxPerTeam)
	}
	if err != nil {
		return DataSource{}, "", fmt.Errorf("create data source: %w", err)
	}
	if work != nil {
		s.send(ctx, *work, 0)
	}
	return d, generated, nil
}

// get returns the item of a connected data source.
func (s *Service) get(ctx context.Context, teamID, id string) (table.Item, error) {
	if !collection.IsID(id) {
		return table.Item{}, Missing()
	}
	item, err := s.Table.Get(ctx, collection.Key(teamID, id))
	if errors.Is(err, table.ErrNotFound) {
		return table.Item{}, Missing()
	}
	if err != nil {
		return table.Item{}, fmt.Errorf("read data source: %w", err)
	}
	if !collection.IsConnected(item) {
		return table.Item{}, apierr.New(apierr.Invalid, apierr.CodeInvalidRequest,
			"This is the id of a collection; use /collections and /documents for it.")
	}
	return item, nil
}

// List returns the window w of the team's data sources, collections included,
// newest first, without those that allowed rejects.
func (s *Service) List(ctx context.Context, teamID string, w table.Window, allowed func(id string) bool) (table.Slice[DataSource], error) {
	collections, err := s.Collections.All(ctx, teamID)
	if err != nil {
		return table.Slice[DataSource]{}, err
	}
	var all []table.Entry[DataSource]
	add := func(d DataSource) {
		if allowed(d.ID) {
			all = append(all, table.Entry[DataSource]{Position: table.Inverted(d.CreatedAt) + "#" + d.ID, Value: d})
		}
	}
	for _, c := range collections {
		add(DataSource{ID: c.ID, Provider: Custom, Name: c.Name, DefaultAccess: c.DefaultAccess, State: Ready, CreatedAt: c.CreatedAt, ChangedAt: c.CreatedAt, UpdatedAt: c.CreatedAt})
	}
	for item, err := range table.All(ctx, s.Table, table.Query{Table: table.Collections, Partition: teamID}) {
		if err != nil {
			return table.Slice[DataSource]{}, fmt.Errorf("list data sources: %w", err)
		}
		if collection.IsConnected(item) {
			add(sourceFrom(item))
		}
	}
	slices.SortFunc(all, func(a, b table.Entry[DataSource]) int { return strings.Compare(a.Position, b.Position) })
	out := table.SliceOf(all, w)
	return out, s.addSettings(ctx, teamID, out.Entries)
}

// addSettings adds to connected sources their settings and sync progress.
func (s *Service) addSettings(ctx context.Context, teamID string, entries []table.Entry[DataSource]) error {
	at := map[string]*DataSource{} // by partition
	var keys []table.Key
	for i := range entries {
		if d := &entries[i].Value; d.Provider != Custom {
			k := settingsKey(teamID, d.ID)
			at[k.Partition], keys = d, append(keys, k)
			if p, _ := s.provider(d.Provider); p.Opener != nil {
				keys = append(keys, syncKey(teamID, d.ID))
			}
		}
	}
	if len(keys) == 0 {
		return nil
	}
	items, err := s.Table.BatchGet(ctx, keys)
	if err != nil {
		return fmt.Errorf("read settings: %w", err)
	}
	for _, item := range items {
		d := at[item.Partition]
		if item.Key == settingsKey(teamID, d.ID) {
			if d.Settings, err = settingsFrom(item); err != nil {
				return err
			}
			continue
		}
		st, err := syncStateFrom(item)
		if err != nil {
			return err
		}
		progress := st.progress()
		d.Sync = &progress
	}
	return nil
}

// Delete removes a connected data source at once. A worker removes its items later.
func (s *Service) Delete(ctx context.Context, teamID, id, requestID string) error {
	item, err := s.get(ctx, teamID, id)
	if err != nil {
		return err
	}
	d := sourceFrom(item)
	work := pending.Work{Kind: pending.RemoveCollection, TeamID: teamID, ID: id, At: s.Now().UnixMilli(), RequestID: requestID}
	ops := []table.Op{
		table.Delete{Key: collection.Key(teamID, id), If: table.Exists()},
		table.Delete{Key: settingsKey(teamID, id)},
		table.Delete{Key: secretsKey(id)},
		table.Add{Key: countKey(teamID), By: map[string]int64{"n": -1}},
		work.Promise()}
	ops = append(ops, document.KeepRule(teamID, id, d.DefaultAccess)...)
	forget := s.forgetting(teamID, d)
	if forget != nil {
		ops = append(ops, table.Delete{Key: syncKey(teamID, id)}, forget.Promise())
	}
	err = s.Events.OrSilent(s.Table).Write(ctx, teamID, []audit.Event{newEvent(audit.DataSourceDeleted, d)}, ops...)
	if table.AsConditionFailed(err) != nil {
		return Missing()
	}
	if err != nil {
		return fmt.Errorf("delete data source: %w", err)
	}
	if err := s.Work.Send(ctx, work.Outgoing(0)); err != nil {
		s.Warn(work, err)
	}
	if forget != nil {
		s.send(ctx, *forget, 0)
	}
	return nil
}

// forgetting returns the work that removes what the syncs of d have stored, once d and the state of its sync are gone; nil: no
// connector reads such a source. The next sync would do it too, but a paused source has none.
func (s *Service) forgetting(teamID string, d DataSource) *pending.Work {
	if p, _ := s.provider(d.Provider); s.Syncs == nil || p.Opener == nil {
		return nil
	}
	return &pending.Work{Kind: pending.SyncSource, TeamID: teamID, ID: d.ID, At: s.now().UnixMilli()}
}

func newEvent(kind audit.Type, d DataSource) audit.Event {
	return audit.Event{Type: kind, Targets: []audit.Target{{Type: audit.TargetDataSource, ID: d.ID, DisplayName: d.Name}}}
}

// recordSync records that content arrived. It does not recreate a deleted source.
func (s *Service) recordSync(ctx context.Context, teamID, id string) error {
	_, err := s.Table.Add(ctx, table.Add{Key: collection.Key(teamID, id), If: table.Exists(),
		Numbers: map[string]int64{syncField: s.now().UnixMilli()},
		Strings: map[string]string{stateField: string(Ready), codeField: "", detailField: ""}})
	if err != nil && table.AsConditionFailed(err) == nil {
		return fmt.Errorf("record the sync: %w", err)
	}
	return nil
}

// leftOut records on a data source that an item was not stored, and why: what continues "its". The state stays, as after a sync that left
// items out: the source can be read, and the whole team sees the state. It does not recreate a deleted source.
func (s *Service) leftOut(ctx context.Context, teamID, id, why string) error {
	_, err := s.Table.Add(ctx, table.Add{Key: collection.Key(teamID, id), If: table.Exists(),
		Numbers: map[string]int64{errorTimeField: s.now().UnixMilli()},
		Strings: map[string]string{codeField: ItemRejected, detailField: "An item was left out: its " + why + "."}})
	if err != nil && table.AsConditionFailed(err) == nil {
		return fmt.Errorf("record the item that was left out: %w", err)
	}
	return nil
}

// Fail records on a data source that its content could not be updated. It does not
// recreate a deleted source.
func (s *Service) Fail(ctx context.Context, teamID, id string, f SyncFailure) error {
	told, err := s.failedNotices(ctx, teamID, id)
	if err != nil {
		return err
	}
	err = s.Table.Write(ctx, append(told.promises(), table.Add{Key: collection.Key(teamID, id), If: table.Exists(),
		Numbers: map[string]int64{errorTimeField: s.now().UnixMilli()},
		Strings: map[string]string{stateField: string(Failed), codeField: f.Code, detailField: f.Detail}})...)
	switch {
	case err == nil:
		s.Outbox.Send(ctx, told...)
	case table.AsConditionFailed(err) == nil:
		return fmt.Errorf("record the failure: %w", err)
	}
	return nil
}

// ProviderOf returns the provider of a data source of the team, or Missing.
func (s *Service) ProviderOf(ctx context.Context, teamID, id string) (ProviderName, error) {
	item, err := s.Table.Get(ctx, collection.Key(teamID, id))
	if errors.Is(err, table.ErrNotFound) {
		return "", Missing()
	}
	if err != nil {
		return "", fmt.Errorf("read data source: %w", err)
	}
	return providerOf(item), nil
}

// Shelf is what a question needs to know of a data source.
type Shelf struct {
	Provider      ProviderName
	DefaultAccess *access.Rule // of its items and documents; nil: everyone reads them
}

// Shelves returns the team's data sources by id.
func (s *Service) Shelves(ctx context.Context, teamID string) (map[string]Shelf, error) {
	all := map[string]Shelf{}
	for item, err := range table.All(ctx, s.Table, table.Query{Table: table.Collections, Partition: teamID}) {
		if err != nil {
			return nil, fmt.Errorf("list data sources: %w", err)
		}
		all[item.Sort] = Shelf{providerOf(item), collection.DefaultAccess(item)}
	}
	return all, nil
}

func providerOf(item table.Item) ProviderName {
	if !collection.IsConnected(item) {
		return Custom
	}
	return ProviderName(item.Strings[collection.ProviderField])
}
