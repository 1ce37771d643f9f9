package s3

import (
	"context"
	"fmt"
	"time"

	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
)

// linkTime is how long an address of Link is valid: the time in which a client follows a redirect.
const linkTime = time.Minute

// Link returns an address from which anyone who has it can read an object for a minute. The bucket replies with
// these headers. It sends no request, so the object need not exist.
func (s *Store) Link(ctx context.Context, name, contentType, disposition string) (string, error) {
	if err := check(ctx, name); err != nil {
		return "", err
	}
	signed, err := awss3.NewPresignClient(s.client).PresignGetObject(ctx, &awss3.GetObjectInput{Bucket: &s.bucket, Key: s.key(name),
		ResponseContentType: &contentType, ResponseContentDisposition: &disposition}, awss3.WithPresignExpires(linkTime))
	if err != nil {
		return "", fmt.Errorf("sign an address of %s: %w", name, err)
	}
	return signed.URL, nil
}
