package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
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
	// arn:aws:sns:REGION:ACCOUNT:NAME
	if parts := strings.Split(value("alarmsTopic"), ":"); len(parts) > 3 && parts[3] != a.region {
		return fmt.Errorf("the topic of the alarms is in the region %s: CloudWatch needs one of %s", parts[3], a.region)
	}
	if budget := value("budget"); budget != "" && budget != "0" {
		if err := a.hasBudgets(ctx); err != nil {
			return err
		}
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
	if there == nil {
		return nil
	}
	return a.keepsTables(ctx, there)
}

// hasBudgets returns an error if CloudFormation does not know budgets in the region, as in GovCloud: it refuses a template that has one, whatever
// its conditions. Any other answer, such as that this may not be asked, leaves it to the deployment.
func (a *account) hasBudgets(ctx context.Context) error {
	_, err := a.stacks.ValidateTemplate(ctx, &cloudformation.ValidateTemplateInput{TemplateBody: aws.String(`{"Resources":{"Budget":{"Type":"AWS::Budgets::Budget"}}}`)})
	if err != nil && strings.Contains(err.Error(), "Unrecognized resource types") {
		return fmt.Errorf("CloudFormation has no budgets in %s: make it by hand, and deploy with -c budget=0", a.region)
	}
	return nil
}

// ownsTables reports whether a stack has tables of its own. One that uses restored tables has none. A stack has more than the hundred
// resources that DescribeStackResources returns.
func (a *account) ownsTables(ctx context.Context, there *cftypes.Stack) (bool, error) {
	pages := cloudformation.NewListStackResourcesPaginator(a.stacks, &cloudformation.ListStackResourcesInput{StackName: there.StackName})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return false, a.explain(err)
		}
		if slices.ContainsFunc(page.StackResourceSummaries, isOwnTable) {
			return true, nil
		}
	}
	return false, nil
}

// isOwnTable reports whether r is a table that still belongs to its stack.
func isOwnTable(r cftypes.StackResourceSummary) bool {
	return aws.ToString(r.ResourceType) == "AWS::DynamoDB::Table" && r.ResourceStatus != cftypes.ResourceStatusDeleteComplete && r.ResourceStatus != cftypes.ResourceStatusDeleteSkipped
}

// keepsTables returns an error if a stack would delete its own tables when restored ones take their place: everything written after the
// restored moment would be lost, and there would be no way back. What counts is how the stack was last deployed: CloudFormation treats
// what leaves a template as the previous template says.
func (a *account) keepsTables(ctx context.Context, there *cftypes.Stack) error {
	if output(there, "DataRetained") == "true" {
		return nil
	}
	if owns, err := a.ownsTables(ctx, there); err != nil || !owns {
		return err
	}
	return fmt.Errorf("the stack %s is deployed with removal=destroy: it would delete its own tables, with everything written since, when it uses restored ones. "+
		"First run make deploy CONTEXT='-c removal=retain', with its name and stage, then repeat this", *there.StackName)
}

// hasTables returns an error if a stack that uses restored tables has none of its own to return to: CloudFormation would make empty ones.
func (a *account) hasTables(ctx context.Context, there *cftypes.Stack) error {
	if owns, err := a.ownsTables(ctx, there); err != nil || owns {
		return err
	}
	return fmt.Errorf("the stack %s uses restored tables and has no others: without restored it would get empty ones. "+
		"infra/README.md, \"Restoring\", says how to return to its old ones", *there.StackName)
}
