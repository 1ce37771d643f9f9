package models

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
)

// Secret reads a parameter.
func Secret(ctx context.Context, settings aws.Config, name string) (string, error) {
	return parameter{settings, name}.secret(ctx)
}
