// Package operator opens an installation on AWS, or a model, for an operator, with the
// settings of the AWS command line. It finds tables and queues by the outputs of the stack.
// Functions need none of it, so it is not in package app.
package operator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/feature/ec2/imds"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/smithy-go"

	"docent/shared/app"
	"docent/shared/app/parts/vault"
	"docent/shared/team"
)

// Stack is a deployed stack of Docent.
type Stack struct {
	Name    string
	Region  string
	BaseURL string // of its API
	Teams   *team.Service

	config   app.Config
	rebuilds app.Rebuilds
	outputs  map[string]string
	queues   *sqs.Client
}

// The outputs of the stack that are read here.
const (
	outBaseURL   = "BaseURL"
	outTables    = "Tables"
	outBucket    = "BucketName"
	outQuestions = "QuestionsQueueURL"
	outDocuments = "DocumentsQueueURL"
	outRebuilds  = "RebuildsQueueURL"
	outSyncs     = "SyncsQueueURL"
	outEmbed     = "EmbeddingsQueueURL"
	outExtract   = "ExtractionsQueueURL"
	outDeliver   = "DeliveriesQueueURL"
	outKey       = "KeyID"
	outDead      = "DeadLetterURL" // after Questions, Documents, Extractions, Syncs, Rebuilds, Embeddings or Deliveries
)

// settingsOf reads region and credentials as the AWS command line does, from the environment
// and its files, and AWS_ENDPOINT_URL for a local stand-in. It never asks the metadata service
// of EC2 for credentials. Each error is one line that says what is missing.
func settingsOf(ctx context.Context) (aws.Config, aws.Credentials, error) {
	settings, err := config.LoadDefaultConfig(ctx, config.WithEC2IMDSClientEnableState(imds.ClientDisabled))
	if err != nil {
		return aws.Config{}, aws.Credentials{}, fmt.Errorf("read the AWS settings: %w", oneLine(err))
	}
	if settings.Region == "" {
		return aws.Config{}, aws.Credentials{}, errors.New("no AWS region is set; set AWS_REGION")
	}
	own, err := settings.Credentials.Retrieve(ctx)
	if err != nil {
		return aws.Config{}, aws.Credentials{}, errors.New("no AWS credentials are set; set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
	}
	return settings, own, nil
}

// Open finds the stack by name, with the settings of the AWS command line. Each error
// is one line that says what is missing.
func Open(ctx context.Context, name string) (*Stack, error) {
	settings, own, err := settingsOf(ctx)
	if err != nil {
		return nil, err
	}
	renewed := settings.Credentials
	settings.Credentials = aws.NewCredentialsCache(aws.CredentialsProviderFunc(
		func(context.Context) (aws.Credentials, error) { return own, nil }))
	s := &Stack{Name: name, Region: settings.Region, queues: sqs.NewFromConfig(settings)}
	if s.outputs, err = outputs(ctx, cloudformation.NewFromConfig(settings), name, settings.Region); err != nil {
		return nil, err
	}
	s.BaseURL = s.outputs[outBaseURL]
	c := app.Config{Service: name, Bucket: s.outputs[outBucket], BaseURL: s.BaseURL,
		QuestionsQueue: s.outputs[outQuestions], DocumentsQueue: s.outputs[outDocuments], RebuildsQueue: s.outputs[outRebuilds],
		SyncsQueue: s.outputs[outSyncs], EmbeddingsQueue: s.outputs[outEmbed], DeliveriesQueue: s.outputs[outDeliver], ExtractionsQueue: s.outputs[outExtract], SecretsKey: s.outputs[outKey],
		Region: settings.Region, Credentials: app.Credentials{KeyID: own.AccessKeyID, Secret: own.SecretAccessKey, SessionToken: own.SessionToken},
		AWSEndpoint: aws.ToString(settings.BaseEndpoint)}
	if err := json.Unmarshal([]byte(s.outputs[outTables]), &c.Tables); err != nil {
		return nil, fmt.Errorf("the stack %s has no output with the names of tables: is it Docent's, and of this version?", name)
	}
	s.config = c
	s.config.Provider = renewed
	s.Teams, s.rebuilds = app.TeamsOnAWS(c, slog.New(slog.DiscardHandler)), app.RebuildsOnAWS(c, slog.New(slog.DiscardHandler))
	return s, nil
}

// Move returns the options of a move from or to the stack. It returns an error for a stack of an
// older version.
func (s *Stack) Move() (app.MoveOptions, error) {
	if s.config.SecretsKey == "" {
		return app.MoveOptions{}, fmt.Errorf("the stack %s has no output %s: is it of this version?", s.Name, outKey)
	}
	return app.MoveOptions{Config: s.config, Vault: vault.Open(s.config),
		Name: fmt.Sprintf("the stack %s in %s (bucket %s)", s.Name, s.Region, s.config.Bucket)}, nil
}

// Rebuilds starts and watches the rebuilding of search indexes. It returns an error for a
// stack of an older version, which has no worker for rebuilds.
func (s *Stack) Rebuilds() (app.Rebuilds, error) {
	if s.outputs[outRebuilds] == "" {
		return app.Rebuilds{}, fmt.Errorf("the stack %s has no output %s: is it of this version?", s.Name, outRebuilds)
	}
	return s.rebuilds, nil
}

func outputs(ctx context.Context, stacks *cloudformation.Client, name, region string) (map[string]string, error) {
	found, err := stacks.DescribeStacks(ctx, &cloudformation.DescribeStacksInput{StackName: &name})
	var refused smithy.APIError
	switch {
	case errors.As(err, &refused) && strings.Contains(refused.ErrorMessage(), "does not exist"),
		err == nil && len(found.Stacks) == 0:
		return nil, fmt.Errorf("there is no stack %s in %s; deploy it, or name another with --stack or AWS_REGION", name, region)
	case err != nil:
		return nil, fmt.Errorf("describe the stack %s: %w", name, oneLine(err))
	}
	stack := found.Stacks[0]
	switch stack.StackStatus {
	case types.StackStatusReviewInProgress, types.StackStatusCreateInProgress, types.StackStatusDeleteInProgress:
		return nil, fmt.Errorf("the stack %s is not available now: %s", name, stack.StackStatus)
	}
	out := map[string]string{}
	for _, o := range stack.Outputs {
		out[aws.ToString(o.OutputKey)] = aws.ToString(o.OutputValue)
	}
	for _, needed := range []string{outBaseURL, outTables, outBucket, outQuestions, outDocuments} {
		if out[needed] == "" {
			return nil, fmt.Errorf("the stack %s has no output %s: is it Docent's, and of this version?", name, needed)
		}
	}
	return out, nil
}

// oneLine returns err as one line, with the code and the message of AWS if it has them.
func oneLine(err error) error {
	var refused smithy.APIError
	if errors.As(err, &refused) {
		return fmt.Errorf("%s: %s", refused.ErrorCode(), refused.ErrorMessage())
	}
	return errors.New(strings.ReplaceAll(err.Error(), "\n", " "))
}
