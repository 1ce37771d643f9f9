package s3_test

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"docent/shared/blob"
	"docent/shared/blob/blobtest"
	"docent/shared/blob/s3"
	"docent/shared/table"
	"docent/testkit/moto"

	"github.com/aws/aws-sdk-go-v2/aws"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

func connect(endpoint string) *awss3.Client {
	return awss3.NewFromConfig(moto.Config(endpoint), func(o *awss3.Options) { o.UsePathStyle = true })
}

func newBucket(t *testing.T, client *awss3.Client) string {
	t.Helper()
	bucket := "b-" + strings.ToLower(rand.Text())
	if _, err := client.CreateBucket(t.Context(), &awss3.CreateBucketInput{Bucket: &bucket}); err != nil {
		t.Fatal(err)
	}
	return bucket
}

// serve calls before and then answers with gofakes3, unless before returns true because it has
// answered itself.
func serve(t *testing.T, before func(w http.ResponseWriter, r *http.Request) bool) *awss3.Client {
	t.Helper()
	fake := gofakes3.New(s3mem.New()).Server()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if before == nil || !before(w, r) {
			fake.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(server.Close)
	return connect(server.URL)
}

func TestContract(t *testing.T) {
	t.Parallel()
	blobtest.Run(t, func(t *testing.T) blob.Store {
		client := serve(t, nil)
		return s3.New(client, newBucket(t, client), "objects/")
	})
}

func TestContractOnMoto(t *testing.T) {
	t.Parallel()
	endpoint := moto.OneAtATime(t, moto.Start(t))
	blobtest.Run(t, func(t *testing.T) blob.Store {
		client := connect(endpoint)
		return s3.New(client, newBucket(t, client), "")
	})
}

func answer(w http.ResponseWriter, status int, code string) {
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, "<Error><Code>%s</Code><Message>on purpose</Message></Error>", code)
}

func isPut(r *http.Request) bool {
	return r.Method == http.MethodPut && strings.Contains(r.URL.Path, "/objects/")
}

func TestPrefixesKeepStoresApart(t *testing.T) {
	t.Parallel()
	client := serve(t, nil)
	bucket := newBucket(t, client)
	one, two := s3.New(client, bucket, "objects/one/"), s3.New(client, bucket, "objects/two/")
	if err := errors.Join(one.Put(t.Context(), "a", []byte("1")), two.Put(t.Context(), "a", []byte("2"))); err != nil {
		t.Fatal(err)
	}
	// Keys of other programs in the bucket are not objects.
	for _, key := range []string{"objects/one/", "objects/one/a b", "objects/one/folder/"} {
		_, err := client.PutObject(t.Context(), &awss3.PutObjectInput{Bucket: &bucket, Key: aws.String(key)})
		if err != nil {
			t.Fatal(err)
		}
	}
	var names []string
	for info, err := range one.List(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, info.Name)
	}
	if len(names) != 1 || names[0] != "a" {
		t.Errorf("listed %q, want only a", names)
	}
}

// The client repeats a Put whose answer was lost. The object stored by the first attempt is the
// caller's own.
func TestPutAfterALostAnswer(t *testing.T) {
	t.Parallel()
	fake := gofakes3.New(s3mem.New()).Server()
	var puts atomic.Int64
	client := serve(t, func(w http.ResponseWriter, r *http.Request) bool {
		if isPut(r) && puts.Add(1) == 1 {
			fake.ServeHTTP(httptest.NewRecorder(), r)
			panic(http.ErrAbortHandler)
		}
		fake.ServeHTTP(w, r)
		return true
	})
	store := s3.New(client, newBucket(t, client), "objects/")
	if err := store.Put(t.Context(), "a", []byte("mine")); err != nil {
		t.Fatalf("Put: %v", err)
	}
	if puts.Load() != 2 {
		t.Errorf("%d requests, want the lost one and one more", puts.Load())
	}
	if err := store.Put(t.Context(), "a", []byte("mine")); !errors.Is(err, blob.ErrExists) {
		t.Errorf("a second Put: %v, want ErrExists", err)
	}
}

func TestPutWaitsOutAConcurrentWrite(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		conflicts int64
		stored    bool
	}{{1, true}, {3, true}, {1000, false}} {
		var puts atomic.Int64
		client := serve(t, func(w http.ResponseWriter, r *http.Request) bool {
			if !isPut(r) || puts.Add(1) > c.conflicts {
				return false
			}
			_, _ = io.Copy(io.Discard, r.Body)
			answer(w, http.StatusConflict, "ConditionalRequestConflict")
			return true
		})
		store := s3.New(client, newBucket(t, client), "objects/")
		err := store.Put(t.Context(), "a", []byte("x"))
		if (err == nil) != c.stored || errors.Is(err, blob.ErrExists) {
			t.Errorf("after %d conflicts: %v, want stored %v", c.conflicts, err, c.stored)
		}
	}
}

func TestFailuresAreReported(t *testing.T) {
	t.Parallel()
	client := serve(t, func(w http.ResponseWriter, r *http.Request) bool {
		switch {
		case r.URL.Query().Has("delete"):
			w.Header().Set("Content-Type", "application/xml")
			_, _ = io.WriteString(w, `<DeleteResult><Error><Key>objects/b</Key><Code>AccessDenied</Code><Message>no</Message></Error>
				<Error><Key>objects/c</Key><Code>NoSuchKey</Code></Error></DeleteResult>`)
		case r.URL.Path != "/bucket/objects/a":
			answer(w, http.StatusForbidden, "AccessDenied")
		case r.Header.Get("Range") != "":
			_, _ = io.WriteString(w, "the whole object") // 200: a server without support for ranges
		default:
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, "cut short")
		}
		return true
	})
	store := s3.New(client, "bucket", "objects/")
	if _, err := store.Get(t.Context(), "a"); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("Get of an answer cut short: %v", err)
	}
	if data, err := store.GetRange(t.Context(), "a", 2, 3); err == nil || errors.Is(err, blob.ErrInvalid) {
		t.Errorf("GetRange from a server without ranges: %q, %v", data, err)
	}
	if err := store.Delete(t.Context(), "a", "b", "c"); err == nil || !strings.Contains(err.Error(), "b: AccessDenied") || strings.Contains(err.Error(), "NoSuchKey") {
		t.Errorf("Delete of which one failed: %v", err)
	}
	for what, err := range map[string]error{
		"Put":      store.Put(t.Context(), "b", nil),
		"Get":      errOf(store.Get(t.Context(), "b")),
		"GetRange": errOf(store.GetRange(t.Context(), "b", 0, 1)),
	} {
		if err == nil || errors.Is(err, blob.ErrNotFound) || errors.Is(err, blob.ErrExists) || errors.Is(err, blob.ErrInvalid) {
			t.Errorf("%s without permission: %v", what, err)
		}
	}
	for info, err := range store.List(t.Context(), "") {
		if err == nil {
			t.Errorf("List without permission: %v", info)
		}
	}
}

func errOf(_ []byte, err error) error { return err }

// TestTroubleOfS3Passes checks that callers can tell what S3 refuses for a while from what it refuses.
func TestTroubleOfS3Passes(t *testing.T) {
	t.Parallel()
	for code, passes := range map[string]bool{"SlowDown": true, "InternalError": true, "cut": true, "AccessDenied": false} {
		client := serve(t, func(w http.ResponseWriter, r *http.Request) bool {
			_, _ = io.Copy(io.Discard, r.Body)
			switch code {
			case "cut":
				panic(http.ErrAbortHandler)
			case "SlowDown":
				answer(w, http.StatusServiceUnavailable, code)
			case "InternalError":
				answer(w, http.StatusInternalServerError, code)
			default:
				answer(w, http.StatusForbidden, code)
			}
			return true
		})
		client = awss3.New(client.Options(), func(o *awss3.Options) { o.Retryer = aws.NopRetryer{} })
		store := s3.New(client, "bucket", "objects/")
		for what, err := range map[string]error{"Put": store.Put(t.Context(), "a", nil), "Get": errOf(store.Get(t.Context(), "a"))} {
			if err == nil || errors.Is(err, table.ErrUnavailable) != passes {
				t.Errorf("%s: %s: %v, passes: %t", code, what, err, passes)
			}
		}
	}
}
