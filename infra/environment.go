package main

import (
	"maps"
	"slices"
	"strconv"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"

	"docent/shared/deployed"
)

// environment returns the variables of a function; app.Config says what each means.
func (s *stack) environment(function string) *map[string]*string {
	var names []*string
	for _, name := range slices.Sorted(maps.Keys(s.tables)) {
		names = append(names, jsii.String(name+"="+*s.tables[name].TableName()))
	}
	values := map[string]*string{
		deployed.Service:          jsii.String(s.stackName()),
		deployed.Tables:           awscdk.Fn_Join(jsii.String(","), &names),
		deployed.Bucket:           s.bucket.BucketName(),
		deployed.QuestionsQueue:   s.questions.queue.QueueUrl(),
		deployed.DocumentsQueue:   s.documents.queue.QueueUrl(),
		deployed.SyncsQueue:       s.syncs.queue.QueueUrl(),
		deployed.RebuildsQueue:    s.rebuilds.queue.QueueUrl(),
		deployed.DeliveriesQueue:  s.deliveries.queue.QueueUrl(),
		deployed.EmbeddingsQueue:  s.embeddings.queue.QueueUrl(),
		deployed.ExtractionsQueue: s.extractions.queue.QueueUrl(),
		deployed.BaseURL:          s.baseURL(),
		deployed.SecretsKey:       s.key.KeyArn(),
		deployed.LogLevel:         jsii.String(s.logLevel),
		deployed.TeamRate:         jsii.String(strconv.Itoa(s.teamRate)),
		deployed.Transfer:         jsii.String(s.transfer()),
	}
	for name, value := range map[string]string{deployed.ModelProvider: s.provider, deployed.Model: s.model,
		deployed.ModelURL: s.modelURL, deployed.ModelKey: s.modelKey,
		deployed.EmbeddingProvider: s.embedding.provider, deployed.EmbeddingModel: s.embedding.model, deployed.EmbeddingURL: s.embedding.url,
		deployed.EmbeddingSize: s.embedding.size, deployed.EmbeddingKey: s.embedding.key} {
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
