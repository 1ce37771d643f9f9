package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigateway"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/aws-cdk-go/awscdk/v2/awss3"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssns"
	"github.com/aws/aws-cdk-go/awscdk/v2/interfaces/interfacesawscloudwatch"
	"github.com/aws/jsii-runtime-go"

	"docent/shared/table"
)

// constructID is the name of the stack in the assembly, whatever its name in AWS.
const constructID = "Docent"

// templateFile is the file of the template in the assembly.
const templateFile = constructID + ".template.json"

// stack is all of Docent in one account and region. It chooses no names in AWS, so that several stacks can exist
// and everything can be replaced.
type stack struct {
	settings

	app       awscdk.App
	construct awscdk.Stack
	tables    map[string]awsdynamodb.ITable // by the names in shared/table
	bucket    awss3.Bucket
	questions queuePair
	documents queuePair
	syncs     queuePair
	// extractions carries files whose text is to be read.
	extractions queuePair
	// deliveries carries notices for webhook endpoints.
	deliveries queuePair
	rebuilds   queuePair
	// embeddings are the documents and parts of the index that wait for vectors.
	embeddings queuePair
	key        awskms.Key
	api        awsapigateway.RestApi
	functions  map[string]awslambda.Function
	aliases    map[string]awslambda.Alias  // nil: functions are called as they are
	logs       map[string]awslogs.LogGroup // of functions
	topics     []awssns.ITopic             // alarms are sent to all of them
	alarms     []interfacesawscloudwatch.IAlarmRef
	rollback   []interfacesawscloudwatch.IAlarmRef // those that undo a deployment
}

func newStack(app awscdk.App, values settings) *stack {
	s := &stack{settings: values, app: app, construct: awscdk.NewStack(app, jsii.String(constructID), &awscdk.StackProps{
		StackName:             jsii.String(values.stackName()),
		Description:           jsii.String("Docent: answers questions from a team's own documents and says where each answer comes from."),
		TerminationProtection: jsii.Bool(!values.destroy),
		// The CDK's command line checks that the account is bootstrapped before it deploys.
		Synthesizer: awscdk.NewDefaultStackSynthesizer(&awscdk.DefaultStackSynthesizerProps{GenerateBootstrapVersionRule: jsii.Bool(false)}),
	})}
	awscdk.Tags_Of(s.construct).Add(jsii.String(ownerTag), jsii.String(values.stackName()), nil)
	s.obey(s.construct)
	s.addTables(table.Names)
	s.addBucket()
	s.addQueues()
	s.addKey()
	s.addAPI()
	s.allowUploads()
	s.addFunctions()
	s.addAliases()
	s.addRoutes()
	s.addWorkers()
	s.addSchedule()
	s.addDomain()
	s.addWAF()
	if s.withAlarms {
		s.addAlarms()
	}
	s.addCanary()
	if s.backupRegion != "" {
		s.addBackups(newBackups(app, values))
	}
	s.addBudget()
	s.addDashboards()
	s.addOutputs()
	return s
}

// ownerTag is on every resource; its value is the stack's name. The deployment refuses a stack without it.
const ownerTag = "docent"

// removal is the fate of data when the stack, or the resource in it, is deleted.
func (s settings) removal() awscdk.RemovalPolicy {
	if s.destroy {
		return awscdk.RemovalPolicy_DESTROY
	}
	return awscdk.RemovalPolicy_RETAIN
}
