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

// constructID names the stack in the assembly, whatever it is called in AWS.
const constructID = "Docent"

// templateFile is the template's in the assembly.
const templateFile = constructID + ".template.json"

// stack is the whole of Docent in one account and region. Nothing in it has a
// name of our choice, so that several can stand side by side and everything can
// be replaced.
type stack struct {
	settings

	app       awscdk.App
	construct awscdk.Stack
	tables    map[string]awsdynamodb.Table // by the names of shared/table
	bucket    awss3.Bucket
	questions queuePair
	documents queuePair
	syncs     queuePair
	rebuilds  queuePair
	key       awskms.Key
	api       awsapigateway.RestApi
	functions map[string]awslambda.Function
	logs      map[string]awslogs.LogGroup // of functions
	topic     awssns.ITopic               // nil: nobody is told of alarms
	alarms    []interfacesawscloudwatch.IAlarmRef
}

func newStack(app awscdk.App, values settings) *stack {
	s := &stack{settings: values, app: app, construct: awscdk.NewStack(app, jsii.String(constructID), &awscdk.StackProps{
		StackName:             jsii.String(values.stackName()),
		Description:           jsii.String("Docent: answers questions from a team's own documents and says where each answer comes from."),
		TerminationProtection: jsii.Bool(!values.destroy),
		// The CDK's command line looks whether the account is bootstrapped before it deploys.
		Synthesizer: awscdk.NewDefaultStackSynthesizer(&awscdk.DefaultStackSynthesizerProps{GenerateBootstrapVersionRule: jsii.Bool(false)}),
	})}
	awscdk.Tags_Of(s.construct).Add(jsii.String(ownerTag), jsii.String(values.stackName()), nil)
	s.addTables(table.Names)
	s.addBucket()
	s.addQueues()
	s.addKey()
	s.addAPI()
	s.addFunctions()
	s.addRoutes()
	s.addWorkers()
	s.addSchedule()
	s.addDomain()
	s.addWAF()
	if s.withAlarms {
		s.addAlarms()
	}
	s.addBudget()
	s.addDashboard()
	s.addOutputs()
	return s
}

// ownerTag is on every resource; its value is the stack's name. The deployment
// takes a stack without it for somebody else's.
const ownerTag = "docent"

// removal is what becomes of data when the stack, or the resource in it, goes.
func (s settings) removal() awscdk.RemovalPolicy {
	if s.destroy {
		return awscdk.RemovalPolicy_DESTROY
	}
	return awscdk.RemovalPolicy_RETAIN
}
