package dynamo

import (
	"testing"

	"docent/shared/table"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

func TestUnknownAttributesAreIgnored(t *testing.T) {
	t.Parallel()
	a := encode(table.Item{Key: table.Key{Table: table.Answers, Partition: "p", Sort: "s"}, Version: 7, Body: []byte("b")})
	a["later"] = &types.AttributeValueMemberBOOL{Value: true}
	item, err := decode(table.Answers, a)
	if err != nil || item.Partition != "p" || item.Sort != "s" || item.Version != 7 || string(item.Body) != "b" {
		t.Errorf("%+v, %v", item, err)
	}
}
