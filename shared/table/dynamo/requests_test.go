package dynamo_test

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"docent/shared/table"
	"docent/shared/table/dynamo"
	"docent/testkit/moto"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/uuid"
)

func TestUnprocessedKeysAreAskedForAgain(t *testing.T) {
	t.Parallel()
	const b = `{"p":{"S":"p"},"s":{"S":"b"}}`
	const c = `{"p":{"S":"p"},"s":{"S":"c"}}`
	rest := func(found, left string) answer {
		return answer{200, fmt.Sprintf(`{"Responses":{"documents":[%s]},"UnprocessedKeys":{"documents":{"Keys":[%s]}}}`, found, left)}
	}
	nothing := rest("", b+","+c)
	store, script := scripted(t, rest(`{"p":{"S":"p"},"s":{"S":"a"}}`, b+","+c), nothing, rest(c, b),
		answer{200, `{"Responses":{"documents":[` + b + `]},"UnprocessedKeys":{}}`})
	ctx, meter := table.WithMeter(t.Context())
	items, err := store.BatchGet(ctx, []table.Key{key("a"), key("b"), key("c"), key("d")})
	if err != nil {
		t.Fatal(err)
	}
	var sorts []string
	for _, item := range items {
		sorts = append(sorts, item.Sort)
	}
	if !slices.Equal(sorts, []string{"a", "b", "c"}) {
		t.Errorf("items %q", sorts)
	}
	var asked []int
	for _, r := range script.requests() {
		asked = append(asked, strings.Count(r.body, `"s":`))
	}
	if !slices.Equal(asked, []int{4, 2, 2, 1}) {
		t.Errorf("asked for %v keys", asked)
	}
	if cost := meter.Read(); cost.Calls != 4 || cost.RoundTrips != 4 {
		t.Errorf("cost %+v", cost)
	}
	store, _ = scripted(t, nothing)
	if _, err := store.BatchGet(t.Context(), []table.Key{key("b"), key("c")}); !errors.Is(err, table.ErrThrottled) {
		t.Errorf("never processed: %v", err)
	}
}

func TestOneOperationMakesNoTransaction(t *testing.T) {
	t.Parallel()
	for want, ops := range map[string][]table.Op{
		"PutItem":            onePut,
		"UpdateItem":         oneAdd,
		"DeleteItem":         {table.Delete{Key: key("a"), If: table.Exists()}},
		"GetItem":            {table.Check{Key: key("a"), If: table.Absent()}},
		"TransactWriteItems": two,
	} {
		store, script := scripted(t, fine)
		if err := store.Write(t.Context(), ops...); err != nil {
			t.Errorf("%s: %v", want, err)
		}
		if seen := script.requests(); len(seen) != 1 || seen[0].operation != want {
			t.Errorf("requests %v, want one %s", seen, want)
		}
	}
}

// expressionWords matches placeholders and the other words that an expression may contain.
var expressionWords = regexp.MustCompile(`^(?:#n\d+|:v\d+|SET|ADD|REMOVE|AND|OR|BETWEEN|attribute_exists|attribute_not_exists|begins_with|if_not_exists|[(),=<>\s]+)*$`)

func TestNamesAreAlwaysPlaceholders(t *testing.T) {
	t.Parallel()
	store, script := scripted(t, fine)
	conditions := []table.Condition{
		{}, table.Absent(), table.Exists(), table.VersionIs(0), table.VersionIs(3), table.Is("status", "x"), table.Below("size", 3),
	}
	for _, c := range conditions {
		add := table.Add{
			Key: key("a"), By: map[string]int64{"count": 1, "down": -1}, Numbers: map[string]int64{"number": 2},
			Strings: map[string]string{"name": "value"}, Expires: now.Add(time.Hour), If: c,
		}
		for _, op := range []table.Op{table.Put{Item: table.Item{Key: key("a")}, If: c}, table.Delete{Key: key("a"), If: c}, add} {
			for _, ops := range [][]table.Op{{op}, {op, table.Check{Key: key("b"), If: c}}} {
				if err := store.Write(t.Context(), ops...); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	for _, q := range []table.Query{{}, {Prefix: "a"}, {From: "a"}, {To: "b"}, {From: "a", To: "b"}} {
		q.Table, q.Partition = table.Documents, "p"
		if _, err := store.Query(t.Context(), q); err != nil {
			t.Fatal(err)
		}
	}
	found := 0
	for _, r := range script.requests() {
		parts := []any{r.fields}
		if items, ok := r.fields["TransactItems"].([]any); ok {
			parts = nil
			for _, item := range items {
				for _, part := range item.(map[string]any) {
					parts = append(parts, part)
				}
			}
		}
		for _, part := range parts {
			found += checkExpressions(t, part.(map[string]any))
		}
	}
	if found < 78 {
		t.Errorf("only %d expressions", found)
	}
}

// checkExpressions looks for words of their own and for placeholders that are
// not used, which DynamoDB refuses.
func checkExpressions(t *testing.T, fields map[string]any) (found int) {
	t.Helper()
	joined := ""
	for _, name := range []string{"ConditionExpression", "UpdateExpression", "KeyConditionExpression"} {
		if text, ok := fields[name].(string); ok {
			found++
			joined += text + " "
			if !expressionWords.MatchString(text) {
				t.Errorf("expression %q", text)
			}
		}
	}
	for _, name := range []string{"ExpressionAttributeNames", "ExpressionAttributeValues"} {
		placeholders, _ := fields[name].(map[string]any)
		for placeholder := range placeholders {
			if !regexp.MustCompile(regexp.QuoteMeta(placeholder) + `\b`).MatchString(joined) {
				t.Errorf("%s is not used in %q", placeholder, joined)
			}
		}
	}
	return found
}

func TestCapacityIsWhatDynamoDBReports(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		answer answer
		ops    []table.Op
		write  float64
	}{
		"put":         {answer{200, `{"ConsumedCapacity":{"CapacityUnits":3}}`}, onePut, 3},
		"transaction": {answer{200, `{"ConsumedCapacity":[{"CapacityUnits":4},{"CapacityUnits":6}]}`}, two, 10},
		"failed put": {refusal("ConditionalCheckFailedException",
			`,"Item":{"p":{"S":"p"},"s":{"S":"a"},"t.x":{"S":"`+strings.Repeat("x", 3000)+`"}}`), onePut, 3},
		"failed transaction": {cancelled(`{"Code":"None"},{"Code":"ConditionalCheckFailed","Item":{"p":{"S":"p"},"s":{"S":"b"}}}`), two, 4},
	} {
		store, _ := scripted(t, test.answer)
		ctx, meter := table.WithMeter(t.Context())
		if err := store.Write(ctx, test.ops...); err != nil && table.AsConditionFailed(err) == nil {
			t.Errorf("%s: %v", name, err)
		}
		if cost := meter.Read(); cost.WriteUnits != test.write || cost.Calls != 1 {
			t.Errorf("%s: cost %+v, want %v units", name, cost, test.write)
		}
	}
}

func TestItemGrownTooLargeIsRefusedByItsKind(t *testing.T) {
	t.Parallel()
	const message = "Item size to update has exceeded the maximum allowed size"
	for name, test := range map[string]struct {
		answer answer
		ops    []table.Op
	}{
		"add":         {refusal("ValidationException", `,"message":"`+message+`"`), oneAdd},
		"transaction": {cancelled(`{"Code":"None"},{"Code":"ValidationError","Message":"` + message + `"}`), two},
	} {
		store, script := scripted(t, test.answer)
		if err := store.Write(t.Context(), test.ops...); !errors.Is(err, table.ErrTooLarge) || len(script.requests()) != 1 {
			t.Errorf("%s: %v after %d requests", name, err, len(script.requests()))
		}
	}
}

func TestMissingTableIsItsOwnError(t *testing.T) {
	t.Parallel()
	store := dynamo.New(dynamodb.NewFromConfig(moto.Config(moto.OneAtATime(t, moto.Start(t)))), dynamo.Options{Prefix: "none-"})
	_, getErr := store.Get(t.Context(), key("a"))
	_, batchErr := store.BatchGet(t.Context(), []table.Key{key("a")})
	_, queryErr := store.Query(t.Context(), table.Query{Table: table.Documents, Partition: "p"})
	for name, err := range map[string]error{
		"get": getErr, "batch": batchErr, "query": queryErr,
		"put": store.Write(t.Context(), onePut...), "transaction": store.Write(t.Context(), two...),
	} {
		if !errors.Is(err, dynamo.ErrNoTable) || !errors.Is(err, table.ErrInvalid) || errors.Is(err, table.ErrNotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestCreateTablesMayBeRepeated(t *testing.T) {
	t.Parallel()
	client := dynamodb.NewFromConfig(moto.Config(moto.OneAtATime(t, moto.Start(t))))
	prefix := uuid.NewString() + "-"
	store := dynamo.New(client, dynamo.Options{Prefix: prefix})
	for range 2 {
		if err := store.CreateTables(t.Context(), table.Usage, table.Events); err != nil {
			t.Fatal(err)
		}
		if err := store.Write(t.Context(), table.Add{Key: table.Key{Table: table.Usage, Partition: "p", Sort: "s"}, By: map[string]int64{"n": 1}}); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{table.Usage, table.Events} {
		ttl, err := client.DescribeTimeToLive(t.Context(), &dynamodb.DescribeTimeToLiveInput{TableName: aws.String(prefix + name)})
		if err != nil {
			t.Fatal(err)
		}
		d := ttl.TimeToLiveDescription
		if d.TimeToLiveStatus != types.TimeToLiveStatusEnabled || aws.ToString(d.AttributeName) != table.ExpiresAttribute {
			t.Errorf("%s: expiry %s by %s", name, d.TimeToLiveStatus, aws.ToString(d.AttributeName))
		}
		got, err := client.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: aws.String(prefix + name)})
		if err != nil {
			t.Fatal(err)
		}
		if got.Table.BillingModeSummary == nil || got.Table.BillingModeSummary.BillingMode != types.BillingModePayPerRequest {
			t.Errorf("%s is not on demand: %v", name, got.Table.BillingModeSummary)
		}
	}
	count, err := store.Get(t.Context(), table.Key{Table: table.Usage, Partition: "p", Sort: "s"})
	if err != nil || count.Numbers["n"] != 2 {
		t.Errorf("the second creation has touched the table: %v, %v", count, err)
	}
	if err := store.CreateTables(t.Context(), "nowhere"); !errors.Is(err, table.ErrInvalid) {
		t.Errorf("unknown table: %v", err)
	}
}
