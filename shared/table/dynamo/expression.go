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

func (x *expression) name(attribute string) string {
	for placeholder, known := range x.names {
		if known == attribute {
			return placeholder
		}
	}
	placeholder := fmt.Sprintf("#n%d", len(x.names))
	if x.names == nil {
		x.names = make(map[string]string)
	}
	x.names[placeholder] = attribute
	return placeholder
}

func (x *expression) value(v types.AttributeValue) string {
	placeholder := fmt.Sprintf(":v%d", len(x.values))
	if x.values == nil {
		x.values = make(attributes)
	}
	x.values[placeholder] = v
	return placeholder
}

func (x *expression) partition() string { return x.name(table.PartitionAttribute) }
func (x *expression) expires() string   { return x.name(table.ExpiresAttribute) }

// live holds of an item that has not expired, and of a missing one.
func (x *expression) live() string {
	return fmt.Sprintf("(attribute_not_exists(%s) OR %s > %s)", x.expires(), x.expires(), x.value(number(x.now.Unix())))
}

// expired holds of an item that has expired only.
func (x *expression) expired() string {
	return fmt.Sprintf("%s <= %s", x.expires(), x.value(number(x.now.Unix())))
}

// condition says c of the item, taking an expired one for missing. It is empty
// when c always holds.
func (x *expression) condition(c table.Condition) string {
	switch c.Kind {
	case table.IfAbsent:
		return fmt.Sprintf("(attribute_not_exists(%s) OR %s)", x.partition(), x.expired())
	case table.IfBelow:
		return fmt.Sprintf("(%s OR %s)", x.below(c), x.expired())
	case table.IfExists, table.IfVersion, table.IfString:
		return fmt.Sprintf("(%s AND %s)", x.ofLive(c), x.live())
	default:
		return ""
	}
}

// ofLive says c of an item that is known to be missing or live. It is empty
// when c always holds.
func (x *expression) ofLive(c table.Condition) string {
	switch c.Kind {
	case table.IfAbsent:
		return fmt.Sprintf("attribute_not_exists(%s)", x.partition())
	case table.IfExists:
		return fmt.Sprintf("attribute_exists(%s)", x.partition())
	case table.IfVersion:
		version := x.name(table.VersionAttribute)
		if c.Value == 0 { // which is not stored
			return fmt.Sprintf("attribute_exists(%s) AND attribute_not_exists(%s)", x.partition(), version)
		}
		return fmt.Sprintf("%s = %s", version, x.value(number(c.Value)))
	case table.IfString:
		return fmt.Sprintf("%s = %s", x.name(table.StringPrefix+c.Field), x.value(text(c.Text)))
	case table.IfBelow:
		return "(" + x.below(c) + ")"
	default:
		return ""
	}
}

func (x *expression) below(c table.Condition) string {
	field := x.name(table.NumberPrefix + c.Field)
	return fmt.Sprintf("attribute_not_exists(%s) OR %s < %s", field, field, x.value(number(c.Value)))
}

// fits holds unless a step of by takes the number out of int64.
func (x *expression) fits(field string, by int64) string {
	attribute := x.name(table.NumberPrefix + field)
	comparison, bound := "<=", int64(math.MaxInt64)-max(by, 0)
	if by < 0 {
		comparison, bound = ">=", math.MinInt64-by
	}
	return fmt.Sprintf("(attribute_not_exists(%s) OR %s %s %s)", attribute, attribute, comparison, x.value(number(bound)))
}

// update is the update expression of a. It sets the expiry only if withExpiry.
func (x *expression) update(a table.Add, withExpiry bool) *string {
	var set, add []string
	if withExpiry {
		set = append(set, fmt.Sprintf("%s = if_not_exists(%s, %s)", x.expires(), x.expires(), x.value(number(a.Expires.Unix()))))
	}
	for name, n := range a.Numbers {
		set = append(set, x.name(table.NumberPrefix+name)+" = "+x.value(number(n)))
	}
	for name, s := range a.Strings {
		set = append(set, x.name(table.StringPrefix+name)+" = "+x.value(text(s)))
	}
	for name, by := range a.By {
		add = append(add, x.name(table.NumberPrefix+name)+" "+x.value(number(by)))
	}
	var parts []string
	if len(set) > 0 {
		parts = append(parts, "SET "+strings.Join(set, ", "))
	}
	if len(add) > 0 {
		parts = append(parts, "ADD "+strings.Join(add, ", "))
	}
	if len(parts) == 0 {
		// DynamoDB needs no update expression to make an item, but not every
		// endpoint knows that. No field has an empty name.
		parts = append(parts, "REMOVE "+x.name(table.NumberPrefix))
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
