package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsevents"
	"github.com/aws/aws-cdk-go/awscdk/v2/awseventstargets"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/jsii-runtime-go"
)

// addSchedule runs sweeping every minute. A failed run is not repeated: the next one does its work.
func (s *stack) addSchedule() {
	minute := awscdk.Duration_Minutes(jsii.Number(1))
	sweeping := s.callable("sweeping")
	sweeping.ConfigureAsyncInvoke(&awslambda.EventInvokeConfigOptions{MaxEventAge: minute, RetryAttempts: jsii.Number(0)})
	awsevents.NewRule(s.construct, id("EveryMinute"), &awsevents.RuleProps{
		Description: jsii.String("Has Docent send again what a crash left behind."),
		Schedule:    awsevents.Schedule_Rate(minute),
		Targets: &[]awsevents.IRuleTarget{awseventstargets.NewLambdaFunction(sweeping, &awseventstargets.LambdaFunctionProps{
			MaxEventAge: minute, RetryAttempts: jsii.Number(0)})},
	})
}
