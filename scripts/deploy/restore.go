package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	cftypes "github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"docent/shared/audit"
	"docent/shared/table"
	"docent/shared/table/dynamo"
	"docent/shared/team"
)

const (
	// restoreWait is how long all tables together may take. AWS restores most within an hour.
	restoreWait = 12 * time.Hour
	restorePoll = 10 * time.Second
	// feedRetry is how long one write waits for a restored table, whose capacity grows as it is used.
	feedRetry = 5 * time.Minute
	// restoredForm is the form of the moment in the names of restored tables, and the value of -c restored.
	restoredForm = "20060102T150405Z"
	recoveryDays = 35
)

// restore makes new tables with what the stack's tables held at a moment, and waits until they are as the stack needs them. All
// have the same moment, because a transaction spans several. It changes neither the stack nor its tables; deploying with
// -c restored=MOMENT takes the new ones into use, so it refuses a stack that would then delete its own. An interrupted run may be repeated: it continues. Its last step, as of now, lets
// the feeds of security events continue above the numbers of events that are lost.
func (a *account) restore(ctx context.Context, given settings, at, now time.Time, out io.Writer) error {
	at, name := at.UTC(), given.stackName()
	there, err := a.stack(ctx, name)
	if err != nil {
		return err
	}
	if there == nil {
		return fmt.Errorf("there is no stack %s in %s of the account %s", name, a.region, a.id)
	}
	if err := a.usable(there); err != nil {
		return err
	}
	if err := a.keepsTables(ctx, there); err != nil {
		return err
	}
	if _, err := keptOf(there, given); err != nil { // after hours, the deployment would refuse
		return err
	}
	tables, err := tablesOfStack(there)
	if err != nil {
		return err
	}
	for _, theirs := range tables {
		if err := a.recoverable(ctx, theirs, at); err != nil {
			return err
		}
	}
	return a.restoreTables(ctx, there, tables, at, now, out)
}

// tablesOfStack returns the names of the tables in use of a stack, by their names in shared/table.
func tablesOfStack(there *cftypes.Stack) (tables map[string]string, err error) {
	if err := json.Unmarshal([]byte(output(there, "Tables")), &tables); err != nil || len(tables) == 0 {
		return nil, fmt.Errorf("the stack %s does not say what its tables are called", aws.ToString(there.StackName))
	}
	return tables, nil
}

// restoredNames returns the names of the restored tables of a stack, by their names in shared/table.
func restoredNames(stack, moment string, names []string) map[string]string {
	restored := make(map[string]string, len(names))
	for _, ours := range names {
		restored[ours] = stack + "-" + moment + "-" + ours
	}
	return restored
}

// restoreTables restores tables, by their names in shared/table, to a moment that all of them have.
func (a *account) restoreTables(ctx context.Context, of *cftypes.Stack, tables map[string]string, at, now time.Time, out io.Writer) error {
	name, names := aws.ToString(of.StackName), slices.Sorted(maps.Keys(tables))
	restored := restoredNames(name, at.UTC().Format(restoredForm), names)
	for _, ours := range names {
		fmt.Fprintf(out, "Restoring %s as %s.\n", tables[ours], restored[ours])
		if err := a.restoreTable(ctx, tables[ours], restored[ours], at); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, restoreWait)
	defer cancel()
	for _, ours := range names {
		if err := a.complete(ctx, restored[ours], of); err != nil {
			return fmt.Errorf("prepare the table %s: %w", restored[ours], err)
		}
	}
	if err := a.continueFeeds(ctx, restored, now, out); err != nil {
		return err
	}
	fmt.Fprintf(out, "All tables of %s are restored to %s.\n", name, at.Format(time.RFC3339))
	return nil
}

// continueFeeds lets every team's feed in restored tables continue above all numbers that may have been used. It is for tables
// that are not in use yet, because functions that use them record events at once. It may be repeated.
func (a *account) continueFeeds(ctx context.Context, restored map[string]string, now time.Time, out io.Writer) error {
	store := dynamo.New(a.tables, dynamo.Options{Names: restored, Now: func() time.Time { return now }, RetryFor: feedRetry})
	ids, err := team.IDs(ctx, store)
	if err != nil {
		return err
	}
	if err := audit.SkipNumbers(ctx, store, now, ids); err != nil {
		return err
	}
	fmt.Fprintf(out, "The feeds of security events of %d teams continue above the numbers of lost events.\n", len(ids))
	return nil
}

// recoverable returns an error if a table cannot be restored to a moment.
func (a *account) recoverable(ctx context.Context, name string, at time.Time) error {
	described, err := a.tables.DescribeContinuousBackups(ctx, &dynamodb.DescribeContinuousBackupsInput{TableName: &name})
	if err != nil {
		return fmt.Errorf("read the recovery of the table %s: %w", name, a.explain(err))
	}
	recovery := described.ContinuousBackupsDescription.PointInTimeRecoveryDescription
	if recovery == nil || recovery.PointInTimeRecoveryStatus != types.PointInTimeRecoveryStatusEnabled {
		return fmt.Errorf("the table %s has no recovery", name)
	}
	from, to := aws.ToTime(recovery.EarliestRestorableDateTime), aws.ToTime(recovery.LatestRestorableDateTime)
	if at.Before(from) || at.After(to) {
		return fmt.Errorf("the table %s can be restored to a moment from %s to %s", name, from.UTC().Format(time.RFC3339), to.UTC().Format(time.RFC3339))
	}
	return nil
}

// restoreTable begins to restore a table, unless an earlier run did, whose table may not be there yet.
func (a *account) restoreTable(ctx context.Context, from, to string, at time.Time) error {
	_, err := a.tables.RestoreTableToPointInTime(ctx, &dynamodb.RestoreTableToPointInTimeInput{
		SourceTableName: &from, TargetTableName: &to, RestoreDateTime: &at})
	var there *types.TableAlreadyExistsException
	var created *types.TableInUseException
	if err != nil && !errors.As(err, &there) && !errors.As(err, &created) {
		return fmt.Errorf("restore the table %s: %w", from, a.explain(err))
	}
	return nil
}

// complete waits until a restored table is there, and gives it what a restored table lacks: expiry, recovery, protection and the tags of
// the stack.
func (a *account) complete(ctx context.Context, name string, of *cftypes.Stack) error {
	arn, err := a.active(ctx, name)
	if err != nil {
		return err
	}
	expiry, err := a.tables.DescribeTimeToLive(ctx, &dynamodb.DescribeTimeToLiveInput{TableName: &name})
	if err != nil {
		return a.explain(err)
	}
	if status := expiry.TimeToLiveDescription; status == nil || status.TimeToLiveStatus == types.TimeToLiveStatusDisabled {
		if err := a.change(ctx, func() error {
			_, err := a.tables.UpdateTimeToLive(ctx, &dynamodb.UpdateTimeToLiveInput{TableName: &name,
				TimeToLiveSpecification: &types.TimeToLiveSpecification{AttributeName: aws.String(table.ExpiresAttribute), Enabled: aws.Bool(true)}})
			return err
		}); err != nil {
			return err
		}
	}
	if err := a.change(ctx, func() error {
		_, err := a.tables.UpdateContinuousBackups(ctx, &dynamodb.UpdateContinuousBackupsInput{TableName: &name,
			PointInTimeRecoverySpecification: &types.PointInTimeRecoverySpecification{PointInTimeRecoveryEnabled: aws.Bool(true),
				RecoveryPeriodInDays: aws.Int32(recoveryDays)}})
		return err
	}); err != nil {
		return err
	}
	if output(of, "DataRetained") != "false" {
		if err := a.change(ctx, func() error {
			_, err := a.tables.UpdateTable(ctx, &dynamodb.UpdateTableInput{TableName: &name, DeletionProtectionEnabled: aws.Bool(true)})
			return err
		}); err != nil {
			return err
		}
	}
	var tags []types.Tag
	for _, t := range of.Tags {
		if !strings.HasPrefix(aws.ToString(t.Key), "aws:") { // those are AWS's own
			tags = append(tags, types.Tag{Key: t.Key, Value: t.Value})
		}
	}
	if err := a.change(ctx, func() error {
		_, err := a.tables.TagResource(ctx, &dynamodb.TagResourceInput{ResourceArn: &arn, Tags: tags})
		return err
	}); err != nil {
		return err
	}
	_, err = a.active(ctx, name) // the changes are made
	return err
}

// change repeats a change of a table that can be used until DynamoDB makes it: it refuses some for minutes, while it prepares the backups of a
// new table, makes another change of it, or has too many in progress.
func (a *account) change(ctx context.Context, do func() error) error {
	for {
		err := do()
		if err == nil {
			return nil
		}
		var backups *types.ContinuousBackupsUnavailableException
		var busy *types.ResourceInUseException
		var many *types.LimitExceededException
		if !errors.As(err, &backups) && !errors.As(err, &busy) && !errors.As(err, &many) {
			return a.explain(err)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w; run the command again to continue", a.explain(err))
		case <-time.After(a.poll):
		}
	}
}

// active waits until a table can be used and returns its ARN.
func (a *account) active(ctx context.Context, name string) (string, error) {
	for {
		described, err := a.tables.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &name})
		if err != nil {
			return "", a.explain(err)
		}
		if described.Table.TableStatus == types.TableStatusActive {
			return aws.ToString(described.Table.TableArn), nil
		}
		select {
		case <-ctx.Done():
			return "", fmt.Errorf("it is still %s: run the command again to continue", described.Table.TableStatus)
		case <-time.After(a.poll):
		}
	}
}
