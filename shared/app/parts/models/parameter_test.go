package models_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"docent/shared/app"
	"docent/shared/app/parts/models"
)

// doer answers requests itself.
type doer func(*http.Request) (*http.Response, error)

func (d doer) Do(r *http.Request) (*http.Response, error) { return d(r) }

func replyOf(status int, body string) *http.Response {
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}
}

const secret = `{"Parameter":{"Name":"/key","Type":"SecureString","Value":"s3cret"}}`

func TestAParameterIsReadAgainWhereThatMayHelp(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		status int // of the first reply; 0: no connection
		body   string
		asked  int
		want   string // of the error; empty: the second reply is used
	}{
		{"fine", 200, secret, 1, ""},
		{"no connection", 0, "", 2, ""},
		{"throttled", 400, `{"__type":"com.amazonaws.ssm#ThrottlingException","message":"Rate exceeded"}`, 2, ""},
		{"broken", 500, `<html>`, 2, ""},
		{"missing", 400, `{"__type":"ParameterNotFound"}`, 1, "ParameterNotFound"},
		{"not allowed", 400, `{"__type":"AccessDeniedException","Message":"arn:aws:sts::1"}`, 1, "AccessDeniedException"},
		{"not encrypted", 200, `{"Parameter":{"Type":"String","Value":"s3cret"}}`, 1, "is not a SecureString"},
		{"nothing", 200, `{}`, 1, "is not a SecureString"},
		{"no JSON", 200, `s3cret`, 1, "cannot be read"},
		{"endless", 200, `{"Parameter":{"Type":"SecureString","Value":"` + strings.Repeat("s3cret", 100_000), 1, "cannot be read"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				settings := app.AWSConfig(app.Config{Region: "eu-central-1", Credentials: app.Credentials{KeyID: "AKID", Secret: "mine"}})
				asked := 0
				settings.HTTPClient = doer(func(r *http.Request) (*http.Response, error) {
					asked++
					body, err := io.ReadAll(r.Body)
					if err != nil || string(body) != `{"Name":"/key","WithDecryption":true}` || r.Header.Get("X-Amz-Target") != "AmazonSSM.GetParameter" ||
						!strings.Contains(r.Header.Get("Authorization"), "/eu-central-1/ssm/aws4_request") {
						t.Errorf("%v, %s, %v", r.Header, body, err)
					}
					switch {
					case asked > 1:
						return replyOf(200, secret), nil
					case c.status == 0:
						return nil, errors.New("connection refused")
					}
					return replyOf(c.status, c.body), nil
				})
				value, err := models.Secret(t.Context(), settings, "/key")
				if asked != c.asked || (err == nil) != (c.want == "") || err == nil && value != "s3cret" {
					t.Errorf("asked %d times, %q, %v", asked, value, err)
				}
				if err != nil && (!strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "s3cret")) {
					t.Errorf("error %v, want %q", err, c.want)
				}
			})
		})
	}
}

func TestParameterStoreOfEveryPartition(t *testing.T) {
	t.Parallel()
	for region, want := range map[string]string{
		"eu-central-1":   "https://ssm.eu-central-1.amazonaws.com",
		"us-east-1":      "https://ssm.us-east-1.amazonaws.com",
		"us-gov-west-1":  "https://ssm.us-gov-west-1.amazonaws.com",
		"cn-north-1":     "https://ssm.cn-north-1.amazonaws.com.cn",
		"eusc-de-east-1": "https://ssm.eusc-de-east-1.amazonaws.eu",
	} {
		t.Run(region, func(t *testing.T) {
			t.Parallel()
			settings := app.AWSConfig(app.Config{Region: region, Credentials: app.Credentials{KeyID: "AKID", Secret: "mine"}})
			settings.HTTPClient = doer(func(r *http.Request) (*http.Response, error) {
				if got := r.URL.String(); got != want {
					t.Errorf("asked %s, want %s", got, want)
				}
				return replyOf(200, secret), nil
			})
			if _, err := models.Secret(t.Context(), settings, "/key"); err != nil {
				t.Error(err)
			}
		})
	}
}
