package main

import (
	"context"
	"fmt"
	"log/slog"
	"path"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"docent/shared/app"
	"docent/shared/deployed"
	"docent/shared/queue"
	"docent/shared/table/dynamo"
	"docent/shared/team"
	"docent/testkit/moto"
)

// usual is the trouble of AWS between two faults.
var usual = moto.Trouble{Refused: 0.05, Cut: 0.02, Late: 0.1, Delay: 50 * time.Millisecond}

// installationName is the bucket, and begins the names of tables and queues.
const installationName = "chaos"

// hidden is how long a message that was delivered stays hidden, in seconds: a server that is killed delays its messages that long.
const hidden = "10"

// cloud is a stand-in for AWS that can be made to fail, and the installation in it.
type cloud struct {
	unsteady *moto.Unsteady
	config   aws.Config
	queues   map[string]string // addresses, by the variables of deployed
}

// newCloud starts the stand-in, without failures, and makes the tables, the bucket and the queues.
func newCloud(ctx context.Context) (*cloud, error) {
	endpoint, err := moto.Run()
	if err != nil {
		return nil, err
	}
	c := &cloud{queues: map[string]string{}}
	if c.unsteady, err = moto.NewUnsteady(ctx, endpoint); err != nil {
		return nil, err
	}
	c.config = moto.Config(c.unsteady.URL)
	if err := dynamo.New(dynamodb.NewFromConfig(c.config), dynamo.Options{Prefix: installationName + "-"}).CreateTables(ctx); err != nil {
		return nil, fmt.Errorf("make the tables: %w", err)
	}
	objects := s3.NewFromConfig(c.config, func(o *s3.Options) { o.UsePathStyle = true })
	if _, err := objects.CreateBucket(ctx, &s3.CreateBucketInput{Bucket: aws.String(installationName)}); err != nil {
		return nil, fmt.Errorf("make the bucket: %w", err)
	}
	messages := sqs.NewFromConfig(c.config)
	dead, err := messages.CreateQueue(ctx, &sqs.CreateQueueInput{QueueName: aws.String(installationName + "-dead")})
	if err != nil {
		return nil, fmt.Errorf("make the queue of dead letters: %w", err)
	}
	attributes := map[string]string{"VisibilityTimeout": hidden, "RedrivePolicy": fmt.Sprintf(`{"deadLetterTargetArn":"arn:aws:sqs:%s:123456789012:%s","maxReceiveCount":"%d"}`,
		c.config.Region, path.Base(*dead.QueueUrl), queue.MaxReceives)}
	for variable, name := range map[string]string{deployed.QuestionsQueue: "questions", deployed.DocumentsQueue: "documents", deployed.SyncsQueue: "syncs", deployed.RebuildsQueue: "rebuilds",
		deployed.EmbeddingsQueue: "embeddings", deployed.DeliveriesQueue: "deliveries", deployed.ExtractionsQueue: "extractions"} {
		made, err := messages.CreateQueue(ctx, &sqs.CreateQueueInput{QueueName: aws.String(installationName + "-" + name), Attributes: attributes})
		if err != nil {
			return nil, fmt.Errorf("make the queue %s: %w", name, err)
		}
		c.queues[variable] = *made.QueueUrl
	}
	return c, nil
}

// environment returns the variables by which a server finds the installation.
func (c *cloud) environment() []string {
	variables := []string{"AWS_ENDPOINT_URL=" + c.unsteady.URL, deployed.Region + "=" + c.config.Region, deployed.KeyID + "=test", deployed.Secret + "=test",
		deployed.TablePrefix + "=" + installationName + "-", deployed.Bucket + "=" + installationName, deployed.SecretsKey + "=none"}
	for variable, address := range c.queues {
		variables = append(variables, variable+"="+address)
	}
	return variables
}

// newTeam makes a team and returns a key of it.
func (c *cloud) newTeam(ctx context.Context) (key string, err error) {
	teams := app.TeamsOnAWS(app.Config{TablePrefix: installationName + "-", Bucket: installationName, AWSEndpoint: c.unsteady.URL, Region: c.config.Region,
		Credentials: app.Credentials{KeyID: "test", Secret: "test"}, Now: time.Now}, slog.New(slog.DiscardHandler))
	made, _, err := teams.CreateTeam(ctx, "Chaos", "ada")
	if err != nil {
		return "", err
	}
	_, key, err = teams.CreateKey(ctx, made.ID, team.NewKey{Kind: team.KindTeam, Name: "chaos"})
	return key, err
}
