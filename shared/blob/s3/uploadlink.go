package s3

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
)

// UploadLink returns an address to which anyone who has it can send one object for a while, by PUT with the headers.
// Size, media type and, unless it is nil, the SHA-256 of the object are signed. The bucket refuses everything else, and
// a second object. It sends no request.
func (s *Store) UploadLink(ctx context.Context, name, contentType string, size int64, digest []byte, valid time.Duration) (address string, headers map[string]string, err error) {
	if err := check(ctx, name); err != nil {
		return "", nil, err
	}
	in := &awss3.PutObjectInput{Bucket: &s.bucket, Key: s.key(name), ContentType: &contentType, ContentLength: &size, IfNoneMatch: aws.String("*")}
	if digest != nil {
		in.ChecksumSHA256 = aws.String(base64.StdEncoding.EncodeToString(digest))
	}
	client := awss3.NewPresignClient(s.client, awss3.WithPresignExpires(valid), func(o *awss3.PresignOptions) {
		o.Presigner = v4.NewSigner(func(o *v4.SignerOptions) { o.DisableHeaderHoisting, o.DisableURIPathEscaping = true, true })
		o.ClientOptions = append(o.ClientOptions, func(o *awss3.Options) { o.RequestChecksumCalculation = aws.RequestChecksumCalculationWhenRequired })
	})
	signed, err := client.PresignPutObject(ctx, in)
	if err != nil {
		return "", nil, fmt.Errorf("sign an address for %s: %w", name, err)
	}
	headers = map[string]string{}
	for key, values := range signed.SignedHeader {
		// Every client sends the host and the size automatically, and browsers let no page set them.
		if key = http.CanonicalHeaderKey(key); key != "Host" && key != "Content-Length" {
			headers[key] = values[0]
		}
	}
	return signed.URL, headers, nil
}
