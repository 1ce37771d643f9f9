package table

// Condition must hold for the item under a key, otherwise the operation fails. The zero
// Condition always holds. An expired item counts as missing.
type Condition struct {
	Kind  ConditionKind
	Field string // Is, Below
	Text  string // Is
	Value int64  // VersionIs, Below
}

// ConditionKind is the kind of a Condition, for engines.
type ConditionKind int

// The kinds of Condition.
const (
	Always ConditionKind = iota
	IfAbsent
	IfExists
	IfVersion
	IfString
	IfBelow
)

// Absent holds if there is no item.
func Absent() Condition { return Condition{Kind: IfAbsent} }

// Exists holds if there is an item.
func Exists() Condition { return Condition{Kind: IfExists} }

// VersionIs holds if there is an item and its Version is v.
func VersionIs(v int64) Condition { return Condition{Kind: IfVersion, Value: v} }

// Is holds if there is an item and its string field equals value.
func Is(field, value string) Condition {
	return Condition{Kind: IfString, Field: field, Text: value}
}

// Below holds if the number field is less than limit before the operation, or if the item or
// the field is missing.
func Below(field string, limit int64) Condition {
	return Condition{Kind: IfBelow, Field: field, Value: limit}
}

// Holds reports whether c holds for item, which is nil if it is missing or expired.
func (c Condition) Holds(item *Item) bool {
	switch c.Kind {
	case IfAbsent:
		return item == nil
	case IfExists:
		return item != nil
	case IfVersion:
		return item != nil && item.Version == c.Value
	case IfString:
		if item == nil {
			return false
		}
		value, ok := item.Strings[c.Field]
		return ok && value == c.Text
	case IfBelow:
		if item == nil {
			return true
		}
		n, ok := item.Numbers[c.Field]
		return !ok || n < c.Value
	default:
		return true
	}
}
