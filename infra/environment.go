package main

import (
	"maps"
	"slices"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"

	"docent/shared/deployed"
)

// environment is what a function is told; app.Config says what each variable means.
func (x *stack) environment(function string) *map[string]*string {
	var names []*string
	for _, name := range slices.Sorted(maps.Keys(x.tables)) {
		names = append(names, jsii.String(name+"="+*x.tables[name].TableName()))
	}
	values := map[string]*string{
		deployed.Service:        jsii.String(x.stackName()),
		deployed.Tables:         awscdk.Fn_Join(jsii.String(","), &names),
		deployed.Bucket:         x.bucket.BucketName(),
		deployed.QuestionsQueue: x.questions.queue.QueueUrl(),
		deployed.DocumentsQueue: x.documents.queue.QueueUrl(),
		deployed.SyncsQueue:     x.syncs.queue.QueueUrl(),
		deployed.RebuildsQueue:  x.rebuilds.queue.QueueUrl(),
		deployed.BaseURL:        x.baseURL(),
		deployed.SecretsKey:     x.key.KeyArn(),
		deployed.LogLevel:       jsii.String(x.logLevel),
	}
	for name, value := range map[string]string{deployed.ModelProvider: x.provider, deployed.Model: x.model,
		deployed.ModelURL: x.modelURL, deployed.ModelKey: x.modelKey} {
		if value != "" {
			values[name] = jsii.String(value)
		}
	}
	for _, v := range deployed.Environment {
		if !v.ReadBy(function) {
			delete(values, v.Name)
		}
	}
	return &values
}
