// Package s3 keeps objects in a bucket of Amazon S3 or of a server that speaks
// its protocol with conditional writes.
package s3

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"math"
	mathrand "math/rand/v2"
	"strings"
	"time"

	"docent/shared/blob"
	"docent/shared/memory"
	"docent/shared/pause"
	"docent/shared/table"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"
)

// S3 returns ConditionalRequestConflict while another write of the same key is in progress.
// A repeated request shows how that write ended.
const (
	conflictTries = 6
	conflictPause = 50 * time.Millisecond // the first pause; doubles each time, and is shortened at random
)

// writerKey is the metadata under which an object keeps a random mark of the
// call that wrote it.
const writerKey = "writer"

var _ blob.Store = (*Store)(nil)

// Store keeps objects in one bucket.
type Store struct {
	client *awss3.Client
	bucket string
	prefix string
}

// New returns a Store on bucket. The key of an object is prefix and its name; prefix is empty
// or ends in "/".
func New(client *awss3.Client, bucket, prefix string) *Store {
	return &Store{client: client, bucket: bucket, prefix: prefix}
}

// Put stores data under name; see blob.Store.
func (s *Store) Put(ctx context.Context, name string, data []byte) error {
	if err := check(ctx, name); err != nil {
		return err
	}
	writer := rand.Text()
	err := s.put(ctx, name, data, writer)
	for try := 1; try < conflictTries && codeOf(err) == "ConditionalRequestConflict"; try++ {
		delay := conflictPause << (try - 1)
		delay = delay/2 + mathrand.N(delay/2) //nolint:gosec // not a secret: it spreads retries
		if err := pause.For(ctx, delay); err != nil {
			return err
		}
		err = s.put(ctx, name, data, writer)
	}
	if codeOf(err) == "PreconditionFailed" {
		if s.writtenBy(ctx, name, writer) {
			return nil
		}
		err = blob.ErrExists
	}
	if err != nil {
		return fmt.Errorf("put object %s: %w", name, explain(err))
	}
	return nil
}

func (s *Store) put(ctx context.Context, name string, data []byte, writer string) error {
	defer memory.Pause(ctx)()
	defer table.MeterFrom(ctx).Begin()()
	_, err := s.client.PutObject(ctx, &awss3.PutObjectInput{
		Bucket:      &s.bucket,
		Key:         s.key(name),
		Body:        bytes.NewReader(data),
		IfNoneMatch: aws.String("*"),
		Metadata:    map[string]string{writerKey: writer},
	})
	return err
}

// writtenBy reports whether the object that made a Put fail was written by that
// Put itself: the client repeats a request whose answer was lost.
func (s *Store) writtenBy(ctx context.Context, name, writer string) bool {
	out, err := s.head(ctx, name)
	return err == nil && out.Metadata[writerKey] == writer
}

// Get returns the whole object; see blob.Store.
func (s *Store) Get(ctx context.Context, name string) ([]byte, error) {
	if err := check(ctx, name); err != nil {
		return nil, err
	}
	defer memory.Pause(ctx)()
	defer table.MeterFrom(ctx).Begin()()
	out, err := s.client.GetObject(ctx, &awss3.GetObjectInput{Bucket: &s.bucket, Key: s.key(name)})
	if err != nil {
		return nil, readError(name, err)
	}
	return read(name, out)
}

// GetRange returns a part of the object; see blob.Store.
func (s *Store) GetRange(ctx context.Context, name string, offset, length int64) ([]byte, error) {
	if err := check(ctx, name); err != nil {
		return nil, err
	}
	if err := blob.CheckRange(offset, length, math.MaxInt64); err != nil {
		return nil, err
	}
	if length == 0 {
		return s.nothing(ctx, name, offset)
	}
	defer memory.Pause(ctx)()
	defer table.MeterFrom(ctx).Begin()()
	span := fmt.Sprintf("%d-%d", offset, offset+length-1)
	out, err := s.client.GetObject(ctx, &awss3.GetObjectInput{
		Bucket: &s.bucket, Key: s.key(name), Range: aws.String("bytes=" + span),
	})
	if err != nil {
		return nil, readError(name, err)
	}
	if err := checkAnswer(out, span); err != nil {
		_ = out.Body.Close() // unread
		return nil, readError(name, err)
	}
	return read(name, out)
}

// checkAnswer returns an error if the answer is not the range span: S3 shortens a range that
// exceeds the object instead of refusing it.
func checkAnswer(out *awss3.GetObjectOutput, span string) error {
	switch got := aws.ToString(out.ContentRange); {
	case got == "":
		return errors.New("the server answered a range with the whole object")
	case !strings.HasPrefix(got, "bytes "+span+"/"):
		return fmt.Errorf("%w: bytes %s, of which there are %s", blob.ErrInvalid, span, got)
	}
	return nil
}

// nothing reads a range of no bytes, which HTTP cannot express.
func (s *Store) nothing(ctx context.Context, name string, offset int64) ([]byte, error) {
	out, err := s.head(ctx, name)
	if err != nil {
		return nil, readError(name, err)
	}
	if err := blob.CheckRange(offset, 0, aws.ToInt64(out.ContentLength)); err != nil {
		return nil, readError(name, err)
	}
	return []byte{}, nil
}

func (s *Store) head(ctx context.Context, name string) (*awss3.HeadObjectOutput, error) {
	defer memory.Pause(ctx)()
	defer table.MeterFrom(ctx).Begin()()
	return s.client.HeadObject(ctx, &awss3.HeadObjectInput{Bucket: &s.bucket, Key: s.key(name)})
}

func (s *Store) key(name string) *string { return aws.String(s.prefix + name) }

func read(name string, out *awss3.GetObjectOutput) ([]byte, error) {
	var data bytes.Buffer
	data.Grow(int(aws.ToInt64(out.ContentLength)) + bytes.MinRead)
	_, err := io.Copy(&data, out.Body)
	if closed := out.Body.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return nil, readError(name, err)
	}
	return data.Bytes(), nil
}

func readError(name string, err error) error {
	switch codeOf(err) {
	case "NoSuchKey", "NotFound":
		err = blob.ErrNotFound
	case "InvalidRange":
		err = fmt.Errorf("%w: %w", blob.ErrInvalid, err)
	}
	return fmt.Errorf("read object %s: %w", name, explain(err))
}

// passing recognises what S3 refuses for load, its own errors and those of the network.
var passing = append(retry.IsErrorRetryables{retry.RetryableErrorCode{Codes: retry.DefaultThrottleErrorCodes}}, retry.DefaultRetryables...)

// explain wraps an error that passes, after the attempts of the client, in table.ErrUnavailable.
func explain(err error) error {
	if passing.IsErrorRetryable(err) == aws.TrueTernary {
		return fmt.Errorf("%w: %w", table.ErrUnavailable, err)
	}
	return err
}

func check(ctx context.Context, names ...string) error {
	for _, name := range names {
		if err := blob.CheckName(name); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// codeOf returns the error code of S3, empty if err is not an error of S3.
func codeOf(err error) string {
	var answer smithy.APIError
	if errors.As(err, &answer) {
		return answer.ErrorCode()
	}
	return ""
}
