// Package dynamo keeps tables in Amazon DynamoDB. No other package knows its expressions; names
// in them are always placeholders.
//
// An expired item may stay in a table for days until DynamoDB removes it. Every
// condition therefore handles it, and reads leave it out. The engine retries, not the
// SDK: it has to know whether an attempt with a lost answer may have succeeded.
package dynamo

import (
	"context"
	"fmt"
	"time"

	"docent/shared/memory"
	"docent/shared/pause"
	"docent/shared/table"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

var _ table.Store = (*Store)(nil)

// ErrNoTable means that the table is not in this account, region or endpoint. It wraps
// ErrInvalid.
var ErrNoTable = fmt.Errorf("%w: the table does not exist in DynamoDB", table.ErrInvalid)

// defaultRetryFor is long enough for fifty callers to change the same item in turn, and well
// below the 29 seconds of a request through the gateway.
const defaultRetryFor = 8 * time.Second

// Options says which tables exist and how to use them.
type Options struct {
	Names    map[string]string // the name of each table in DynamoDB; nil: Prefix and the name, for table.Names
	Prefix   string            // used when Names is nil
	Now      func() time.Time  // decides what has expired; nil: time.Now
	RetryFor time.Duration     // total wait between the attempts of one call; 0: 8 s
}

// Store is a storage engine over one client.
type Store struct {
	client   *dynamodb.Client
	names    map[string]string
	now      func() time.Time
	retryFor time.Duration
	wait     func(context.Context, time.Duration) error
}

// New returns a store that uses client for every request. It makes none itself.
func New(client *dynamodb.Client, o Options) *Store {
	s := &Store{client: client, names: o.Names, now: o.Now, retryFor: o.RetryFor, wait: pause.For}
	if s.names == nil {
		s.names = make(map[string]string, len(table.Names))
		for _, name := range table.Names {
			s.names[name] = o.Prefix + name
		}
	}
	if s.now == nil {
		s.now = time.Now
	}
	if s.retryFor == 0 {
		s.retryFor = defaultRetryFor
	}
	return s
}

func (s *Store) checkTable(name string) error {
	if s.names[name] == "" {
		return fmt.Errorf("%w: no table %q", table.ErrInvalid, name)
	}
	return nil
}

func (s *Store) checkKey(k table.Key) error {
	if err := s.checkTable(k.Table); err != nil {
		return err
	}
	return k.Check()
}

// physical returns the name in DynamoDB of a known table.
func (s *Store) physical(name string) *string { return aws.String(s.names[name]) }

// send makes one attempt of a request and counts it. Other work of the process continues during it.
func send[I, O any](ctx context.Context, do func(context.Context, *I, ...func(*dynamodb.Options)) (*O, error), input *I) (*O, error) {
	defer memory.Pause(ctx)()
	defer table.MeterFrom(ctx).Begin()()
	return do(ctx, input, singleAttempt)
}

func singleAttempt(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} }
