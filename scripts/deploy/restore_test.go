package main

import (
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	cftypes "github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/uuid"

	"docent/shared/audit"
	"docent/shared/table/dynamo"
	"docent/shared/team"
	"docent/testkit/moto"
)

// tablesOf returns the names of the tables of a stack that the tests restore.
func tablesOf(name string) map[string]string {
	return map[string]string{"documents": name + "-documents", "usage": name + "-usage", "identities": name + "-identities", "events": name + "-events"}
}

// restorable returns an account with the tables of a stack, which holds one record, and the stack's name. The protocol server
// restores a table as it is now, whatever the moment.
func restorable(t *testing.T) (*account, string) {
	t.Helper()
	config := moto.Config(moto.OneAtATime(t, moto.Start(t)))
	client := dynamodb.NewFromConfig(config)
	name := "docent-" + uuid.NewString()[:8]
	store := dynamo.New(client, dynamo.Options{Prefix: name + "-", Now: time.Now})
	if err := store.CreateTables(t.Context()); err != nil {
		t.Fatal(err)
	}
	tables := tablesOf(name)
	for _, theirs := range tables {
		if _, err := client.UpdateContinuousBackups(t.Context(), &dynamodb.UpdateContinuousBackupsInput{TableName: &theirs,
			PointInTimeRecoverySpecification: &types.PointInTimeRecoverySpecification{PointInTimeRecoveryEnabled: aws.Bool(true)}}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String(tables["documents"]),
		Item: map[string]types.AttributeValue{"p": &types.AttributeValueMemberS{Value: "team"}, "s": &types.AttributeValueMemberS{Value: "one"}}}); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(tables)
	if err != nil {
		t.Fatal(err)
	}
	stacks := cloudformation.NewFromConfig(config)
	if _, err := stacks.CreateStack(t.Context(), &cloudformation.CreateStackInput{StackName: &name,
		Tags: []cftypes.Tag{{Key: aws.String(ownerTag), Value: &name}, {Key: aws.String("team"), Value: aws.String("search")}},
		TemplateBody: aws.String(`{"Resources": {"Q": {"Type": "AWS::SQS::Queue"}}, "Outputs": {"Tables": {"Value": ` +
			string(quoted(t, string(text))) + `}, "DataRetained": {"Value": "true"}}}`)}); err != nil {
		t.Fatal(err)
	}
	return &account{id: "123456789012", region: "us-east-1", stacks: stacks, tables: client}, name
}

func quoted(t *testing.T, text string) []byte {
	t.Helper()
	q, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func TestRestoreMakesCompleteTablesAndMayBeRepeated(t *testing.T) {
	t.Parallel()
	a, name := restorable(t)
	at := time.Now().Truncate(time.Second)
	stack, err := a.stack(t.Context(), name)
	if err != nil || stack == nil {
		t.Fatalf("%v, %v", stack, err)
	}
	for range 2 { // the server says of each moment but its own that it cannot be restored
		if err := a.restoreTables(t.Context(), stack, tablesOf(name), at, at.Add(time.Hour), &strings.Builder{}); err != nil {
			t.Fatal(err)
		}
	}
	for _, ours := range []string{"documents", "usage"} {
		restored := aws.String(name + "-" + at.UTC().Format(restoredForm) + "-" + ours)
		items, err := a.tables.Scan(t.Context(), &dynamodb.ScanInput{TableName: restored})
		if err != nil {
			t.Fatal(err)
		}
		if want := int32(len(ours) / len("documents")); items.Count != want {
			t.Errorf("%s has %d records, want %d", *restored, items.Count, want)
		}
		expiry, err := a.tables.DescribeTimeToLive(t.Context(), &dynamodb.DescribeTimeToLiveInput{TableName: restored})
		if err != nil || aws.ToString(expiry.TimeToLiveDescription.AttributeName) != "e" {
			t.Errorf("%s: its expiry is %+v, %v", *restored, expiry, err)
		}
		if err := a.recoverable(t.Context(), *restored, time.Now().Add(-time.Second)); err != nil && strings.Contains(err.Error(), "no recovery") {
			t.Error(err)
		}
		described, err := a.tables.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: restored})
		if err != nil || !aws.ToBool(described.Table.DeletionProtectionEnabled) {
			t.Errorf("%s is not protected, %v", *restored, err)
		}
		tags, err := a.tables.ListTagsOfResource(t.Context(), &dynamodb.ListTagsOfResourceInput{ResourceArn: described.Table.TableArn})
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]string{}
		for _, tag := range tags.Tags {
			got[aws.ToString(tag.Key)] = aws.ToString(tag.Value)
		}
		if want := map[string]string{ownerTag: name, "team": "search"}; !maps.Equal(got, want) {
			t.Errorf("%s: its tags are %v, want %v", *restored, got, want)
		}
	}
}

// TestRestoreWaitsForWhatDynamoDBPrepares lets the server refuse the first requests of each kind as DynamoDB does for a while: a restore while
// an interrupted run's table is being made, and changes of a new table.
func TestRestoreWaitsForWhatDynamoDBPrepares(t *testing.T) {
	t.Parallel()
	a, name := restorable(t)
	stack, err := a.stack(t.Context(), name)
	if err != nil || stack == nil {
		t.Fatalf("%v, %v", stack, err)
	}
	at := time.Now().Truncate(time.Second)
	if err := a.restoreTable(t.Context(), name+"-documents", name+"-"+at.UTC().Format(restoredForm)+"-documents", at); err != nil { // interrupted
		t.Fatal(err)
	}
	refused := map[string]string{"RestoreTableToPointInTime": "TableInUseException", "UpdateContinuousBackups": "ContinuousBackupsUnavailableException",
		"UpdateTable": "ResourceInUseException", "UpdateTimeToLive": "LimitExceededException", "TagResource": "ResourceInUseException"}
	times := map[string]int{}
	const refusals = 2
	options := a.tables.Options()
	options.HTTPClient = transport(func(r *http.Request) (*http.Response, error) {
		_, action, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
		code := refused[action]
		if times[action]++; code == "" || times[action] > refusals || action == "RestoreTableToPointInTime" && times[action] > 1 {
			return http.DefaultTransport.RoundTrip(r)
		}
		return &http.Response{StatusCode: http.StatusBadRequest, Header: http.Header{}, Request: r,
			Body: io.NopCloser(strings.NewReader(`{"__type":"com.amazonaws.dynamodb.v20120810#` + code + `","message":"Try again."}`))}, nil
	})
	a.tables = dynamodb.New(options)
	if err := a.restoreTables(t.Context(), stack, tablesOf(name), at, at.Add(time.Hour), &strings.Builder{}); err != nil {
		t.Fatal(err)
	}
	for action := range refused {
		want := len(tablesOf(name)) + refusals
		if action == "RestoreTableToPointInTime" {
			want = len(tablesOf(name)) // it is not repeated: the table will be there
		}
		if times[action] != want {
			t.Errorf("%s was asked %d times, want %d", action, times[action], want)
		}
	}
}

// transport is a client that is a function.
type transport func(*http.Request) (*http.Response, error)

func (f transport) Do(r *http.Request) (*http.Response, error) { return f(r) }

func TestRestoreRefusesBeforeItChangesAnything(t *testing.T) {
	t.Parallel()
	a, name := restorable(t)
	for want, err := range map[string]error{
		"there is no stack none": a.restore(t.Context(), settings{"name": "none"}, time.Now(), time.Now(), &strings.Builder{}),
		// Of version 0.1: the deployment after the restore needs settings.
		"give all of them this time":  a.restore(t.Context(), settings{"name": name}, time.Now().Add(time.Hour), time.Now(), &strings.Builder{}),
		"can be restored to a moment": a.restore(t.Context(), settings{"name": name, "rate": "50"}, time.Now().Add(time.Hour), time.Now(), &strings.Builder{}),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	listed, err := a.tables.ListTables(t.Context(), &dynamodb.ListTablesInput{})
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range listed.TableNames {
		if strings.HasPrefix(table, name+"-20") {
			t.Errorf("it has made %s", table)
		}
	}
}

// TestRestoredFeedsContinueAboveUsedNumbers: in restored tables, no event gets the id of one that is lost, after a run that was
// interrupted and repeated too.
func TestRestoredFeedsContinueAboveUsedNumbers(t *testing.T) {
	t.Parallel()
	a, name := restorable(t)
	now := time.Now()
	clock := func() time.Time { return now }
	original := dynamo.New(a.tables, dynamo.Options{Prefix: name + "-", Now: clock})
	feed := &audit.Log{Table: original, Now: clock}
	acme, _, err := (&team.Service{Table: original, Events: feed, Now: clock, NewID: uuid.NewString}).CreateTeam(t.Context(), "acme", "ada")
	if err != nil {
		t.Fatal(err)
	}
	record := func(l *audit.Log, n int) []audit.Event {
		for range n {
			if err := l.Write(t.Context(), acme.ID, []audit.Event{{Type: audit.TeamUpdated}}); err != nil {
				t.Fatal(err)
			}
		}
		page, err := l.Feed(t.Context(), acme.ID, audit.Query{Limit: 100})
		if err != nil {
			t.Fatal(err)
		}
		return page.Events
	}
	kept := record(feed, 3)
	stack, err := a.stack(t.Context(), name)
	if err != nil || stack == nil {
		t.Fatalf("%v, %v", stack, err)
	}
	at := now.Truncate(time.Second)
	interrupted, stop := context.WithCancel(t.Context())
	stop()
	if err := a.continueFeeds(interrupted, tablesOf(name), now, &strings.Builder{}); err == nil {
		t.Error("an interrupted run succeeds")
	}
	for range 2 {
		if err := a.restoreTables(t.Context(), stack, tablesOf(name), at, now, &strings.Builder{}); err != nil {
			t.Fatal(err)
		}
	}
	names := restoredNames(name, at.UTC().Format(restoredForm), slices.Collect(maps.Keys(tablesOf(name))))
	lost := record(feed, 4)
	restored := record(&audit.Log{Table: dynamo.New(a.tables, dynamo.Options{Names: names, Now: clock}), Now: clock}, 4)
	if len(restored) != len(lost) || len(lost) != len(kept)+4 {
		t.Fatalf("%d events restored, %d lost, %d kept", len(restored), len(lost), len(kept))
	}
	for i, e := range restored {
		if same := e.ID() == lost[i].ID(); same != (i < len(kept)) {
			t.Errorf("event %d has the id %s, in the original %s", i, e.ID(), lost[i].ID())
		}
	}
}
