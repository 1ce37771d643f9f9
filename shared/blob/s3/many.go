package s3

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"docent/shared/blob"
	"docent/shared/memory"
	"docent/shared/table"

	"github.com/aws/aws-sdk-go-v2/aws"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
)

// maxDeletes is the limit of one DeleteObjects.
const maxDeletes = 1000

// List yields the objects whose names start with prefix; see blob.Store. It skips keys that
// are not names of objects, such as the folder marks of other programs.
func (s *Store) List(ctx context.Context, prefix string) iter.Seq2[blob.Info, error] {
	return s.ListAfter(ctx, prefix, "")
}

// ListAfter is List of the names after the name after; see blob.Store.
func (s *Store) ListAfter(ctx context.Context, prefix, after string) iter.Seq2[blob.Info, error] {
	return func(yield func(blob.Info, error) bool) {
		if err := blob.CheckPrefix(prefix); err != nil {
			yield(blob.Info{}, err)
			return
		}
		in := &awss3.ListObjectsV2Input{Bucket: &s.bucket, Prefix: s.key(prefix)}
		if after != "" {
			in.StartAfter = s.key(after)
		}
		pages := awss3.NewListObjectsV2Paginator(s.client, in)
		for pages.HasMorePages() {
			page, err := s.page(ctx, pages)
			if err != nil {
				yield(blob.Info{}, fmt.Errorf("list objects: %w", err))
				return
			}
			for _, object := range page.Contents {
				name := strings.TrimPrefix(aws.ToString(object.Key), s.prefix)
				if blob.CheckName(name) != nil {
					continue
				}
				info := blob.Info{Name: name, Size: aws.ToInt64(object.Size), Modified: aws.ToTime(object.LastModified).UTC()}
				if !yield(info, nil) {
					return
				}
			}
		}
	}
}

func (s *Store) page(ctx context.Context, pages *awss3.ListObjectsV2Paginator) (*awss3.ListObjectsV2Output, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	defer memory.Pause(ctx)()
	defer table.MeterFrom(ctx).Begin()()
	return pages.NextPage(ctx)
}

// Delete removes objects; see blob.Store.
func (s *Store) Delete(ctx context.Context, names ...string) error {
	if err := check(ctx, names...); err != nil {
		return err
	}
	for some := range slices.Chunk(names, maxDeletes) {
		if err := s.delete(ctx, some); err != nil {
			return fmt.Errorf("delete objects: %w", err)
		}
	}
	return nil
}

func (s *Store) delete(ctx context.Context, names []string) error {
	objects := make([]types.ObjectIdentifier, len(names))
	for i, name := range names {
		objects[i].Key = s.key(name)
	}
	defer memory.Pause(ctx)()
	defer table.MeterFrom(ctx).Begin()()
	out, err := s.client.DeleteObjects(ctx, &awss3.DeleteObjectsInput{
		Bucket: &s.bucket,
		Delete: &types.Delete{Objects: objects, Quiet: aws.Bool(true)},
	})
	if err != nil {
		return err
	}
	var failures []error
	for _, e := range out.Errors {
		if aws.ToString(e.Code) != "NoSuchKey" {
			failures = append(failures, fmt.Errorf("%s: %s: %s", aws.ToString(e.Key), aws.ToString(e.Code), aws.ToString(e.Message)))
		}
	}
	return errors.Join(failures...)
}
