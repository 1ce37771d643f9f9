package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/jsii-runtime-go"
)

// namespace is of the metrics that Docent itself writes, in the lines of its log.
const namespace = "Docent"

const refusedKeys = "RefusedKeys"

func period() awscdk.Duration { return awscdk.Duration_Minutes(jsii.Number(5)) }

func metric(namespace, name, statistic string, dimensions map[string]*string) awscloudwatch.IMetric {
	return awscloudwatch.NewMetric(&awscloudwatch.MetricProps{
		Namespace: jsii.String(namespace), MetricName: jsii.String(name), Statistic: jsii.String(statistic),
		DimensionsMap: &dimensions, Period: period()})
}

// own is a metric of Docent itself, of one function.
func (x *stack) own(function, name, statistic string) awscloudwatch.IMetric {
	return metric(namespace, name, statistic, map[string]*string{"service": jsii.String(x.stackName()), "function": jsii.String(function)})
}

func (x *stack) lambda(function, name, statistic string) awscloudwatch.IMetric {
	return metric("AWS/Lambda", name, statistic, map[string]*string{"FunctionName": x.functions[function].FunctionName()})
}

func (x *stack) table(table, name string) awscloudwatch.IMetric {
	return metric("AWS/DynamoDB", name, "Sum", map[string]*string{"TableName": x.tables[table].TableName()})
}

// operation is a metric that DynamoDB keeps for each kind of request.
func (x *stack) operation(table, operation, name, statistic string) awscloudwatch.IMetric {
	return metric("AWS/DynamoDB", name, statistic, map[string]*string{"TableName": x.tables[table].TableName(), "Operation": jsii.String(operation)})
}

func (x *stack) gateway(name, statistic string) awscloudwatch.IMetric {
	return metric("AWS/ApiGateway", name, statistic, map[string]*string{"ApiName": jsii.String(x.stackName()), "Stage": jsii.String(stageName)})
}

func (x *stack) bedrock(name string) awscloudwatch.IMetric {
	return metric("AWS/Bedrock", name, "Sum", map[string]*string{"ModelId": jsii.String(x.model)})
}

// formula calculates with metrics, which are a, b, c and so on in it.
func formula(label, expression string, metrics ...awscloudwatch.IMetric) awscloudwatch.IMetric {
	using := map[string]awscloudwatch.IMetric{}
	for i, m := range metrics {
		using[string(rune('a'+i))] = m
	}
	return awscloudwatch.NewMathExpression(&awscloudwatch.MathExpressionProps{
		Label: jsii.String(label), Expression: jsii.String(expression), UsingMetrics: &using, Period: period()})
}

// search finds the metrics of a name by what stands in the log lines, whichever there are.
func (x *stack) search(label, name, where string) awscloudwatch.IMetric {
	return awscloudwatch.NewMathExpression(&awscloudwatch.MathExpressionProps{
		Label: jsii.String(label), Period: period(),
		Expression: jsii.String("SEARCH('{" + namespace + ",service,function,operation,outcome} MetricName=\"" + name +
			"\" service=\"" + x.stackName() + "\" " + where + "', 'Sum', 300)")})
}

// countRefused counts the requests whose key was refused, over all functions.
func (x *stack) countRefused() {
	for _, f := range functions {
		if !f.serves() {
			continue
		}
		awslogs.NewMetricFilter(x.construct, id(f.name, refusedKeys), &awslogs.MetricFilterProps{
			LogGroup:        x.logs[f.name],
			FilterPattern:   awslogs.FilterPattern_Literal(jsii.String(`{ $.outcome = "unauthorized" }`)),
			MetricNamespace: jsii.String(namespace),
			MetricName:      jsii.String(refusedKeys),
			MetricValue:     jsii.String("1"),
			Dimensions:      &map[string]*string{"service": jsii.String("$.service")},
		})
	}
}
