package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	cftypes "github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"
)

// deletionWait is how long the deletion of a stack may take.
const deletionWait = 30 * time.Minute

// destroy deletes a stack with all its data. It refuses a stack whose data is retained: that would leave tables
// outside any stack, although all seems to be deleted.
func (a *account) destroy(ctx context.Context, name string, out io.Writer) error {
	there, err := a.stack(ctx, name)
	if err != nil {
		return err
	}
	if there == nil {
		return fmt.Errorf("there is no stack %s in %s of the account %s", name, a.region, a.id)
	}
	again := ours(there) && there.StackStatus == cftypes.StackStatusDeleteFailed // a deletion may be repeated
	if err := a.usable(there); err != nil && !again {
		return err
	}
	if output(there, "DataRetained") != "false" {
		if again { // it can no longer be deployed
			return fmt.Errorf("the stack %s keeps its data, and was not deleted whole: mend what its events show, and run "+
				"aws cloudformation delete-stack --stack-name %s, which leaves its tables and its bucket", name, name)
		}
		return fmt.Errorf("the stack %s keeps its data: to delete all of it, run make deploy CONTEXT='-c removal=destroy' first, with your other values", name)
	}
	stay, err := a.tablesThatStay(ctx, there)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "Removing %s and its data from %s in the account %s.\n", name, a.region, a.id)
	if err := a.remove(ctx, there); err != nil {
		return err
	}
	fmt.Fprintf(out, "%s is gone.\n", name)
	if len(stay) > 0 {
		fmt.Fprintf(out, "Its restored tables stay, with their data: %s. Delete them in DynamoDB when nobody needs them; they may be protected from deletion.\n", strings.Join(stay, ", "))
	}
	return nil
}

// remove empties the bucket of a stack and deletes the stack, twice if need be: until the functions are gone they may write to the bucket,
// and CloudFormation does not delete one that has objects.
func (a *account) remove(ctx context.Context, there *cftypes.Stack) error {
	id := there.StackId // a deleted stack can only be found by its id
	for last := false; ; last = true {
		if bucket := output(there, "BucketName"); bucket != "" {
			if err := a.empty(ctx, bucket); err != nil {
				return err
			}
		}
		if _, err := a.stacks.DeleteStack(ctx, &cloudformation.DeleteStackInput{StackName: id}); err != nil {
			return a.explain(err)
		}
		waiter := cloudformation.NewStackDeleteCompleteWaiter(a.stacks)
		err := waiter.Wait(ctx, &cloudformation.DescribeStacksInput{StackName: id}, deletionWait)
		if err == nil {
			return nil
		}
		left, described := a.stack(ctx, aws.ToString(id))
		if described != nil || left == nil || left.StackStatus != cftypes.StackStatusDeleteFailed {
			return fmt.Errorf("the stack %s is not gone: %w", aws.ToString(there.StackName), err)
		}
		if last {
			return fmt.Errorf("the stack %s is not gone: %s", aws.ToString(there.StackName), aws.ToString(left.StackStatusReason))
		}
	}
}

// tablesThatStay returns the tables in use of a stack that do not belong to it: those that were restored.
func (a *account) tablesThatStay(ctx context.Context, there *cftypes.Stack) ([]string, error) {
	if owns, err := a.ownsTables(ctx, there); err != nil || owns {
		return nil, err
	}
	tables, err := tablesOfStack(there)
	if err != nil {
		return nil, err
	}
	return slices.Sorted(maps.Values(tables)), nil
}

// empty deletes the content of a bucket with all versions, because CloudFormation deletes only empty ones. The bucket may be gone, after a
// deletion of its stack that failed later.
func (a *account) empty(ctx context.Context, bucket string) error {
	pages := s3.NewListObjectVersionsPaginator(a.objects, &s3.ListObjectVersionsInput{Bucket: &bucket})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		var answer smithy.APIError
		if errors.As(err, &answer) && answer.ErrorCode() == "NoSuchBucket" {
			return nil
		}
		if err != nil {
			return fmt.Errorf("list the bucket %s: %w", bucket, a.explain(err))
		}
		var batch []s3types.ObjectIdentifier
		for _, object := range page.Versions {
			batch = append(batch, s3types.ObjectIdentifier{Key: object.Key, VersionId: object.VersionId})
		}
		for _, marker := range page.DeleteMarkers {
			batch = append(batch, s3types.ObjectIdentifier{Key: marker.Key, VersionId: marker.VersionId})
		}
		if len(batch) == 0 {
			continue
		}
		deleted, err := a.objects.DeleteObjects(ctx, &s3.DeleteObjectsInput{Bucket: &bucket,
			Delete: &s3types.Delete{Objects: batch, Quiet: aws.Bool(true)}})
		if err != nil {
			return fmt.Errorf("empty the bucket %s: %w", bucket, a.explain(err))
		}
		if len(deleted.Errors) > 0 {
			return fmt.Errorf("empty the bucket %s: %s", bucket, aws.ToString(deleted.Errors[0].Message))
		}
	}
	return nil
}
