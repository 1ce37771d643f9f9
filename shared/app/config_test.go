package app_test

import (
	"log/slog"
	"reflect"
	"strings"
	"testing"

	"docent/shared/app"
)

// environment holds a value for every variable.
var environment = map[string]string{
	"DOCENT_SERVICE":             "docent-beta",
	"DOCENT_TABLE_PREFIX":        "beta-",
	"DOCENT_BUCKET":              "segments",
	"DOCENT_BLOB_PREFIX":         "v1/",
	"DOCENT_QUESTIONS_QUEUE_URL": "https://sqs.test/1/questions",
	"DOCENT_DOCUMENTS_QUEUE_URL": "https://sqs.test/1/documents",
	"DOCENT_BASE_URL":            "https://docent.test/v1/",
	"DOCENT_AWS_ENDPOINT":        "http://127.0.0.1:4566/",
	"DOCENT_LOG_LEVEL":           "debug",
}

func TestEveryFieldArrives(t *testing.T) {
	t.Parallel()
	read := map[string]bool{}
	c, err := app.ConfigFromEnv(func(name string) string {
		read[name] = true
		return environment[name]
	})
	if err != nil {
		t.Fatal(err)
	}
	want := app.Config{Service: "docent-beta", TablePrefix: "beta-", Bucket: "segments", BlobPrefix: "v1/",
		QuestionsQueue: "https://sqs.test/1/questions", DocumentsQueue: "https://sqs.test/1/documents",
		BaseURL: "https://docent.test/v1", AWSEndpoint: "http://127.0.0.1:4566", LogLevel: slog.LevelDebug}
	if !reflect.DeepEqual(c, want) {
		t.Errorf("%+v, want %+v", c, want)
	}
	fields := reflect.ValueOf(c)
	for i := range fields.NumField() {
		if name := fields.Type().Field(i).Name; name != "Now" && fields.Field(i).IsZero() {
			t.Errorf("%s is set by no variable of this test", name)
		}
	}
	if len(read) != len(environment) {
		t.Errorf("read %v, of which this test sets %d", read, len(environment))
	}
}

func TestOptionalFieldsHaveDefaults(t *testing.T) {
	t.Parallel()
	optional := []string{"DOCENT_SERVICE", "DOCENT_BLOB_PREFIX", "DOCENT_AWS_ENDPOINT", "DOCENT_LOG_LEVEL"}
	c, err := app.ConfigFromEnv(func(name string) string {
		for _, o := range optional {
			if o == name {
				return ""
			}
		}
		return environment[name]
	})
	if err != nil || c.Service != "docent" || c.BlobPrefix != "" || c.AWSEndpoint != "" || c.LogLevel != slog.LevelInfo {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestAllFaultsAreReportedTogether(t *testing.T) {
	t.Parallel()
	_, err := app.ConfigFromEnv(func(name string) string {
		return map[string]string{"DOCENT_TABLE_PREFIX": "x", "DOCENT_BASE_URL": "docent.test", "DOCENT_LOG_LEVEL": "loud",
			"DOCENT_AWS_ENDPOINT": "ftp://x"}[name]
	})
	if err == nil {
		t.Fatal("accepted")
	}
	for _, want := range []string{"DOCENT_BUCKET is not set", "DOCENT_QUESTIONS_QUEUE_URL is not set", "DOCENT_DOCUMENTS_QUEUE_URL is not set",
		"DOCENT_BASE_URL is not an http", "DOCENT_AWS_ENDPOINT is not an http", "DOCENT_LOG_LEVEL is not debug"} {
		if strings.Count(err.Error(), want) != 1 {
			t.Errorf("%q is not in: %v", want, err)
		}
	}
	if strings.Contains(err.Error(), "TABLE_PREFIX") {
		t.Errorf("names what is set: %v", err)
	}
}
