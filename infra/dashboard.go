package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/jsii-runtime-go"

	"docent/shared/table"
)

// addDashboard adds one page that shows what there is to see, a row a question.
func (x *stack) addDashboard() {
	board := awscloudwatch.NewDashboard(x.construct, id("Dashboard"), nil)
	row := func(widgets ...awscloudwatch.IWidget) { board.AddWidgets(widgets...) }
	graph := func(title string, metrics ...awscloudwatch.IMetric) awscloudwatch.IWidget {
		return awscloudwatch.NewGraphWidget(&awscloudwatch.GraphWidgetProps{
			Title: jsii.String(title), Left: &metrics, Width: jsii.Number(8), Height: jsii.Number(6)})
	}
	serving := func(of func(function) awscloudwatch.IMetric) (all []awscloudwatch.IMetric) {
		for _, f := range functions {
			if f.serves() {
				all = append(all, of(f))
			}
		}
		return all
	}
	every := func(of func(function) awscloudwatch.IMetric) (all []awscloudwatch.IMetric) {
		for _, f := range functions {
			all = append(all, of(f))
		}
		return all
	}
	tables := func(of func(string) awscloudwatch.IMetric) (all []awscloudwatch.IMetric) {
		for _, name := range table.Names {
			all = append(all, of(name))
		}
		return all
	}
	if len(x.alarms) > 0 {
		row(awscloudwatch.NewAlarmStatusWidget(&awscloudwatch.AlarmStatusWidgetProps{
			Title: jsii.String("Alarms"), Alarms: &x.alarms, Width: jsii.Number(24), Height: jsii.Number(4)}))
	}
	row(graph("Requests by area", serving(func(f function) awscloudwatch.IMetric { return x.own(f.name, "Requests", "Sum") })...),
		graph("Gateway: answers 4xx, 5xx", x.gateway("4XXError", "Sum"), x.gateway("5XXError", "Sum")),
		graph("Function errors", every(func(f function) awscloudwatch.IMetric { return x.lambda(f.name, "Errors", "Sum") })...))
	row(graph("Latency by area, p99, ms", serving(func(f function) awscloudwatch.IMetric { return x.own(f.name, "Latency", "p99") })...),
		graph("Gateway latency, p50, p99, ms", x.gateway("Latency", "p50"), x.gateway("Latency", "p99")),
		graph("Function duration, p99, ms", every(func(f function) awscloudwatch.IMetric { return x.lambda(f.name, "Duration", "p99") })...))
	row(x.queueRow(graph)...)
	row(graph("Table units read", tables(func(n string) awscloudwatch.IMetric { return x.table(n, "ConsumedReadCapacityUnits") })...),
		graph("Table units written", tables(func(n string) awscloudwatch.IMetric { return x.table(n, "ConsumedWriteCapacityUnits") })...),
		graph("Transaction conflicts", tables(func(n string) awscloudwatch.IMetric { return x.table(n, "TransactionConflict") })...))
	row(graph("Answers", x.own("answering", "Answers", "Sum"), x.own("answering", "FailedMessages", "Sum")),
		graph("Seconds to the answer, p50, p95", x.own("answering", "AnswerTime", "p50"), x.own("answering", "AnswerTime", "p95")),
		graph("Documents' messages", x.own("indexing", "Messages", "Sum"), x.own("indexing", "FailedMessages", "Sum")))
	row(graph("Quotas spent", x.search("", "Requests", `outcome="quota-exceeded"`)),
		graph("Too large", x.search("", "Requests", `outcome="request-too-large"`)),
		graph("Refused keys", metric(namespace, refusedKeys, "Sum", map[string]*string{"service": jsii.String(x.stackName())})))
	row(graph("Invocations", every(func(f function) awscloudwatch.IMetric { return x.lambda(f.name, "Invocations", "Sum") })...),
		graph("Documents to rebuild", x.own("sweeping", "DocumentsToRebuild", "Maximum")),
		graph("Function time, ms", every(func(f function) awscloudwatch.IMetric { return x.lambda(f.name, "Duration", "Sum") })...),
		graph("Model tokens", x.own("answering", "InputTokens", "Sum"), x.own("answering", "OutputTokens", "Sum")))
}

func (x *stack) queueRow(graph func(string, ...awscloudwatch.IMetric) awscloudwatch.IWidget) []awscloudwatch.IWidget {
	of := func(c channel, name string) awscloudwatch.IMetric {
		return metric("AWS/SQS", name, "Maximum", map[string]*string{"QueueName": c.queue.QueueName()})
	}
	dead := func(c channel) awscloudwatch.IMetric {
		return metric("AWS/SQS", "ApproximateNumberOfMessagesVisible", "Maximum", map[string]*string{"QueueName": c.dead.QueueName()})
	}
	return []awscloudwatch.IWidget{
		graph("Messages waiting", of(x.questions, "ApproximateNumberOfMessagesVisible"), of(x.documents, "ApproximateNumberOfMessagesVisible"),
			of(x.syncs, "ApproximateNumberOfMessagesVisible")),
		graph("Oldest message and oldest pending work, s", of(x.questions, "ApproximateAgeOfOldestMessage"),
			of(x.documents, "ApproximateAgeOfOldestMessage"), of(x.syncs, "ApproximateAgeOfOldestMessage"), x.own("sweeping", "OldestPending", "Maximum")),
		graph("Dead letters", dead(x.questions), dead(x.documents), dead(x.syncs), dead(x.rebuilds)),
	}
}
