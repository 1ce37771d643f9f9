package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	cftypes "github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"docent/shared/table"
)

// fitting returns an error if the values do not fit the account, the region or what the stack was deployed with: a deployment
// would fail at its end, or leave the functions without the data.
func (a *account) fitting(ctx context.Context, there *cftypes.Stack, given, kept settings) error {
	value := func(key string) string {
		if v, ok := given[key]; ok {
			return v
		}
		return kept[key]
	}
	// arn:aws:acm:REGION:ACCOUNT:certificate/ID
	if parts := strings.Split(value("certificate"), ":"); len(parts) > 3 && parts[3] != a.region {
		return fmt.Errorf("the certificate is of the region %s: the domain needs one of %s", parts[3], a.region)
	}
	restored := value("restored")
	if restored == "" {
		if kept["restored"] == "" || there == nil {
			return nil
		}
		return a.hasTables(ctx, there)
	}
	for _, ours := range table.Names {
		name := given.stackName() + "-" + restored + "-" + ours
		_, err := a.tables.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &name})
		if missing := new(types.ResourceNotFoundException); errors.As(err, &missing) {
			return fmt.Errorf("restored=%s: there is no table %s: run make restore, which makes all of them", restored, name)
		}
		if err != nil {
			return fmt.Errorf("describe the table %s: %w", name, a.explain(err))
		}
	}
	return nil
}

// hasTables returns an error if a stack that uses restored tables has none of its own to return to: CloudFormation would make empty ones.
func (a *account) hasTables(ctx context.Context, there *cftypes.Stack) error {
	resources, err := a.stacks.DescribeStackResources(ctx, &cloudformation.DescribeStackResourcesInput{StackName: there.StackName})
	if err != nil {
		return a.explain(err)
	}
	for _, r := range resources.StackResources {
		if r.ResourceType != nil && *r.ResourceType == "AWS::DynamoDB::Table" {
			return nil
		}
	}
	return fmt.Errorf("the stack %s uses restored tables and has no others: without restored it would get empty ones. "+
		"infra/README.md, \"Restoring\", says how to return to its old ones", *there.StackName)
}
