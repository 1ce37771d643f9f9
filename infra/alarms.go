package main

import (
	"fmt"

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
// and what to do.
func (s *stack) addAlarms() {
	s.countRefused()
	s.topic = s.newTopic()
	s.alarmAPI()
	for _, f := range functions {
		s.alarmFunction(f)
	}
	s.alarmQueues()
	for _, name := range table.Names {
		s.alarm("Throttled"+name, "Requests to the table "+name+" are throttled.",
			formula("throttled", "a+b", s.table(name, "ReadThrottleEvents"), s.table(name, "WriteThrottleEvents")), 0)
	}
	// Every audited write of a team updates the item of the feed's number line.
	s.alarm("EventConflicts", "More than 5 % of the feed's transactions conflict with another one.",
		formula("conflicts", "IF(b>20, 100*a/b, 0)", s.table(table.Events, "TransactionConflict"),
			s.operation(table.Events, "TransactWriteItems", "SuccessfulRequestLatency", "SampleCount")), 5)
	s.alarm("AnswerTime", "1 in 20 questions waits longer than a minute for its answer.", s.docentMetric("answering", "AnswerTime", "p95"), 60)
	switch s.provider {
	case openai:
		s.alarm("ModelErrors", "More than 5 % of the model's calls fail.", s.docentMetric("answering", "ModelFailures", "Average"), 0.05)
	case bedrock:
		s.alarm("ModelErrors", "More than 5 % of the model's calls fail.",
			formula("errors", "IF(d>0, 100*(a+b+c)/d, 0)", s.bedrock("InvocationServerErrors"), s.bedrock("InvocationThrottles"),
				s.bedrock("InvocationClientErrors"), s.bedrock("Invocations")), 5)
	}
}

func (s *stack) alarmAPI() {
	s.alarm("ServerErrors", "More than 1 % of the API's replies are 5xx.", s.gateway("5XXError", "Average"), 0.01)
	// Answers are excluded: a client may ask to wait for up to 20 seconds.
	var latencies []awscloudwatch.IMetric
	for _, f := range functions {
		if f.serves() && f.name != "answers" {
			latencies = append(latencies, s.docentMetric(f.name, "Latency", "p99"))
		}
	}
	s.alarm("Latency", "In one area, 1 in 100 requests takes longer than 2 s.", formula("p99, ms", "MAX(METRICS())", latencies...), 2000)
	s.alarm("Refused", fmt.Sprintf("More than %d requests in 5 minutes had a key that is refused.", s.refusedKeys),
		metric(namespace, refusedKeys, "Sum", map[string]*string{"service": jsii.String(s.stackName())}), float64(s.refusedKeys))
}

func (s *stack) alarmFunction(f function) {
	name := *id(f.name)
	errors, throttles := s.lambda(f.name, "Errors", "Sum"), s.lambda(f.name, "Throttles", "Sum")
	if f.serves() {
		s.alarm(name+"Errors", "More than 1 % of the calls of the function "+f.name+" fail.",
			formula("errors", "IF(b>0, 100*a/b, 0)", errors, s.lambda(f.name, "Invocations", "Sum")), 1)
	} else {
		s.alarm(name+"Errors", "A call of the function "+f.name+" has failed.", errors, 0)
	}
	s.alarm(name+"Throttles", "The function "+f.name+" is throttled.", throttles, 0)
	const part = 800 // milliseconds of each second that it has
	s.alarm(name+"Duration", "The function "+f.name+" is close to its timeout.", s.lambda(f.name, "Duration", "p99"), float64(part*f.timeout))
}

func (s *stack) alarmQueues() {
	queued := func(c queuePair, letters bool, name string) awscloudwatch.IMetric {
		q := c.queue
		if letters {
			q = c.dead
		}
		return metric("AWS/SQS", name, "Maximum", map[string]*string{"QueueName": q.QueueName()})
	}
	for _, c := range []struct {
		name   string
		pair   queuePair
		oldest float64 // seconds; 0: messages may wait for any time
	}{{"Questions", s.questions, 120}, {"Documents", s.documents, 600}, {"Syncs", s.syncs, 3600}, {"Rebuilds", s.rebuilds, 0}, {"Embeddings", s.embeddings, 0}} {
		if c.oldest > 0 {
			s.alarm(c.name+"Age", fmt.Sprintf("A message of the queue %s is older than %.0f s.", c.name, c.oldest),
				queued(c.pair, false, "ApproximateAgeOfOldestMessage"), c.oldest)
		}
		s.alarm(c.name+"DeadLetters", "The queue "+c.name+" has a dead letter.", queued(c.pair, true, "ApproximateNumberOfMessagesVisible"), 0)
	}
	s.alarmMissing("Pending", "Work other than syncs and rebuilds has been pending for more than 5 minutes, or sweeping does not run.", s.docentMetric("sweeping", "OldestPending", "Maximum"), 300)
}

// alarm adds an alarm for a metric that is above a value for 5 minutes.
func (s *stack) alarm(name, about string, of awscloudwatch.IMetric, above float64) {
	s.newAlarm(name, about, of, above, 1, awscloudwatch.TreatMissingData_NOT_BREACHING)
}

// alarmMissing adds an alarm for a metric that is above a value, or absent, for 10 minutes.
func (s *stack) alarmMissing(name, about string, of awscloudwatch.IMetric, above float64) {
	s.newAlarm(name, about, of, above, 2, awscloudwatch.TreatMissingData_BREACHING)
}

func (s *stack) newAlarm(name, about string, of awscloudwatch.IMetric, above, periods float64, missing awscloudwatch.TreatMissingData) {
	a := awscloudwatch.NewAlarm(s.construct, id("Alarm", name), &awscloudwatch.AlarmProps{
		AlarmDescription:   jsii.String(about + " See infra/README.md, alarms, " + name + "."),
		Metric:             of,
		Threshold:          jsii.Number(above),
		ComparisonOperator: awscloudwatch.ComparisonOperator_GREATER_THAN_THRESHOLD,
		EvaluationPeriods:  jsii.Number(periods),
		TreatMissingData:   missing,
	})
	s.alarms = append(s.alarms, a)
	if s.topic != nil {
		a.AddAlarmAction(awscloudwatchactions.NewSnsAction(s.topic))
		a.AddOkAction(awscloudwatchactions.NewSnsAction(s.topic))
	}
}

// newTopic adds the topic of the alarms. It returns nil if no address is given.
func (s *stack) newTopic() awssns.ITopic {
	if s.alarmsEmail == "" {
		return nil
	}
	topic := awssns.NewTopic(s.construct, id("Alarms"), &awssns.TopicProps{EnforceSSL: jsii.Bool(true)})
	topic.AddSubscription(awssnssubscriptions.NewEmailSubscription(jsii.String(s.alarmsEmail), nil))
	for _, service := range []string{"cloudwatch.amazonaws.com", "budgets.amazonaws.com"} {
		topic.AddToResourcePolicy(awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
			Principals: &[]awsiam.IPrincipal{awsiam.NewServicePrincipal(jsii.String(service), nil)},
			Actions:    jsii.Strings("sns:Publish"), Resources: &[]*string{topic.TopicArn()},
			Conditions: &map[string]any{"StringEquals": map[string]any{"aws:SourceAccount": awscdk.Aws_ACCOUNT_ID()}},
		}))
	}
	return topic
}
