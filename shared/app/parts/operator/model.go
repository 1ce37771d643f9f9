package operator

import (
	"context"

	"docent/shared/app"
	"docent/shared/app/parts/models"
	"docent/shared/embed"
	"docent/shared/llm"
)

// Model returns a model of Amazon Bedrock for a program that is not a function, with the
// settings of the AWS command line, by which credentials are also renewed. The endpoint may
// be empty. It sends no request to the model. Each error is one line that says what is
// missing.
func Model(ctx context.Context, model, endpoint string) (llm.Composer, error) {
	settings, _, err := settingsOf(ctx)
	if err != nil {
		return nil, err
	}
	return models.Bedrock(settings, model, endpoint), nil
}

// Embedder is Model for an embedding model.
func Embedder(ctx context.Context, e app.Embedding) (embed.Engine, error) {
	settings, _, err := settingsOf(ctx)
	if err != nil {
		return nil, err
	}
	return models.BedrockEmbedder(settings, e)
}
