package dynamo

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"docent/shared/table"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// expression collects the placeholders of one request.
type expression struct {
	now    time.Time
	names  map[string]string
	values attributes
}

func (e *expression) name(attribute string) string {
	for placeholder, known := range e.names {
		if known == attribute {
			return placeholder
		}
	}
	placeholder := fmt.Sprintf("#n%d", len(e.names))
	if e.names == nil {
		e.names = make(map[string]string)
	}
	e.names[placeholder] = attribute
	return placeholder
}

func (e *expression) value(v types.AttributeValue) string {
	placeholder := fmt.Sprintf(":v%d", len(e.values))
	if e.values == nil {
		e.values = make(attributes)
	}
	e.values[placeholder] = v
	return placeholder
}

func (e *expression) partition() string { return e.name(table.PartitionAttribute) }
func (e *expression) expires() string   { return e.name(table.ExpiresAttribute) }

// live returns a condition that holds if the item is missing or has not expired.
func (e *expression) live() string {
	return fmt.Sprintf("(attribute_not_exists(%s) OR %s > %s)", e.expires(), e.expires(), e.value(number(e.now.Unix())))
}

// expired returns a condition that holds only if the item has expired.
func (e *expression) expired() string {
	return fmt.Sprintf("%s <= %s", e.expires(), e.value(number(e.now.Unix())))
}

// condition returns the expression of c, in which an expired item counts as missing. It is
// empty if c always holds.
func (e *expression) condition(c table.Condition) string {
	switch c.Kind {
	case table.IfAbsent:
		return fmt.Sprintf("(attribute_not_exists(%s) OR %s)", e.partition(), e.expired())
	case table.IfBelow:
		return fmt.Sprintf("(%s OR %s)", e.below(c), e.expired())
	case table.IfExists, table.IfVersion, table.IfString:
		return fmt.Sprintf("(%s AND %s)", e.ofLive(c), e.live())
	default:
		return ""
	}
}

// ofLive returns the expression of c for an item that is missing or live. It is empty
// if c always holds.
func (e *expression) ofLive(c table.Condition) string {
	switch c.Kind {
	case table.IfAbsent:
		return fmt.Sprintf("attribute_not_exists(%s)", e.partition())
	case table.IfExists:
		return fmt.Sprintf("attribute_exists(%s)", e.partition())
	case table.IfVersion:
		version := e.name(table.VersionAttribute)
		if c.Value == 0 { // a version of 0 is not stored
			return fmt.Sprintf("attribute_exists(%s) AND attribute_not_exists(%s)", e.partition(), version)
		}
		return fmt.Sprintf("%s = %s", version, e.value(number(c.Value)))
	case table.IfString:
		return fmt.Sprintf("%s = %s", e.name(table.StringPrefix+c.Field), e.value(text(c.Text)))
	case table.IfBelow:
		return "(" + e.below(c) + ")"
	default:
		return ""
	}
}

func (e *expression) below(c table.Condition) string {
	field := e.name(table.NumberPrefix + c.Field)
	return fmt.Sprintf("attribute_not_exists(%s) OR %s < %s", field, field, e.value(number(c.Value)))
}

// fits returns a condition that fails if adding by would exceed int64.
func (e *expression) fits(field string, by int64) string {
	attribute := e.name(table.NumberPrefix + field)
	comparison, bound := "<=", int64(math.MaxInt64)-max(by, 0)
	if by < 0 {
		comparison, bound = ">=", math.MinInt64-by
	}
	return fmt.Sprintf("(attribute_not_exists(%s) OR %s %s %s)", attribute, attribute, comparison, e.value(number(bound)))
}

// update returns the update expression of a. It sets the expiry only if withExpiry.
func (e *expression) update(a table.Add, withExpiry bool) *string {
	var set, add []string
	if withExpiry {
		set = append(set, fmt.Sprintf("%s = if_not_exists(%s, %s)", e.expires(), e.expires(), e.value(number(a.Expires.Unix()))))
	}
	for name, n := range a.Numbers {
		set = append(set, e.name(table.NumberPrefix+name)+" = "+e.value(number(n)))
	}
	for name, s := range a.Strings {
		set = append(set, e.name(table.StringPrefix+name)+" = "+e.value(text(s)))
	}
	for name, by := range a.By {
		add = append(add, e.name(table.NumberPrefix+name)+" "+e.value(number(by)))
	}
	var parts []string
	if len(set) > 0 {
		parts = append(parts, "SET "+strings.Join(set, ", "))
	}
	if len(add) > 0 {
		parts = append(parts, "ADD "+strings.Join(add, ", "))
	}
	if len(parts) == 0 {
		// DynamoDB needs no update expression to create an item, but some endpoints do. No field has an empty name.
		parts = append(parts, "REMOVE "+e.name(table.NumberPrefix))
	}
	return aws.String(strings.Join(parts, " "))
}

// all joins conditions, leaving out the empty ones.
func all(conditions ...string) *string {
	conditions = slices.DeleteFunc(conditions, func(c string) bool { return c == "" })
	return optional(strings.Join(conditions, " AND "))
}

func optional(s string) *string {
	if s == "" {
		return nil
	}
	return aws.String(s)
}
