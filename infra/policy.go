package main

import (
	"cmp"
	"slices"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/jsii-runtime-go"
)

// The actions for reading and writing. A transaction needs permission for each of its operations, also for a check
// of a table that is only read, such as a document's collection.
var (
	readItems  = []string{"dynamodb:BatchGetItem", "dynamodb:ConditionCheckItem", "dynamodb:GetItem", "dynamodb:Query"}
	writeItems = []string{"dynamodb:DeleteItem", "dynamodb:PutItem", "dynamodb:UpdateItem"}

	readObjects  = []string{"s3:GetObject"}
	listObjects  = []string{"s3:ListBucket"} // without it S3 reports a missing object as forbidden
	writeObjects = []string{"s3:DeleteObject", "s3:PutObject"}
	putObjects   = []string{"s3:PutObject"}
	dropObjects  = []string{"s3:DeleteObject"}

	sendMessages = []string{"sqs:SendMessage"}
	takeMessages = []string{"sqs:ChangeMessageVisibility", "sqs:DeleteMessage", "sqs:GetQueueAttributes", "sqs:ReceiveMessage"}

	openKey  = []string{"kms:Decrypt"}
	useKey   = []string{"kms:Decrypt", "kms:Encrypt"}
	askModel = []string{"bedrock:InvokeModel", "bedrock:InvokeModelWithResponseStream"}
	embed    = []string{"bedrock:InvokeModel"}
	readKey  = []string{"ssm:GetParameter"}
	writeLog = []string{"logs:CreateLogStream", "logs:PutLogEvents"}
	trace    = []string{"xray:PutTelemetryRecords", "xray:PutTraceSegments"}
)

// originals are the objects of the original files of documents.
const originals = "originals/*"

// indexed are the objects of the search index: segments and vectors.
var indexed = []string{"segments/*", "vectors/*"}

// objectsOf returns the ARNs of the objects whose names match.
func (s *stack) objectsOf(patterns ...string) (arns []*string) {
	for _, pattern := range patterns {
		arns = append(arns, s.bucket.ArnForObjects(jsii.String(pattern)))
	}
	return arns
}

// policy returns everything that a function may do.
func (s *stack) policy(f function, log awslogs.LogGroup) awsiam.PolicyDocument {
	var statements []awsiam.PolicyStatement
	allow := func(actions []string, resources ...*string) {
		if len(resources) > 0 {
			statements = append(statements, awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
				Actions: jsii.Strings(actions...), Resources: &resources}))
		}
	}
	allow(readItems, s.tableARNs(append(f.reads, f.writes...))...)
	allow(writeItems, s.tableARNs(f.writes)...)
	if f.objects >= reads {
		allow(readObjects, s.objectsOf(indexed...)...)
		allow(listObjects, s.bucket.BucketArn())
	}
	if f.objects == writes {
		allow(writeObjects, s.objectsOf(indexed...)...)
	}
	if f.files >= reads {
		allow(readObjects, s.objectsOf(originals)...)
		allow(listObjects, s.bucket.BucketArn())
	}
	if f.files == writes {
		allow(putObjects, s.objectsOf(originals)...)
	}
	if f.drops {
		allow(dropObjects, s.objectsOf(originals)...)
	}
	for _, name := range f.sends {
		allow(sendMessages, s.queuePairs()[name].queue.QueueArn())
	}
	for _, name := range f.takes {
		allow(takeMessages, s.queuePairs()[name].queue.QueueArn())
	}
	switch f.secrets {
	case reads:
		allow(openKey, s.key.KeyArn())
	case writes:
		allow(useKey, s.key.KeyArn())
	}
	if f.model {
		allow(askModel, s.models()...)
		allow(readKey, s.keyParameter(s.modelKey)...)
	}
	if f.embeds {
		allow(embed, s.embeddingModels()...)
		allow(readKey, s.keyParameter(s.embedding.key)...)
	}
	allow(writeLog, log.LogGroupArn())
	if s.tracing {
		allow(trace, jsii.String("*")) // X-Ray has no resources
	}
	return awsiam.NewPolicyDocument(&awsiam.PolicyDocumentProps{Statements: &statements})
}

func (s *stack) tableARNs(names []string) (arns []*string) {
	for _, name := range slices.Sorted(slices.Values(names)) {
		arns = append(arns, s.tables[name].TableArn())
	}
	return arns
}

func (s *stack) queuePairs() map[string]queuePair {
	return map[string]queuePair{questions: s.questions, documents: s.documents, syncs: s.syncs, rebuilds: s.rebuilds, embeddings: s.embeddings, deliveries: s.deliveries, extractions: s.extractions}
}

// models returns the ARNs of what may be invoked for the model. A model is invoked in the function's region. A
// profile, whose id is a region's short name and the id of its model, passes a request to the model in any region.
func (s *stack) models() (arns []*string) {
	if len(s.modelARNs) > 0 || s.provider != bedrock {
		return *jsii.Strings(s.modelARNs...)
	}
	return s.foundationModels(s.model)
}

// embeddingModels is models for the embedding model, which may itself be an ARN.
func (s *stack) embeddingModels() []*string {
	switch model := s.embedding.model; {
	case s.embedding.provider != bedrock:
		return nil
	case strings.HasPrefix(model, "arn:"):
		return []*string{&model}
	default:
		return s.foundationModels(cmp.Or(model, titan))
	}
}

// titan is the id of the embedding model of Bedrock that is used if none is given.
const titan = "amazon.titan-embed-text-v2:0"

// foundationModels returns the ARNs of what may be invoked for a model of Bedrock, by its id or that of a profile.
func (s *stack) foundationModels(id string) []*string {
	in := func(region, account, what string) *string {
		return awscdk.Fn_Join(jsii.String(":"), &[]*string{jsii.String("arn"), s.construct.Partition(), jsii.String("bedrock"),
			jsii.String(region), jsii.String(account), jsii.String(what)})
	}
	here := *s.construct.Region()
	if area, model, ok := strings.Cut(id, "."); ok && slices.Contains(profileAreas, area) {
		return []*string{in(here, *s.construct.Account(), "inference-profile/"+id), in("*", "", "foundation-model/"+model)}
	}
	return []*string{in(here, "", "foundation-model/"+id)}
}

// keyParameter returns the ARN of the parameter with the key of a model's server, if it has one. A parameter under
// the account's key aws/ssm can be decrypted by whoever may read it.
func (s *stack) keyParameter(name string) []*string {
	if name == "" {
		return nil
	}
	return []*string{awscdk.Fn_Join(jsii.String(":"), &[]*string{jsii.String("arn"), s.construct.Partition(), jsii.String("ssm"),
		s.construct.Region(), s.construct.Account(), jsii.String("parameter/" + strings.TrimPrefix(name, "/"))})}
}

// profileAreas are the first parts of the ids of AWS's inference profiles.
var profileAreas = []string{"apac", "au", "ca", "eu", "global", "jp", "us", "us-gov"}
