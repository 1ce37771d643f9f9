package dynamo

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"docent/shared/table"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
)

// Bounds of the random wait between two attempts.
const (
	firstWait = 20 * time.Millisecond
	longWait  = 400 * time.Millisecond
)

// attempts counts the attempts of one call and the time waited between them.
type attempts struct {
	store  *Store
	once   bool // make no attempt after one whose answer was lost
	unsure bool // an answer was lost: the attempt may have succeeded
	count  int
	waited time.Duration
}

// fault is the class of an error, which decides about the next attempt.
type fault int

const (
	final     fault = iota
	throttled       // refused for load
	conflict        // refused for a transaction on the same item
	lost            // the attempt may have succeeded
)

// again waits and returns nil if another attempt may be made. Otherwise it returns err as an
// error of package table.
func (a *attempts) again(ctx context.Context, err error) error {
	if ctxErr := ctx.Err(); ctxErr != nil {
		return ctxErr
	}
	f := faultOf(err)
	a.unsure = a.unsure || f == lost
	switch {
	case f == final:
		return explain(err)
	case f == lost && a.once:
		return fmt.Errorf("%w: no answer from DynamoDB: %w", table.ErrUnavailable, err)
	}
	bound := min(firstWait<<min(a.count, 10), longWait)
	d := rand.N(bound) + time.Millisecond //nolint:gosec // not a secret: it spreads retries
	a.count++
	a.waited += d
	if a.waited <= a.store.retryFor {
		return a.store.wait(ctx, d)
	}
	switch {
	case a.unsure:
		return fmt.Errorf("%w: no answer from DynamoDB after %d attempts: %w", table.ErrUnavailable, a.count, err)
	case f == conflict:
		return fmt.Errorf("%w after %d attempts: %w", table.ErrConflict, a.count, err)
	default:
		return fmt.Errorf("%w after %d attempts: %w", table.ErrThrottled, a.count, err)
	}
}

var (
	throttleCodes = retry.ThrottleErrorCode{Codes: retry.DefaultThrottleErrorCodes}
	transient     = retry.IsErrorRetryables(retry.DefaultRetryables)
)

func faultOf(err error) fault {
	if cancelled := new(types.TransactionCanceledException); errors.As(err, &cancelled) {
		return faultOfTransaction(cancelled)
	}
	if running := new(types.TransactionInProgressException); errors.As(err, &running) {
		return conflict
	}
	if other := new(types.TransactionConflictException); errors.As(err, &other) {
		return conflict
	}
	if throttleCodes.IsErrorThrottle(err) == aws.TrueTernary || errors.Is(err, errUnprocessed) {
		return throttled
	}
	// An answer that cannot be read, an error of the server or of the network.
	if unread := new(smithy.DeserializationError); errors.As(err, &unread) {
		return lost
	}
	if transient.IsErrorRetryable(err) == aws.TrueTernary {
		return lost
	}
	return final
}

// faultOfTransaction checks for conflicts first, because a conflict can hide the failed
// condition of an earlier operation.
func faultOfTransaction(cancelled *types.TransactionCanceledException) fault {
	has := func(codes ...string) bool {
		return slices.ContainsFunc(cancelled.CancellationReasons, func(r types.CancellationReason) bool {
			return slices.Contains(codes, aws.ToString(r.Code))
		})
	}
	switch {
	case has("TransactionConflict"):
		return conflict
	case has("ThrottlingError", "ProvisionedThroughputExceeded"):
		return throttled
	default:
		return final
	}
}

// explain wraps err in the error of package table that matches it, if there is one.
func explain(err error) error {
	if missing := new(types.ResourceNotFoundException); errors.As(err, &missing) {
		return fmt.Errorf("%w: %w", ErrNoTable, err)
	}
	if cancelled := new(types.TransactionCanceledException); errors.As(err, &cancelled) {
		for n, reason := range cancelled.CancellationReasons {
			if aws.ToString(reason.Code) == "ValidationError" && aboutSize(aws.ToString(reason.Message)) {
				return fmt.Errorf("operation %d: %w: %w", n, table.ErrTooLarge, err)
			}
		}
	}
	if large := new(types.ItemCollectionSizeLimitExceededException); errors.As(err, &large) {
		return fmt.Errorf("%w: %w", table.ErrTooLarge, err)
	}
	var api smithy.APIError
	if errors.As(err, &api) && api.ErrorCode() == "ValidationException" && aboutSize(api.ErrorMessage()) {
		return fmt.Errorf("%w: %w", table.ErrTooLarge, err)
	}
	return fmt.Errorf("DynamoDB: %w", err)
}

// aboutSize reports whether message is about an item that an Add made too large, or about the
// total size of a transaction.
func aboutSize(message string) bool {
	message = strings.ToLower(message)
	return strings.Contains(message, "size") && strings.Contains(message, "exceeded")
}
