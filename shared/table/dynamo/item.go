package dynamo

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"docent/shared/table"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

type attributes = map[string]types.AttributeValue

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

// number encodes n exactly: DynamoDB keeps 38 digits, and the protocol sends them as text.
func number(n int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}

func encodeKey(k table.Key) attributes {
	return attributes{table.PartitionAttribute: text(k.Partition), table.SortAttribute: text(k.Sort)}
}

// encode leaves out empty fields, as table.Size does.
func encode(item table.Item) attributes {
	a := encodeKey(item.Key)
	if item.Version != 0 {
		a[table.VersionAttribute] = number(item.Version)
	}
	if len(item.Body) > 0 {
		a[table.BodyAttribute] = &types.AttributeValueMemberB{Value: item.Body}
	}
	if !item.Expires.IsZero() {
		a[table.ExpiresAttribute] = number(item.Expires.Unix())
	}
	for name, n := range item.Numbers {
		a[table.NumberPrefix+name] = number(n)
	}
	for name, s := range item.Strings {
		a[table.StringPrefix+name] = text(s)
	}
	return a
}

// decode returns the item with the attributes a, nil if a is empty.
func decode(tableName string, a attributes) (*table.Item, error) {
	if len(a) == 0 {
		return nil, nil
	}
	item := &table.Item{Key: table.Key{Table: tableName}}
	for name, value := range a {
		if err := decodeAttribute(item, name, value); err != nil {
			return nil, fmt.Errorf("read attribute %q of an item in %s: %w", name, tableName, err)
		}
	}
	return item, nil
}

func decodeAttribute(item *table.Item, name string, value types.AttributeValue) (err error) {
	switch {
	case name == table.PartitionAttribute:
		item.Partition, err = readText(value)
	case name == table.SortAttribute:
		item.Sort, err = readText(value)
	case name == table.VersionAttribute:
		item.Version, err = readNumber(value)
	case name == table.BodyAttribute:
		body, ok := value.(*types.AttributeValueMemberB)
		if !ok {
			return fmt.Errorf("it is not binary but %T", value)
		}
		item.Body = body.Value
	case name == table.ExpiresAttribute:
		var seconds int64
		seconds, err = readNumber(value)
		item.Expires = time.Unix(seconds, 0).UTC()
	case strings.HasPrefix(name, table.NumberPrefix):
		if item.Numbers == nil {
			item.Numbers = make(map[string]int64)
		}
		item.Numbers[name[len(table.NumberPrefix):]], err = readNumber(value)
	case strings.HasPrefix(name, table.StringPrefix):
		if item.Strings == nil {
			item.Strings = make(map[string]string)
		}
		item.Strings[name[len(table.StringPrefix):]], err = readText(value)
	}
	return err
}

func readText(value types.AttributeValue) (string, error) {
	s, ok := value.(*types.AttributeValueMemberS)
	if !ok {
		return "", fmt.Errorf("it is not a string but %T", value)
	}
	return s.Value, nil
}

func readNumber(value types.AttributeValue) (int64, error) {
	n, ok := value.(*types.AttributeValueMemberN)
	if !ok {
		return 0, fmt.Errorf("it is not a number but %T", value)
	}
	return strconv.ParseInt(n.Value, 10, 64)
}
