package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/aws/aws-sdk-go-v2/service/lambda"
)

// keptForAPI is how many functions at a time should be left for requests when all workers are busy.
const keptForAPI = 20

// workersOf returns how many functions at a time the workers of the assembly may use.
func workersOf(assembly string) (int, error) {
	text, err := os.ReadFile(filepath.Join(assembly, constructID+".template.json"))
	if err != nil {
		return 0, fmt.Errorf("there is no template in %s: run make synth", assembly)
	}
	var template struct {
		Resources map[string]struct {
			Properties struct {
				ScalingConfig struct{ MaximumConcurrency int }
			}
		}
	}
	if err := json.Unmarshal(text, &template); err != nil {
		return 0, fmt.Errorf("read the template in %s: %w", assembly, err)
	}
	sum := 0
	for _, r := range template.Resources {
		sum += r.Properties.ScalingConfig.MaximumConcurrency
	}
	return sum, nil
}

// warnOfConcurrency says so if the account may run too few functions at a time, as a new account does: busy workers would leave none for
// requests. It is not an error, because the stack works until then.
func (a *account) warnOfConcurrency(ctx context.Context, assembly string, out io.Writer) error {
	workers, err := workersOf(assembly)
	if err != nil {
		return err
	}
	there, err := a.functions.GetAccountSettings(ctx, &lambda.GetAccountSettingsInput{})
	if err != nil || there.AccountLimit == nil || there.AccountLimit.UnreservedConcurrentExecutions == nil {
		fmt.Fprintf(out, "How many functions the account may run at a time is not known: the credentials may not call lambda:GetAccountSettings. "+
			"The workers may use %d.\n", workers)
		return nil //nolint:nilerr // nothing else needs it
	}
	// What other functions of the account have reserved is not for these.
	if limit := int(*there.AccountLimit.UnreservedConcurrentExecutions); limit < workers+keptForAPI {
		fmt.Fprintf(out, "The account may run %d functions at a time, and the workers alone may use %d: while they are busy, requests fail. "+
			"Raise it to %d or more: Service Quotas, AWS Lambda, Concurrent executions.\n", limit, workers, workers+keptForAPI)
	}
	return nil
}
