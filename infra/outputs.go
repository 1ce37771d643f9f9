package main

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"
)

// addOutputs adds the outputs that the command line reads.
func (s *stack) addOutputs() {
	retained := "true"
	if s.destroy {
		retained = "false"
	}
	for _, o := range []struct{ name, about, value string }{
		{"BaseURL", "Of the API, with the version.", *s.baseURL()},
		{"DashboardURL", "Of the dashboard; docent open --aws signs in.", *s.baseURL() + "/dashboard/"},
		{"Tables", "The names of the tables, as JSON.", s.tableNames()},
		{"BucketName", "Of the search segments.", *s.bucket.BucketName()},
		{"QuestionsQueueURL", "Questions to be answered.", *s.questions.queue.QueueUrl()},
		{"QuestionsDeadLetterURL", "Questions that could not be answered.", *s.questions.dead.QueueUrl()},
		{"DocumentsQueueURL", "Documents to be indexed.", *s.documents.queue.QueueUrl()},
		{"DocumentsDeadLetterURL", "Documents that could not be indexed.", *s.documents.dead.QueueUrl()},
		{"SyncsQueueURL", "Data sources to be synced.", *s.syncs.queue.QueueUrl()},
		{"SyncsDeadLetterURL", "Data sources that could not be synced because of an internal error.", *s.syncs.dead.QueueUrl()},
		{"RebuildsQueueURL", "Parts of the index to be rebuilt.", *s.rebuilds.queue.QueueUrl()},
		{"RebuildsDeadLetterURL", "Parts of the index that could not be rebuilt.", *s.rebuilds.dead.QueueUrl()},
		{"EmbeddingsQueueURL", "Documents and parts of the index that wait for vectors.", *s.embeddings.queue.QueueUrl()},
		{"EmbeddingsDeadLetterURL", "Documents and parts of the index whose vectors could not be made.", *s.embeddings.dead.QueueUrl()},
		{"DeliveriesQueueURL", "Notices for webhook endpoints.", *s.deliveries.queue.QueueUrl()},
		{"ExtractionsQueueURL", "Files whose text is to be read.", *s.extractions.queue.QueueUrl()},
		{"ExtractionsDeadLetterURL", "Files whose text could not be read because of an internal error.", *s.extractions.dead.QueueUrl()},
		{"DeliveriesDeadLetterURL", "Notices for webhook endpoints that failed because of an internal error.", *s.deliveries.dead.QueueUrl()},
		{"KeyID", "Of the key that encrypts the secrets of data sources.", *s.key.KeyId()},
		{"AlarmsTold", "The address and the topic to which alarms are sent, or nobody.", s.told()},
		{"Settings", "The values with which the stack was deployed, as JSON; the next deployment keeps them.", s.chosenJSON()},
		{"DataRetained", "Whether data stays when the stack is deleted.", retained},
	} {
		s.output(o.name, o.about, o.value)
	}
}

// nobody is the output AlarmsTold of a stack whose alarms only show in AWS. The deployment then says so.
const nobody = "nobody"

// told returns the address and the topic to which alarms are sent, or nobody.
func (s settings) told() string {
	to := slices.DeleteFunc([]string{s.alarmsEmail, s.alarmsTopic}, func(s string) bool { return s == "" })
	if !s.withAlarms || len(to) == 0 {
		return nobody
	}
	return strings.Join(to, ", ")
}

// chosenJSON returns the values of -c that are remembered, as JSON.
func (s settings) chosenJSON() string {
	text, err := json.Marshal(s.chosen)
	if err != nil {
		panic(err) // texts always encode
	}
	return string(text)
}

func (s *stack) output(name, about, value string) {
	awscdk.NewCfnOutput(s.construct, jsii.String(name), &awscdk.CfnOutputProps{
		Description: jsii.String(about), Value: jsii.String(value)})
}

// tableNames returns a JSON object from the names in shared/table to those in DynamoDB.
func (s *stack) tableNames() string {
	var members []string
	for _, name := range slices.Sorted(maps.Keys(s.tables)) {
		ours, err := json.Marshal(name)
		if err != nil {
			panic(err) // a string always encodes
		}
		members = append(members, string(ours)+`:"`+*s.tables[name].TableName()+`"`)
	}
	return "{" + strings.Join(members, ",") + "}"
}
