package s3_test

import (
	"crypto/sha256"
	"encoding/base64"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"

	"docent/shared/blob/s3"
)

func TestALinkIsSignedForAMinute(t *testing.T) {
	t.Parallel()
	client := awss3.New(awss3.Options{Region: "eu-central-1", Credentials: credentials.NewStaticCredentialsProvider("key", "secret", "token"),
		UsePathStyle: true, BaseEndpoint: aws.String("https://s3.test")})
	store := s3.New(client, "bucket", "v1/")
	link, err := store.Link(t.Context(), http.MethodGet, "originals/a", "application/pdf", `attachment; filename="a.pdf"`)
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(link)
	if err != nil || u.Host != "s3.test" || u.Path != "/bucket/v1/originals/a" {
		t.Errorf("%s, %v", link, err)
	}
	for name, want := range map[string]string{"X-Amz-Expires": "60", "response-content-type": "application/pdf", "response-content-disposition": `attachment; filename="a.pdf"`} {
		if got := u.Query().Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if u.Query().Get("X-Amz-Signature") == "" {
		t.Errorf("not signed: %s", link)
	}
	if _, err := store.Link(t.Context(), http.MethodGet, "../a", "", ""); err == nil {
		t.Error("a name outside of the store is signed")
	}
}

func TestAnUploadLinkSignsWhatMayBeSent(t *testing.T) {
	t.Parallel()
	client := awss3.New(awss3.Options{Region: "eu-central-1", Credentials: credentials.NewStaticCredentialsProvider("key", "secret", "token"),
		UsePathStyle: true, BaseEndpoint: aws.String("https://s3.test")})
	store := s3.New(client, "bucket", "v1/")
	digest := sha256.Sum256([]byte("the file"))
	for _, c := range []struct {
		digest  []byte
		signed  string
		headers map[string]string
	}{
		{nil, "content-length;content-type;host;if-none-match", map[string]string{"Content-Type": "application/pdf", "If-None-Match": "*"}},
		{digest[:], "content-length;content-type;host;if-none-match;x-amz-checksum-sha256", map[string]string{"Content-Type": "application/pdf",
			"If-None-Match": "*", "X-Amz-Checksum-Sha256": base64.StdEncoding.EncodeToString(digest[:])}},
	} {
		link, headers, err := store.UploadLink(t.Context(), "originals/a", "application/pdf", 8, c.digest, 15*time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		u, err := url.Parse(link)
		if err != nil || u.Host != "s3.test" || u.Path != "/bucket/v1/originals/a" {
			t.Errorf("%s, %v", link, err)
		}
		query := u.Query()
		if query.Get("X-Amz-SignedHeaders") != c.signed || query.Get("X-Amz-Expires") != "900" || query.Get("X-Amz-Signature") == "" {
			t.Errorf("signed %q: %s", query.Get("X-Amz-SignedHeaders"), link)
		}
		for name := range query {
			if strings.Contains(strings.ToLower(name), "checksum") {
				t.Errorf("%s is not compared with what is sent", name)
			}
		}
		if !maps.Equal(headers, c.headers) {
			t.Errorf("headers %v", headers)
		}
	}
	if _, _, err := store.UploadLink(t.Context(), "../a", "", 1, nil, time.Minute); err == nil {
		t.Error("a name outside of the store is signed")
	}
}
