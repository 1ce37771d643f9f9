package operator

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"

	"docent/shared/app"
	"docent/shared/deployed"
)

// DefaultStack is the name of the stack unless another is given.
const DefaultStack = "docent"

// Standing returns the configuration of a standing process on AWS, and where the data is, for
// people. It is that of the variables of the functions if the environment names a bucket, else
// that of the stack. Credentials are renewed, and may be those of a container or a virtual
// machine.
func Standing(ctx context.Context, stack string, getenv func(string) string) (c app.Config, where string, err error) {
	settings, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return c, "", fmt.Errorf("read the AWS settings: %w", oneLine(err))
	}
	if settings.Region == "" {
		return c, "", errors.New("no AWS region is set; set AWS_REGION")
	}
	own, err := settings.Credentials.Retrieve(ctx)
	if err != nil {
		return c, "", errors.New("no AWS credentials are found; give the container or the machine a role, or set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
	}
	if getenv(deployed.Bucket) != "" && stack == "" {
		c, err = app.ConfigFromEnv(func(name string) string {
			switch name {
			case deployed.Region:
				return settings.Region
			case deployed.KeyID:
				return own.AccessKeyID
			case deployed.Secret:
				return own.SecretAccessKey
			case deployed.SessionToken:
				return own.SessionToken
			case deployed.BaseURL:
				return "https://unused.invalid" // of the functions; --base-url gives that of the process
			case deployed.AWSEndpoint:
				return aws.ToString(settings.BaseEndpoint)
			}
			return getenv(name)
		})
		where = fmt.Sprintf("the bucket %s and its tables in %s", c.Bucket, c.Region)
	} else {
		var s *Stack
		if s, err = Open(ctx, cmp.Or(stack, DefaultStack)); err != nil {
			return c, "", err
		}
		c, where = s.config, fmt.Sprintf("the stack %s in %s", s.Name, s.Region)
		if c.SyncsQueue == "" || c.ExtractionsQueue == "" || c.DeliveriesQueue == "" || c.SecretsKey == "" {
			return c, "", fmt.Errorf("the stack %s lacks outputs: is it of this version?", s.Name)
		}
	}
	c.Provider = settings.Credentials
	return c, where, err
}
