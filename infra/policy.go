package main

import (
	"slices"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/jsii-runtime-go"
)

// What AWS calls reading and writing. A transaction needs leave for each of its parts;
// a check is one, and may be of a table that is only read: a document's collection.
var (
	readItems  = []string{"dynamodb:BatchGetItem", "dynamodb:ConditionCheckItem", "dynamodb:GetItem", "dynamodb:Query"}
	writeItems = []string{"dynamodb:DeleteItem", "dynamodb:PutItem", "dynamodb:UpdateItem"}

	readObjects  = []string{"s3:GetObject"}
	listObjects  = []string{"s3:ListBucket"} // without it S3 says of a missing object that it is forbidden
	writeObjects = []string{"s3:DeleteObject", "s3:PutObject"}

	sendMessages = []string{"sqs:SendMessage"}
	takeMessages = []string{"sqs:ChangeMessageVisibility", "sqs:DeleteMessage", "sqs:GetQueueAttributes", "sqs:ReceiveMessage"}

	useKey   = []string{"kms:Decrypt", "kms:Encrypt"}
	askModel = []string{"bedrock:InvokeModel"}
	readKey  = []string{"ssm:GetParameter"}
	writeLog = []string{"logs:CreateLogStream", "logs:PutLogEvents"}
	trace    = []string{"xray:PutTelemetryRecords", "xray:PutTraceSegments"}
)

// policy is everything that a function may do.
func (x *stack) policy(f function, log awslogs.LogGroup) awsiam.PolicyDocument {
	var statements []awsiam.PolicyStatement
	allow := func(actions []string, resources ...*string) {
		if len(resources) > 0 {
			statements = append(statements, awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
				Actions: jsii.Strings(actions...), Resources: &resources}))
		}
	}
	allow(readItems, x.tableARNs(append(f.reads, f.writes...))...)
	allow(writeItems, x.tableARNs(f.writes)...)
	if f.objects >= reads {
		allow(readObjects, x.bucket.ArnForObjects(jsii.String("*")))
		allow(listObjects, x.bucket.BucketArn())
	}
	if f.objects == writes {
		allow(writeObjects, x.bucket.ArnForObjects(jsii.String("*")))
	}
	for _, name := range f.sends {
		allow(sendMessages, x.channels()[name].queue.QueueArn())
	}
	for _, name := range f.takes {
		allow(takeMessages, x.channels()[name].queue.QueueArn())
	}
	if f.secrets {
		allow(useKey, x.key.KeyArn())
	}
	if f.model {
		allow(askModel, x.models()...)
		allow(readKey, x.modelKeys()...)
	}
	allow(writeLog, log.LogGroupArn())
	allow(trace, jsii.String("*")) // X-Ray knows no resources
	return awsiam.NewPolicyDocument(&awsiam.PolicyDocumentProps{Statements: &statements})
}

func (x *stack) tableARNs(names []string) (arns []*string) {
	for _, name := range slices.Sorted(slices.Values(names)) {
		arns = append(arns, x.tables[name].TableArn())
	}
	return arns
}

func (x *stack) channels() map[string]channel {
	return map[string]channel{questions: x.questions, documents: x.documents, syncs: x.syncs, rebuilds: x.rebuilds}
}

// models are the ARNs of what may be invoked for the model. A model is invoked
// where the function is. A profile, whose id has a region's short name before that
// of its model, passes a request on to that model in any region.
func (x *stack) models() (arns []*string) {
	if len(x.modelARNs) > 0 || x.provider != bedrock {
		return *jsii.Strings(x.modelARNs...)
	}
	in := func(region, account, what string) *string {
		return awscdk.Fn_Join(jsii.String(":"), &[]*string{jsii.String("arn"), x.construct.Partition(), jsii.String("bedrock"),
			jsii.String(region), jsii.String(account), jsii.String(what)})
	}
	here := *x.construct.Region()
	if area, model, ok := strings.Cut(x.model, "."); ok && slices.Contains(profileAreas, area) {
		return []*string{in(here, *x.construct.Account(), "inference-profile/"+x.model), in("*", "", "foundation-model/"+model)}
	}
	return []*string{in(here, "", "foundation-model/"+x.model)}
}

// modelKeys is the ARN of the parameter that holds the key of the model's server, if it
// has one. What is encrypted under the account's key of Parameter Store, aws/ssm, whoever
// may read the parameter may decrypt.
func (x *stack) modelKeys() []*string {
	if x.modelKey == "" {
		return nil
	}
	return []*string{awscdk.Fn_Join(jsii.String(":"), &[]*string{jsii.String("arn"), x.construct.Partition(), jsii.String("ssm"),
		x.construct.Region(), x.construct.Account(), jsii.String("parameter/" + strings.TrimPrefix(x.modelKey, "/"))})}
}

// profileAreas are what the ids of AWS's own inference profiles begin with.
var profileAreas = []string{"apac", "au", "ca", "eu", "global", "jp", "us", "us-gov"}
