package dynamo

import (
	"fmt"
	"time"

	"docent/shared/table"
)

// itemState is the state an Add assumes the item is in; it decides the request. One expression
// can neither replace an expired item nor distinguish a missing item from one without expiry.
// So a wrong guess fails, and the item returned with the failure decides the next guess. Other
// operations need no guess.
type itemState int

const (
	usualState     itemState = iota // missing or live; live with an expiry if the Add sets one
	expiredState                    // expired
	permanentState                  // live without expiry, and the Add sets one
)

// prepared is one operation in DynamoDB's terms.
type prepared struct {
	expression
	kind      kind
	key       table.Key
	item      table.Item // put
	update    *string    // update
	condition *string
}

type kind int

const (
	put kind = iota
	remove
	check
	update
)

func prepare(op table.Op, state itemState, now time.Time) (prepared, error) {
	p := prepared{expression: expression{now: now}, key: table.KeyOf(op)}
	switch op := op.(type) {
	case table.Put:
		p.kind, p.item = put, op.Item
		p.condition = all(p.expression.condition(op.If))
	case table.Delete:
		p.kind = remove
		p.condition = all(p.expression.condition(op.If))
	case table.Check:
		p.kind = check
		// A check must have a condition, even one that always holds.
		p.condition = all(p.expression.condition(op.If))
		if p.condition == nil {
			p.condition = optional(fmt.Sprintf("(attribute_exists(%s) OR attribute_not_exists(%s))", p.partition(), p.partition()))
		}
	case table.Add:
		return p, p.add(op, state)
	}
	return p, nil
}

func (p *prepared) add(a table.Add, state itemState) error {
	if state == expiredState {
		item, err := a.Apply(nil)
		p.kind, p.item = put, item
		p.condition = all(p.expired())
		return err
	}
	p.kind = update
	conditions := []string{p.ofLive(a.If)}
	for name, by := range a.By {
		conditions = append(conditions, p.fits(name, by))
	}
	withExpiry := false
	switch {
	case state == permanentState:
		conditions = append(conditions, fmt.Sprintf("attribute_exists(%s) AND attribute_not_exists(%s)", p.partition(), p.expires()))
	case a.Expires.IsZero():
		conditions = append(conditions, p.live())
	default:
		withExpiry = true
		conditions = append(conditions, p.live(),
			fmt.Sprintf("(attribute_not_exists(%s) OR attribute_exists(%s))", p.partition(), p.expires()))
	}
	p.update = p.expression.update(a, withExpiry)
	p.condition = all(conditions...)
	return nil
}

// classifyFailure returns why op, which assumed state, failed on the stored item old: an error
// for its own condition or for a step out of int64. If the assumed state was wrong, it returns
// the state to try next.
func classifyFailure(op table.Op, state itemState, old *table.Item, now time.Time) (itemState, error) {
	live := table.Live(old, now)
	failed := &table.ConditionFailed{Key: table.KeyOf(op), Item: live}
	a, ok := op.(table.Add)
	if !ok || !a.If.Holds(live) {
		return state, failed
	}
	next := usualState
	switch {
	case live != nil:
		if _, err := a.Apply(live); err != nil {
			return state, fmt.Errorf("add to an item of %s: %w", a.Key.Table, err)
		}
		if !a.Expires.IsZero() && live.Expires.IsZero() {
			next = permanentState
		}
	case old != nil:
		next = expiredState
	}
	if next == usualState && state == usualState {
		// The endpoint did not return the old item, so the cause is unknown.
		return state, failed
	}
	return next, nil
}
