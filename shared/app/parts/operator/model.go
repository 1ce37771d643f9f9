package operator

import (
	"context"

	"docent/shared/app/parts/models"
	"docent/shared/llm"
)

// Model returns a model of Amazon Bedrock for a program that is not a function, with the
// settings of the AWS command line: its credentials are renewed as long as these tell
// how. The endpoint may be empty. Each error is one line that says what is missing; the
// model itself is not asked.
func Model(ctx context.Context, model, endpoint string) (llm.Composer, error) {
	settings, _, err := settingsOf(ctx)
	if err != nil {
		return nil, err
	}
	return models.Bedrock(settings, model, endpoint), nil
}
