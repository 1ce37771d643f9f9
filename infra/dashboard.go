package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/jsii-runtime-go"

	"docent/shared/table"
)

// addDashboard adds one page of graphs, one row per question of an operator.
func (s *stack) addDashboard() {
	board := awscloudwatch.NewDashboard(s.construct, id("Graphs"), nil)
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
	if len(s.alarms) > 0 {
		row(awscloudwatch.NewAlarmStatusWidget(&awscloudwatch.AlarmStatusWidgetProps{
			Title: jsii.String("Alarms"), Alarms: &s.alarms, Width: jsii.Number(24), Height: jsii.Number(4)}))
	}
	row(graph("Requests by area", serving(func(f function) awscloudwatch.IMetric { return s.docentMetric(f.name, "Requests", "Sum") })...),
		graph("Gateway: replies 4xx, 5xx", s.gateway("4XXError", "Sum"), s.gateway("5XXError", "Sum")),
		graph("Function errors", every(func(f function) awscloudwatch.IMetric { return s.lambda(f.name, "Errors", "Sum") })...))
	row(graph("Latency by area, p99, ms", serving(func(f function) awscloudwatch.IMetric { return s.docentMetric(f.name, "Latency", "p99") })...),
		graph("Gateway latency, p50, p99, ms", s.gateway("Latency", "p50"), s.gateway("Latency", "p99")),
		graph("Function duration, p99, ms", every(func(f function) awscloudwatch.IMetric { return s.lambda(f.name, "Duration", "p99") })...))
	row(s.queueRow(graph)...)
	row(graph("Table units read", tables(func(n string) awscloudwatch.IMetric { return s.table(n, "ConsumedReadCapacityUnits") })...),
		graph("Table units written", tables(func(n string) awscloudwatch.IMetric { return s.table(n, "ConsumedWriteCapacityUnits") })...),
		graph("Transaction conflicts", tables(func(n string) awscloudwatch.IMetric { return s.table(n, "TransactionConflict") })...))
	row(graph("Answers", s.docentMetric("answering", "Answers", "Sum"), s.docentMetric("answering", "FailedMessages", "Sum")),
		graph("Seconds to the answer, p50, p95", s.docentMetric("answering", "AnswerTime", "p50"), s.docentMetric("answering", "AnswerTime", "p95")),
		graph("Documents' messages", s.docentMetric("indexing", "Messages", "Sum"), s.docentMetric("indexing", "FailedMessages", "Sum")))
	row(graph("Quotas spent", s.search("", "Requests", `outcome="quota-exceeded"`)),
		graph("Too large", s.search("", "Requests", `outcome="request-too-large"`)),
		graph("Refused keys", metric(namespace, refusedKeys, "Sum", map[string]*string{"service": jsii.String(s.stackName())})))
	row(graph("Invocations", every(func(f function) awscloudwatch.IMetric { return s.lambda(f.name, "Invocations", "Sum") })...),
		graph("Documents to rebuild", s.docentMetric("sweeping", "DocumentsToRebuild", "Maximum")),
		graph("Function time, ms", every(func(f function) awscloudwatch.IMetric { return s.lambda(f.name, "Duration", "Sum") })...),
		graph("Model tokens", s.docentMetric("answering", "InputTokens", "Sum"), s.docentMetric("answering", "OutputTokens", "Sum")))
}

func (s *stack) queueRow(graph func(string, ...awscloudwatch.IMetric) awscloudwatch.IWidget) []awscloudwatch.IWidget {
	of := func(c queuePair, name string) awscloudwatch.IMetric {
		return metric("AWS/SQS", name, "Maximum", map[string]*string{"QueueName": c.queue.QueueName()})
	}
	dead := func(c queuePair) awscloudwatch.IMetric {
		return metric("AWS/SQS", "ApproximateNumberOfMessagesVisible", "Maximum", map[string]*string{"QueueName": c.dead.QueueName()})
	}
	return []awscloudwatch.IWidget{
		graph("Messages waiting", of(s.questions, "ApproximateNumberOfMessagesVisible"), of(s.documents, "ApproximateNumberOfMessagesVisible"),
			of(s.syncs, "ApproximateNumberOfMessagesVisible"), of(s.embeddings, "ApproximateNumberOfMessagesVisible")),
		graph("Oldest message and oldest pending work, s", of(s.questions, "ApproximateAgeOfOldestMessage"),
			of(s.documents, "ApproximateAgeOfOldestMessage"), of(s.syncs, "ApproximateAgeOfOldestMessage"), s.docentMetric("sweeping", "OldestPending", "Maximum")),
		graph("Dead letters", dead(s.questions), dead(s.documents), dead(s.syncs), dead(s.rebuilds), dead(s.embeddings)),
	}
}
