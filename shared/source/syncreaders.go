package source

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"docent/shared/access"
	"docent/shared/document"
	"docent/shared/filter"
)

// giveReaders gives p.Readers, if not nil, to all stored items of a part that have others. It can be interrupted and repeated at any point.
// The state that has them must be saved: then no event stores an item by an older one.
func (r *syncRun) giveReaders(ctx context.Context, part string, p *partState) error {
	if p.Readers == nil {
		return nil
	}
	rule := nobody()
	if p.Readers.Check() == nil { // else its items are left out
		resolved, err := r.Resolve(ctx, r.teamID, p.Readers)
		if err != nil {
			return fmt.Errorf("resolve who may read: %w", err)
		}
		rule = resolved[0]
	}
	if err := r.setReadersOf(ctx, func(e document.Entry) (*access.Rule, bool) {
		own := rule
		if p.Narrow {
			own = among(e.Access, rule)
		}
		marked := p.Marked == "" || e.Metadata[p.Marked].Equal(filter.Bool(true))
		return own, marked && r.Connector.PartContains(r.access.Settings, part, e.URI)
	}); err != nil {
		return err
	}
	p.Readers, p.Narrow, p.Marked = nil, false, ""
	return nil
}

// hideAfter is how long a provider does not show a part before its items are hidden: it may have failed.
const hideAfter = time.Hour

// hidePart notes that the provider does not show a part. When that has been so for long it forgets the checkpoint, so that no event stores an
// item by it, and lets nobody read the items. It can be interrupted and repeated at any point.
func (r *syncRun) hidePart(ctx context.Context, part string) error {
	p, now := r.parts[part], r.now().UnixMilli()
	switch {
	case p.version == 0 || p.Hidden: // nothing was read of it, or it is done
		return nil
	case p.HiddenSince == 0 || p.HiddenSince > now: // for the first time, or the clock was ahead then
		p.HiddenSince = now
		return r.savePart(ctx, part, &p)
	case now-p.HiddenSince < hideAfter.Milliseconds():
		return nil
	}
	p.partBody = partBody{Listed: p.Listed, HiddenSince: p.HiddenSince}
	if err := r.savePart(ctx, part, &p); err != nil {
		return err
	}
	if err := r.setReadersOf(ctx, func(e document.Entry) (*access.Rule, bool) {
		return nobody(), r.Connector.PartContains(r.access.Settings, part, e.URI)
	}); err != nil {
		return err
	}
	p.Hidden = true
	return r.savePart(ctx, part, &p)
}

// setReadersOf gives each stored item the rule that of returns, unless of says that the item keeps its own. It can be interrupted and
// repeated at any point.
func (r *syncRun) setReadersOf(ctx context.Context, of func(document.Entry) (rule *access.Rule, set bool)) error {
	group, gctx := errgroup.WithContext(ctx)
	group.SetLimit(parallelStores)
	for _, space := range itemSpaces {
		for e, err := range r.Documents.Items(gctx, r.teamID, r.id, space, true) {
			if err == nil {
				err = r.stillTime(ctx)
			}
			if err != nil {
				return errors.Join(err, group.Wait())
			}
			rule, set := of(e)
			if !set || rule.Repeating(e.Access).Equal(e.Access) {
				continue
			}
			group.Go(func() error { return r.setReaders(gctx, e, rule) })
		}
	}
	return group.Wait()
}

// among returns the rule of those in old that are in most too. No rule is everybody.
func among(old, most *access.Rule) *access.Rule {
	if old == nil {
		return most
	}
	kept := func(all, most []access.Entry) []access.Entry {
		return slices.DeleteFunc(slices.Clone(all), func(e access.Entry) bool {
			return !slices.ContainsFunc(most, func(m access.Entry) bool { return m.Name == e.Name })
		})
	}
	return &access.Rule{Users: kept(old.Users, most.Users), Groups: kept(old.Groups, most.Groups)}
}

// setReaders changes who may read a stored item. It does nothing to one that is not there any more, and removes a damaged one.
func (r *syncRun) setReaders(ctx context.Context, e document.Entry, rule *access.Rule) error {
	err := r.Documents.KeepOrForget(ctx, r.teamID, document.Input{Fields: e.Fields, KeepContent: true, Facts: e.Facts, Created: e.CreatedAt,
		Access: rule, Match: func(int64) error { return nil }, Who: document.Anyone(), Listed: r.now()}) // an earlier removal is over, as it is stored
	if err != nil && !errors.Is(err, document.ErrNoContent) && !errors.Is(err, document.ErrOtherSource) {
		return fmt.Errorf("change who may read an item: %w", err)
	}
	return nil
}

// nobody returns the rule of what only team keys read.
func nobody() *access.Rule { return &access.Rule{Users: []access.Entry{}, Groups: []access.Entry{}} }
