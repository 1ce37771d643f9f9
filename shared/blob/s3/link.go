package s3

import (
	"context"
	"fmt"
	"net/http"
	"time"

	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
)

// linkTime is how long an address of Link is valid: the time in which a client follows a redirect.
const linkTime = time.Minute

// Link returns an address from which anyone who has it can read an object for a minute, by method: a signature is for GET or for
// HEAD. The bucket replies with these headers. It sends no request, so the object need not exist.
func (s *Store) Link(ctx context.Context, method, name, contentType, disposition string) (string, error) {
	if err := check(ctx, name); err != nil {
		return "", err
	}
	client, bucket, key := awss3.NewPresignClient(s.client, awss3.WithPresignExpires(linkTime)), &s.bucket, s.key(name)
	var signed *v4.PresignedHTTPRequest
	var err error
	if method == http.MethodHead {
		signed, err = client.PresignHeadObject(ctx, &awss3.HeadObjectInput{Bucket: bucket, Key: key,
			ResponseContentType: &contentType, ResponseContentDisposition: &disposition})
	} else {
		signed, err = client.PresignGetObject(ctx, &awss3.GetObjectInput{Bucket: bucket, Key: key,
			ResponseContentType: &contentType, ResponseContentDisposition: &disposition})
	}
	if err != nil {
		return "", fmt.Errorf("sign an address of %s: %w", name, err)
	}
	return signed.URL, nil
}
