package dynamo

import (
	"fmt"
	"time"

	"docent/shared/table"
)

// form is what an Add takes the item for, on which its request depends. One
// expression can neither start an expired item anew nor tell whether an item
// without expiry is missing, so a wrong guess fails and the item that stood
// there gives the next one. All other operations have one form.
type form int

const (
	usual     form = iota // missing, or live and, if the Add sets an expiry, with one
	anew                  // expired
	permanent             // live without expiry, and the Add sets one
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

func prepare(op table.Op, f form, now time.Time) (prepared, error) {
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
		// A check must have a condition, if only one that always holds.
		p.condition = all(p.expression.condition(op.If))
		if p.condition == nil {
			p.condition = optional(fmt.Sprintf("(attribute_exists(%s) OR attribute_not_exists(%s))", p.partition(), p.partition()))
		}
	case table.Add:
		return p, p.add(op, f)
	}
	return p, nil
}

func (p *prepared) add(a table.Add, f form) error {
	if f == anew {
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
	case f == permanent:
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

// judge says why op, in form f, failed on the item old that stood
// there: by its own condition, by a step out of int64, or because an Add took
// the item for what it was not; then it returns the form to try next.
func judge(op table.Op, f form, old *table.Item, now time.Time) (form, error) {
	live := table.Live(old, now)
	failed := &table.ConditionFailed{Key: table.KeyOf(op), Item: live}
	a, ok := op.(table.Add)
	if !ok || !a.If.Holds(live) {
		return f, failed
	}
	next := usual
	switch {
	case live != nil:
		if _, err := a.Apply(live); err != nil {
			return f, fmt.Errorf("add to an item of %s: %w", a.Key.Table, err)
		}
		if !a.Expires.IsZero() && live.Expires.IsZero() {
			next = permanent
		}
	case old != nil:
		next = anew
	}
	if next == usual && f == usual {
		// Nothing here explains it: an endpoint that does not tell what stood there.
		return f, failed
	}
	return next, nil
}
