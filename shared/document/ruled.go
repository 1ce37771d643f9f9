package document

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"docent/shared/access"
	"docent/shared/table"
)

// ruled is what is kept of the rules under which earlier texts of a document ended: by another text, or by a deletion. An answer that was
// made from such a text is for those who may read by its last rule, whatever rule the document has now. A source has one rule, its
// default when it was deleted.
type ruled struct {
	rules []endedRule // distinct, oldest first
	// collectionID is the collection that the document was moved to last, at movedAt; empty: it was never moved.
	collectionID string
	movedAt      time.Time // in milliseconds
}

// endedRule is the last rule of texts that ended.
type endedRule struct {
	rule  *access.Rule
	until time.Time // when the latest of them ended, in milliseconds; zero: unknown
}

// Bounds of the rules of one document. Of more, the oldest are joined to one that opens to nobody. The largest item has room for any two
// rules.
const (
	maxEnded      = 8
	maxEndedBytes = 256 << 10
)

// end adds the rule of a text that ends at until.
func (k *ruled) end(rule *access.Rule, until time.Time) {
	k.rules = slices.DeleteFunc(k.rules, func(e endedRule) bool { return e.rule.Equal(rule) })
	for i := range k.rules {
		if k.rules[i].until.IsZero() {
			k.rules[i].until = until
		}
	}
	k.rules = append(k.rules, endedRule{rule, until})
	for len(k.rules) > maxEnded || len(k.rules) > 2 && len(k.item(table.Key{}).Strings[earlierField]) > maxEndedBytes {
		k.rules = k.rules[1:]
		k.rules[0].rule = new(access.Rule)
	}
}

// The stored fields of ruled. accessField has the last rule, the only one that there was before rules had a time.
const (
	untilField   = "until"      // of the last rule, in Unix milliseconds
	earlierField = "earlier"    // a JSON array of the other rules
	movedToField = "collection" // see ruled.collectionID
	movedField   = "moved"      // when, in Unix milliseconds
)

// storedRule is the stored form of an endedRule.
type storedRule struct {
	Access string `json:"access"`
	Until  int64  `json:"until"`
}

func (k ruled) item(key table.Key) table.Item {
	item := table.Item{Key: key, Strings: map[string]string{}, Numbers: map[string]int64{}}
	if k.collectionID != "" {
		item.Strings[movedToField], item.Numbers[movedField] = k.collectionID, k.movedAt.UnixMilli()
	}
	if len(k.rules) == 0 {
		return item
	}
	earlier, last := k.rules[:len(k.rules)-1], k.rules[len(k.rules)-1]
	storeAccess(item, last.rule)
	if !last.until.IsZero() {
		item.Numbers[untilField] = last.until.UnixMilli()
	}
	if len(earlier) > 0 {
		all := make([]storedRule, len(earlier))
		for i, e := range earlier {
			all[i] = storedRule{e.rule.Encode(), e.until.UnixMilli()}
		}
		encoded, err := json.Marshal(all)
		if err != nil {
			panic(err) // strings always encode
		}
		item.Strings[earlierField] = string(encoded)
	}
	return item
}

func ruledFrom(item table.Item) ruled {
	k := ruled{collectionID: item.Strings[movedToField], movedAt: time.UnixMilli(item.Numbers[movedField]).UTC()}
	if encoded, ok := item.Strings[earlierField]; ok {
		var all []storedRule
		if err := json.Unmarshal([]byte(encoded), &all); err != nil {
			k.rules = append(k.rules, endedRule{new(access.Rule), Forever}) // a damaged rule must not become no rule
		}
		for _, e := range all {
			k.rules = append(k.rules, endedRule{access.Decode(e.Access), time.UnixMilli(e.Until).UTC()})
		}
	}
	if rule := access.Decode(item.Strings[accessField]); rule != nil {
		last := endedRule{rule: rule}
		if until, ok := item.Numbers[untilField]; ok {
			last.until = time.UnixMilli(until).UTC()
		}
		k.rules = append(k.rules, last)
	}
	return k
}

// KeepRule returns what stores the default rule that a source has when it is deleted with its documents, if it has one.
func KeepRule(teamID, sourceID string, rule *access.Rule) []table.Op {
	if rule == nil {
		return nil
	}
	return []table.Op{table.Put{Item: ruled{rules: []endedRule{{rule: rule}}}.item(ruledKey(teamID, sourceID))}}
}

// keepRule returns what stores that a text of a document ends at until under rule, nil for none. movedTo is the collection that the
// document is moved to then; empty: none. Whoever writes the operations has to make sure that the record of the document is still the one that was read
// before: then what is kept of it has not changed either.
func (s *Service) keepRule(ctx context.Context, teamID, id string, rule *access.Rule, until time.Time, movedTo string) ([]table.Op, error) {
	if rule == nil && movedTo == "" {
		return nil, nil // the rules of earlier texts stay
	}
	key := ruledKey(teamID, id)
	item, err := s.Table.Get(ctx, key)
	var kept ruled
	switch {
	case err == nil:
		kept = ruledFrom(item)
	case table.AsDamaged(err) != nil: // nobody knows who might read the earlier texts
		kept.end(new(access.Rule), until)
	case !errors.Is(err, table.ErrNotFound):
		return nil, fmt.Errorf("read who might read what ended before: %w", err)
	}
	if rule != nil {
		kept.end(rule, until)
	}
	if movedTo != "" {
		kept.collectionID, kept.movedAt = movedTo, until
	}
	return []table.Op{table.Put{Item: kept.item(key)}}, nil
}

// deletedNow returns until when a text of a version lasts that is deleted now: what was made of it in this millisecond is from before,
// also if the clock that made the version was ahead. Version 0 is unknown.
func (s *Service) deletedNow(version int64) time.Time {
	return later(s.Now(), time.UnixMilli(millisOf(version))).Add(time.Millisecond)
}

// keepEnded is keepRule for the text of old, if next, which is of in, ends it or moves the document.
func (s *Service) keepEnded(ctx context.Context, teamID string, in Input, old current, next record) ([]table.Op, error) {
	if !old.stored {
		return nil, nil
	}
	var rule *access.Rule
	if !old.live || !old.sameText(next.Entry, in) {
		rule = old.Access
		if rule == nil {
			rule = old.byDefault
		}
	}
	movedTo := ""
	if old.live && old.CollectionID != next.CollectionID {
		movedTo = next.CollectionID
	}
	return s.keepRule(ctx, teamID, next.ID, rule, time.UnixMilli(millisOf(next.version)), movedTo)
}

// keptRule returns the default rule that a deleted source had; nil: none.
func (s *Service) keptRule(ctx context.Context, teamID, sourceID string) (*access.Rule, error) {
	item, err := s.Table.Get(ctx, ruledKey(teamID, sourceID))
	if errors.Is(err, table.ErrNotFound) {
		return nil, nil //nolint:nilnil // no rule
	}
	if err != nil {
		return nil, fmt.Errorf("read who might read what is deleted: %w", err)
	}
	return access.Decode(item.Strings[accessField]), nil
}
