package main

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"
)

// addOutputs tells the command line where everything is.
func (x *stack) addOutputs() {
	retained := "true"
	if x.destroy {
		retained = "false"
	}
	for _, o := range []struct{ name, about, value string }{
		{"BaseURL", "Of the API, with the version.", *x.baseURL()},
		{"Tables", "What each table is called, as JSON.", x.tableNames()},
		{"BucketName", "Of the search segments.", *x.bucket.BucketName()},
		{"QuestionsQueueURL", "Questions to be answered.", *x.questions.queue.QueueUrl()},
		{"QuestionsDeadLetterURL", "Questions that could not be answered.", *x.questions.dead.QueueUrl()},
		{"DocumentsQueueURL", "Documents to be indexed.", *x.documents.queue.QueueUrl()},
		{"DocumentsDeadLetterURL", "Documents that could not be indexed.", *x.documents.dead.QueueUrl()},
		{"SyncsQueueURL", "Data sources to be read.", *x.syncs.queue.QueueUrl()},
		{"SyncsDeadLetterURL", "Data sources that could not be read for a fault of the installation.", *x.syncs.dead.QueueUrl()},
		{"RebuildsQueueURL", "Parts of the index to be rebuilt.", *x.rebuilds.queue.QueueUrl()},
		{"RebuildsDeadLetterURL", "Parts of the index that could not be rebuilt.", *x.rebuilds.dead.QueueUrl()},
		{"KeyID", "Of the key that encrypts the secrets of data sources.", *x.key.KeyId()},
		{"DataRetained", "Whether data stays when the stack goes.", retained},
	} {
		x.output(o.name, o.about, o.value)
	}
}

func (x *stack) output(name, about, value string) {
	awscdk.NewCfnOutput(x.construct, jsii.String(name), &awscdk.CfnOutputProps{
		Description: jsii.String(about), Value: jsii.String(value)})
}

// tableNames is a JSON object from the names of shared/table to those in DynamoDB.
func (x *stack) tableNames() string {
	var members []string
	for _, name := range slices.Sorted(maps.Keys(x.tables)) {
		ours, err := json.Marshal(name)
		if err != nil {
			panic(err) // a string always encodes
		}
		members = append(members, string(ours)+`:"`+*x.tables[name].TableName()+`"`)
	}
	return "{" + strings.Join(members, ",") + "}"
}
