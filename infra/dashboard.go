package main

import (
	"maps"
	"slices"

	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/jsii-runtime-go"

	"docent/shared/table"
)

// addDashboards adds two pages of graphs, one row per question of an operator: requests, and work in the background with the
// tables. AWS gives an account three dashboards of at most 50 metrics each.
func (s *stack) addDashboards() {
	serving := func(f function) bool { return f.serves() }
	working := func(f function) bool { return !f.serves() }
	requests := awscloudwatch.NewDashboard(s.construct, id("Graphs"), nil)
	if len(s.alarms) > 0 {
		requests.AddWidgets(awscloudwatch.NewAlarmStatusWidget(&awscloudwatch.AlarmStatusWidgetProps{
			Title: jsii.String("Alarms"), Alarms: &s.alarms, Width: jsii.Number(24), Height: jsii.Number(4)}))
	}
	requests.AddWidgets(graph("Requests by area", s.eachFunction(serving, "Invocations", "Sum")...),
		graph("Gateway: replies 4xx, 5xx", s.gateway("4XXError", "Sum"), s.gateway("5XXError", "Sum")),
		graph("Failed calls by area", s.eachFunction(serving, "Errors", "Sum")...))
	requests.AddWidgets(graph("Time by area, p99, ms", s.eachFunction(serving, "Duration", "p99")...),
		graph("Gateway latency, p50, p99, ms", s.gateway("Latency", "p50"), s.gateway("Latency", "p99")),
		graph("Latency of requests that wait for nothing else, p99, ms", metric(namespace, "Latency", "p99", map[string]*string{"service": jsii.String(s.stackName())})))
	requests.AddWidgets(s.refusals(),
		graph("Dead letters", s.eachQueue(true, "ApproximateNumberOfMessagesVisible")...),
		graph("Refused keys", metric(namespace, refusedKeys, "Sum", map[string]*string{"service": jsii.String(s.stackName())})))
	requests.AddWidgets(graph("Answers", s.docentMetric("answering", "AnswerTime", "SampleCount")),
		graph("Seconds to the answer, p50, p95", s.docentMetric("answering", "AnswerTime", "p50"), s.docentMetric("answering", "AnswerTime", "p95")),
		graph("Model tokens", s.docentMetric("answering", "InputTokens", "Sum"), s.docentMetric("answering", "OutputTokens", "Sum")))

	work := awscloudwatch.NewDashboard(s.construct, id("Work"), nil)
	work.AddWidgets(graph("Calls of workers", s.eachFunction(working, "Invocations", "Sum")...),
		graph("Failed calls of workers", s.eachFunction(working, "Errors", "Sum")...))
	work.AddWidgets(graph("Messages waiting", s.eachQueue(false, "ApproximateNumberOfMessagesVisible")...),
		graph("Oldest pending work, s", s.docentMetric("sweeping", "OldestPending", "Maximum")),
		graph("Documents to rebuild", s.docentMetric("sweeping", "DocumentsToRebuild", "Maximum")))
	work.AddWidgets(graph("Table units read", s.eachTable("ConsumedReadCapacityUnits")...),
		graph("Table units written", s.eachTable("ConsumedWriteCapacityUnits")...),
		graph("Throttled writes", s.eachTable("WriteThrottleEvents")...))
}

// refusals shows refused requests by their codes. It reads the logs when an operator opens the dashboard; it is not a metric.
func (s *stack) refusals() awscloudwatch.IWidget {
	var logs []*string
	for _, f := range functions {
		if f.serves() {
			logs = append(logs, s.logs[f.name].LogGroupName())
		}
	}
	return awscloudwatch.NewLogQueryWidget(&awscloudwatch.LogQueryWidgetProps{
		Title: jsii.String("Refused requests"), Width: jsii.Number(8), Height: jsii.Number(6), LogGroupNames: &logs,
		QueryLanguage: awscloudwatch.LogQueryLanguage_LOGS_INSIGHTS,
		QueryLines: jsii.Strings(`filter ispresent(outcome) and outcome != "ok"`,
			"stats count(*) as requests by outcome, operation", "sort requests desc", "limit 50"),
	})
}

func graph(title string, metrics ...awscloudwatch.IMetric) awscloudwatch.IWidget {
	return awscloudwatch.NewGraphWidget(&awscloudwatch.GraphWidgetProps{
		Title: jsii.String(title), Left: &metrics, Width: jsii.Number(8), Height: jsii.Number(6)})
}

func (s *stack) eachFunction(which func(function) bool, name, statistic string) (all []awscloudwatch.IMetric) {
	for _, f := range functions {
		if which(f) {
			all = append(all, s.lambda(f.name, name, statistic))
		}
	}
	return all
}

// eachQueue returns a metric of every queue, or of every queue of dead letters.
func (s *stack) eachQueue(dead bool, name string) (all []awscloudwatch.IMetric) {
	pairs := s.queuePairs()
	for _, queue := range slices.Sorted(maps.Keys(pairs)) {
		q := pairs[queue].queue
		if dead {
			q = pairs[queue].dead
		}
		all = append(all, metric("AWS/SQS", name, "Maximum", map[string]*string{"QueueName": q.QueueName()}))
	}
	return all
}

func (s *stack) eachTable(name string) (all []awscloudwatch.IMetric) {
	for _, t := range table.Names {
		all = append(all, s.table(t, name))
	}
	return all
}
