package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/feature/ec2/imds"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go"
)

// account is one account and region, with the credentials of the environment or of a profile.
type account struct {
	id, region string
	stacks     *cloudformation.Client
	objects    *s3.Client
	tables     *dynamodb.Client
	functions  *lambda.Client
	poll       time.Duration // between two looks at a table that is being restored
}

// regionName is the form of the names of regions, such as us-gov-west-1 and eusc-de-east-1.
var regionName = regexp.MustCompile(`^[a-z]{2,4}(-[a-z]+)+-\d$`)

// open finds the account and region that the environment means. It ignores credentials of a machine: a person or a
// job that deploys names its own.
func open(ctx context.Context) (*account, error) {
	settings, err := config.LoadDefaultConfig(ctx, config.WithEC2IMDSClientEnableState(imds.ClientDisabled))
	if err != nil {
		return nil, fmt.Errorf("read the settings of AWS: %w", err)
	}
	if settings.Region == "" {
		return nil, errors.New("no region is chosen: set AWS_REGION, such as AWS_REGION=eu-central-1")
	}
	if !regionName.MatchString(settings.Region) {
		return nil, fmt.Errorf("%q is not a name of a region", settings.Region)
	}
	if _, err := settings.Credentials.Retrieve(ctx); err != nil {
		return nil, errors.New("there are no credentials: set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
	}
	a := &account{region: settings.Region, poll: restorePoll, stacks: cloudformation.NewFromConfig(settings), tables: dynamodb.NewFromConfig(settings), functions: lambda.NewFromConfig(settings),
		objects: s3.NewFromConfig(settings, func(o *s3.Options) { o.UsePathStyle = os.Getenv("AWS_ENDPOINT_URL") != "" })}
	who, err := sts.NewFromConfig(settings).GetCallerIdentity(ctx, nil)
	if err != nil {
		return nil, a.explain(err)
	}
	a.id = aws.ToString(who.Account)
	return a, nil
}

// explain returns in one line why AWS refused a request.
func (a *account) explain(err error) error {
	var unknown *net.DNSError
	var answer smithy.APIError
	switch {
	case errors.As(err, &unknown):
		return fmt.Errorf("AWS cannot be reached at %s: is there a region %s, and a network?", unknown.Name, a.region)
	case !errors.As(err, &answer):
		return fmt.Errorf("AWS cannot be reached in %s: %w", a.region, err)
	}
	switch answer.ErrorCode() {
	case "InvalidClientTokenId", "SignatureDoesNotMatch", "AuthFailure", "UnrecognizedClientException":
		return fmt.Errorf("AWS does not know the credentials in %s: they are wrong, or the region is not enabled in the account", a.region)
	case "ExpiredToken", "ExpiredTokenException", "RequestExpired":
		return errors.New("the credentials have expired: sign in again")
	case "AccessDenied", "AccessDeniedException", "UnauthorizedOperation":
		return fmt.Errorf("the credentials may not do this: %s", answer.ErrorMessage())
	}
	return fmt.Errorf("%s: %s", answer.ErrorCode(), answer.ErrorMessage())
}

// stack describes a stack. It returns nil if there is none of that name.
func (a *account) stack(ctx context.Context, name string) (*types.Stack, error) {
	found, err := a.stacks.DescribeStacks(ctx, &cloudformation.DescribeStacksInput{StackName: &name})
	var answer smithy.APIError
	if errors.As(err, &answer) && answer.ErrorCode() == "ValidationError" && strings.Contains(answer.ErrorMessage(), "does not exist") {
		return nil, nil
	}
	if err != nil {
		return nil, a.explain(err)
	}
	if len(found.Stacks) == 0 {
		return nil, nil
	}
	return &found.Stacks[0], nil
}

// ownerTag is the tag of the stack and everything in it; see infra.
const ownerTag = "docent"

// ours reports whether Docent's deployment created the stack.
func ours(s *types.Stack) bool {
	for _, t := range s.Tags {
		if aws.ToString(t.Key) == ownerTag && aws.ToString(t.Value) == aws.ToString(s.StackName) {
			return true
		}
	}
	return false
}

// output returns an output of the stack, or "".
func output(s *types.Stack, name string) string {
	for _, o := range s.Outputs {
		if aws.ToString(o.OutputKey) == name {
			return aws.ToString(o.OutputValue)
		}
	}
	return ""
}

// usable returns an error if CloudFormation would not accept a change of the stack now.
func (a *account) usable(s *types.Stack) error {
	name, status := aws.ToString(s.StackName), string(s.StackStatus)
	switch {
	case status == string(types.StackStatusReviewInProgress): // it has only a change set, whose tags are not its own yet
		return fmt.Errorf("the stack %s has never been created (%s), as after an interrupted deployment, and holds nothing: run "+
			"aws cloudformation delete-stack --stack-name %s, and repeat this", name, status, name)
	case !ours(s):
		return fmt.Errorf("the stack %s in %s is not Docent's: choose another name with CONTEXT='-c name=…'", name, a.region)
	case strings.HasSuffix(status, "_IN_PROGRESS"):
		return fmt.Errorf("the stack %s is being changed (%s): wait until that has ended", name, status)
	case status == string(types.StackStatusRollbackComplete), status == string(types.StackStatusRollbackFailed):
		return fmt.Errorf("the stack %s could not be created (%s), and is protected: infra/README.md, \"If a deployment fails\", says how to remove its remains", name, status)
	case status == string(types.StackStatusDeleteFailed):
		return fmt.Errorf("the stack %s was not deleted whole (%s), and can only be deleted: mend what its events show, and run "+
			"make destroy STACK=%s or aws cloudformation delete-stack --stack-name %s", name, status, name, name)
	case status == string(types.StackStatusUpdateRollbackFailed):
		return fmt.Errorf("the stack %s could not return to the last deployment (%s): mend what its events show, and run "+
			"aws cloudformation continue-update-rollback --stack-name %s", name, status, name)
	}
	return nil
}
