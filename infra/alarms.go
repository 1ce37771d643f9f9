package main

import (
	"fmt"
	"maps"
	"slices"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatchactions"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssns"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssnssubscriptions"
	"github.com/aws/jsii-runtime-go"

	"docent/shared/table"
)

// addAlarms adds the alarms and, if an address is given, the topic that sends them. README.md says what each means
// and what to do. AWS charges for each metric that an alarm watches, and five times as much for a composite alarm. So
// an alarm is left out if another one covers the same: a failed or late call of the API is a reply of the gateway, a
// throttled table is first slow and then an error, and a worker that fails leaves its messages waiting.
//
// Percentiles are evaluated however few samples there are, which is CloudWatch's default: otherwise p99 counts from 1,000 requests in a
// period on, so an installation with few would never be told that it is slow.
func (s *stack) addAlarms() {
	s.countRefused()
	s.addTopics()
	s.alarmAPI()
	for _, f := range functions {
		if !f.serves() && !ageIsWatched(f) {
			s.alarm(*id(f.name)+"Errors", "A call of the function "+f.name+" has failed.", s.lambda(f.name, "Errors", "Sum"), 0)
		}
	}
	// Of the account, because its limit of concurrency throttles.
	s.alarm("Throttles", "A function of the account is throttled.", metric("AWS/Lambda", "Throttles", "Sum", nil), 0)
	s.alarmQueues()
	// Every audited write of a team updates the item of the feed's number line.
	s.alarm("EventConflicts", fmt.Sprintf("More than %d of the feed's transactions in 5 minutes conflict with another one.", eventConflicts),
		s.table(table.Events, "TransactionConflict"), eventConflicts)
	s.alarm("AnswerTime", "1 in 20 questions waits longer than a minute for its answer.", s.docentMetric("answering", "AnswerTime", "p95"), 60)
	if s.model != "" { // Bedrock's own metrics do not count a refused call as a call
		s.alarm("ModelErrors", "More than 5 % of the model's calls fail.", s.docentMetric("answering", "ModelFailures", "Average"), 0.05)
	}
	if s.embedsElsewhere() {
		s.alarmEmbedding()
	}
}

// alarmEmbedding adds the alarm of an embedding model elsewhere, without which search goes by words alone. An outage of up to ten minutes
// has at most three failed periods. Sweeping sends a document again 1, 2, 4 … minutes after the last time, so a single one that waits
// makes the fourth after half an hour. Without calls the state stays: that nobody asks does not mean that the model answers.
func (s *stack) alarmEmbedding() {
	s.newAlarm("EmbeddingFailures", "For some time, most calls of the embedding model have failed.",
		metric(namespace, "EmbeddingFailures", "Average", map[string]*string{"service": jsii.String(s.stackName())}), 0.5,
		periods{of: 12, failed: jsii.Number(4), missing: awscloudwatch.TreatMissingData_IGNORE})
}

func (s *stack) alarmAPI() {
	s.alarm("ServerErrors", "More than 1 % of the API's replies are 5xx.", s.gateway("5XXError", "Average"), 0.01)
	// Of an area with few requests, all may fail and be less than 1 %.
	s.alarm("FailedRequests", fmt.Sprintf("More than %d replies in 5 minutes are 5xx.", failedRequests), s.gateway("5XXError", "Sum"), failedRequests)
	s.alarm("Latency", "1 in 100 requests takes longer than 2 s.",
		metric(namespace, "Latency", "p99", map[string]*string{"service": jsii.String(s.stackName())}), 2000)
	s.alarm("Refused", fmt.Sprintf("More than %d requests in 5 minutes had a key that is refused.", s.refusedKeys),
		metric(namespace, refusedKeys, "Sum", map[string]*string{"service": jsii.String(s.stackName())}), float64(s.refusedKeys))
}

// That many within 5 minutes raise an alarm.
const (
	failedRequests = 20
	eventConflicts = 3000
)

// oldest is how long a message of a queue may wait, in seconds. Messages of the other queues may wait for any time.
var oldest = map[string]float64{questions: 120, documents: 600, syncs: 3600, deliveries: 1200, extractions: 1800}

// ageIsWatched reports whether an alarm rings when the worker does not work: all its messages have a limit of age. It
// does not for the worker of syncs, whose limit is an hour.
func ageIsWatched(f function) bool {
	for _, queue := range f.takes {
		if oldest[queue] == 0 && queue != rebuilds || oldest[queue] >= 3600 {
			return false
		}
	}
	return len(f.takes) > 0
}

func (s *stack) alarmQueues() {
	queued := func(c queuePair, letters bool, name string) awscloudwatch.IMetric {
		q := c.queue
		if letters {
			q = c.dead
		}
		return metric("AWS/SQS", name, "Maximum", map[string]*string{"QueueName": q.QueueName()})
	}
	pairs := s.queuePairs()
	for _, name := range slices.Sorted(maps.Keys(pairs)) {
		title := *id(name)
		if oldest[name] > 0 {
			s.alarm(title+"Age", fmt.Sprintf("A message of the queue %s is older than %.0f s.", title, oldest[name]),
				queued(pairs[name], false, "ApproximateAgeOfOldestMessage"), oldest[name])
		}
		s.alarm(title+"DeadLetters", "The queue "+title+" has a dead letter.", queued(pairs[name], true, "ApproximateNumberOfMessagesVisible"), 0)
	}
	const about = "Work other than syncs and rebuilds has been pending for more than 5 minutes, or sweeping does not run."
	if pending := s.docentMetric("sweeping", "OldestPending", "Maximum"); s.countsRequests() {
		s.alarmMissing("Pending", about, pending, 300)
	} else { // it would ring for ever
		s.alarm("Pending", about, pending, 300)
	}
}

// periods are how many of the last periods of 5 minutes must fail before an alarm rings, and what periods without data are.
type periods struct {
	of      float64
	failed  *float64 // nil: all of them
	missing awscloudwatch.TreatMissingData
}

// alarm adds an alarm for a metric that is above a value for 5 minutes.
func (s *stack) alarm(name, about string, of awscloudwatch.IMetric, above float64) {
	s.newAlarm(name, about, of, above, periods{1, nil, awscloudwatch.TreatMissingData_NOT_BREACHING})
}

// alarmMissing adds an alarm for a metric that is above a value, or absent, for 10 minutes.
func (s *stack) alarmMissing(name, about string, of awscloudwatch.IMetric, above float64) {
	s.newAlarm(name, about, of, above, periods{2, nil, awscloudwatch.TreatMissingData_BREACHING})
}

func (s *stack) newAlarm(name, about string, of awscloudwatch.IMetric, above float64, during periods) {
	a := awscloudwatch.NewAlarm(s.construct, id("Alarm", name), &awscloudwatch.AlarmProps{
		AlarmDescription:   jsii.String(about + " See infra/README.md, alarms, " + name + "."),
		Metric:             of,
		Threshold:          jsii.Number(above),
		ComparisonOperator: awscloudwatch.ComparisonOperator_GREATER_THAN_THRESHOLD,
		EvaluationPeriods:  jsii.Number(during.of),
		DatapointsToAlarm:  during.failed,
		TreatMissingData:   during.missing,
	})
	s.alarms = append(s.alarms, a)
	if slices.Contains(rollsBack, name) {
		s.rollback = append(s.rollback, a)
	}
	for _, topic := range s.topics {
		a.AddAlarmAction(awscloudwatchactions.NewSnsAction(topic))
		a.AddOkAction(awscloudwatchactions.NewSnsAction(topic))
	}
}

// addTopics adds the topic that sends mail to the address that is given, and takes the operator's own, whose policy is not ours.
func (s *stack) addTopics() {
	if s.alarmsEmail != "" {
		s.topics = append(s.topics, s.newTopic())
	}
	if s.alarmsTopic != "" {
		s.topics = append(s.topics, awssns.Topic_FromTopicArn(s.construct, id("AlarmsTopic"), jsii.String(s.alarmsTopic)))
	}
}

func (s *stack) newTopic() awssns.ITopic {
	topic := awssns.NewTopic(s.construct, id("Alarms"), &awssns.TopicProps{EnforceSSL: jsii.Bool(true)})
	topic.AddSubscription(awssnssubscriptions.NewEmailSubscription(jsii.String(s.alarmsEmail), nil))
	topic.AddToResourcePolicy(awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
		Principals: &[]awsiam.IPrincipal{awsiam.NewServicePrincipal(jsii.String("cloudwatch.amazonaws.com"), nil)},
		Actions:    jsii.Strings("sns:Publish"), Resources: &[]*string{topic.TopicArn()},
		Conditions: &map[string]any{"StringEquals": map[string]any{"aws:SourceAccount": awscdk.Aws_ACCOUNT_ID()}},
	}))
	return topic
}
