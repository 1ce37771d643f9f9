package main

import (
	"maps"
	"slices"

	"github.com/aws/aws-cdk-go/awscdk/v2/awscodedeploy"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/jsii-runtime-go"
)

// liveName is the name of the alias by which everything calls a function.
const liveName = "live"

// rollsBack are the alarms that end a deployment and undo it. Those of queues are not: letters and messages of before it
// would end every deployment, also the one that mends their cause.
var rollsBack = []string{"ServerErrors", "FailedRequests", "Latency", "EmbeddingErrors", "SweepingErrors", "SyncingErrors"}

// callable returns by what a function is called: with a canary its alias, whose calls are shifted to a new version step by
// step, else the function.
func (s *stack) callable(name string) awslambda.IFunction {
	if alias, ok := s.aliases[name]; ok {
		return alias
	}
	return s.functions[name]
}

// addAliases adds an alias for each function, if the operator wants a canary.
func (s *stack) addAliases() {
	if !s.canary {
		return
	}
	s.aliases = map[string]awslambda.Alias{}
	for _, f := range functions {
		s.aliases[f.name] = awslambda.NewAlias(s.construct, id(f.name, "Live"), &awslambda.AliasProps{
			AliasName: jsii.String(liveName), Version: s.functions[f.name].CurrentVersion()})
	}
}

// addCanary has CodeDeploy send a tenth of the calls to the new version of a function for five minutes, and then all. If one of the
// alarms rings before, all go to the old version again and CloudFormation rolls the stack back.
func (s *stack) addCanary() {
	if !s.canary {
		return
	}
	var aliases []*string
	for _, f := range functions {
		aliases = append(aliases, s.functions[f.name].FunctionArn(), jsii.String(*s.functions[f.name].FunctionArn()+":"+liveName))
	}
	role := awsiam.NewRole(s.construct, id("CanaryRole"), &awsiam.RoleProps{
		AssumedBy:   awsiam.NewServicePrincipal(jsii.String("codedeploy.amazonaws.com"), nil),
		Description: jsii.String("Shifts the calls of Docent's functions to new versions."),
		InlinePolicies: &map[string]awsiam.PolicyDocument{"canary": awsiam.NewPolicyDocument(&awsiam.PolicyDocumentProps{
			Statements: &[]awsiam.PolicyStatement{
				awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{Resources: &aliases,
					Actions: jsii.Strings("lambda:GetAlias", "lambda:GetProvisionedConcurrencyConfig", "lambda:UpdateAlias")}),
				awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{Resources: jsii.Strings("*"), // it has no resources
					Actions: jsii.Strings("cloudwatch:DescribeAlarms")}),
			}})},
	})
	application := awscodedeploy.NewLambdaApplication(s.construct, id("Canary"), nil)
	for _, name := range slices.Sorted(maps.Keys(s.aliases)) {
		awscodedeploy.NewLambdaDeploymentGroup(s.construct, id(name, "Canary"), &awscodedeploy.LambdaDeploymentGroupProps{
			Alias: s.aliases[name], Application: application, Role: role.WithoutPolicyUpdates(nil),
			DeploymentConfig: awscodedeploy.LambdaDeploymentConfig_CANARY_10PERCENT_5MINUTES(),
			Alarms:           &s.rollback,
			AutoRollback:     &awscodedeploy.AutoRollbackConfig{FailedDeployment: jsii.Bool(true), DeploymentInAlarm: jsii.Bool(true)},
		})
	}
}
