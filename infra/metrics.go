package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/jsii-runtime-go"
)

// namespace is the namespace of the metrics that Docent writes in its log lines.
const namespace = "Docent"

const refusedKeys = "RefusedKeys"

func period() awscdk.Duration { return awscdk.Duration_Minutes(jsii.Number(5)) }

func metric(namespace, name, statistic string, dimensions map[string]*string) awscloudwatch.IMetric {
	props := &awscloudwatch.MetricProps{
		Namespace: jsii.String(namespace), MetricName: jsii.String(name), Statistic: jsii.String(statistic), Period: period()}
	if len(dimensions) > 0 {
		props.DimensionsMap = &dimensions
	}
	return awscloudwatch.NewMetric(props)
}

// docentMetric returns a metric that a function of Docent writes.
func (s *stack) docentMetric(function, name, statistic string) awscloudwatch.IMetric {
	return metric(namespace, name, statistic, map[string]*string{"service": jsii.String(s.stackName()), "function": jsii.String(function)})
}

func (s *stack) lambda(function, name, statistic string) awscloudwatch.IMetric {
	return metric("AWS/Lambda", name, statistic, map[string]*string{"FunctionName": s.functions[function].FunctionName()})
}

func (s *stack) table(table, name string) awscloudwatch.IMetric {
	return metric("AWS/DynamoDB", name, "Sum", map[string]*string{"TableName": s.tables[table].TableName()})
}

func (s *stack) gateway(name, statistic string) awscloudwatch.IMetric {
	return metric("AWS/ApiGateway", name, statistic, map[string]*string{"ApiName": jsii.String(s.stackName()), "Stage": jsii.String(stageName)})
}

// countsRequests reports whether functions write the log lines in which Docent's metrics are.
func (s settings) countsRequests() bool { return s.logLevel == "debug" || s.logLevel == "info" }

// countRefused counts the requests of all functions whose key was refused.
func (s *stack) countRefused() {
	for _, f := range functions {
		if !f.serves() {
			continue
		}
		awslogs.NewMetricFilter(s.construct, id(f.name, refusedKeys), &awslogs.MetricFilterProps{
			LogGroup:        s.logs[f.name],
			FilterPattern:   awslogs.FilterPattern_Literal(jsii.String(`{ $.outcome = "unauthorized" }`)),
			MetricNamespace: jsii.String(namespace),
			MetricName:      jsii.String(refusedKeys),
			MetricValue:     jsii.String("1"),
			Dimensions:      &map[string]*string{"service": jsii.String("$.service")},
		})
	}
}
