package app

import (
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"time"
)

// Config is what a function on AWS is told by its environment. Every function is
// told the same; which of it one may use is its policy's business.
type Config struct {
	Service        string     // DOCENT_SERVICE: names this installation in metrics; empty: "docent"
	TablePrefix    string     // DOCENT_TABLE_PREFIX: stands before the name of every table
	Bucket         string     // DOCENT_BUCKET: keeps the search segments
	BlobPrefix     string     // DOCENT_BLOB_PREFIX: stands before the key of every object; may be empty
	QuestionsQueue string     // DOCENT_QUESTIONS_QUEUE_URL
	DocumentsQueue string     // DOCENT_DOCUMENTS_QUEUE_URL
	BaseURL        string     // DOCENT_BASE_URL: of the API as clients reach it, without a slash at its end
	AWSEndpoint    string     // DOCENT_AWS_ENDPOINT: of a local stand-in for AWS; empty: AWS itself
	LogLevel       slog.Level // DOCENT_LOG_LEVEL: debug, info, warn or error; empty: info, which metrics need

	Now func() time.Time // nil: time.Now; not read from the environment
}

// ConfigFromEnv reads the configuration. It is the only reader of the
// environment but for the AWS SDK's own variables. The error names every
// variable that is missing or malformed.
func ConfigFromEnv(getenv func(string) string) (Config, error) {
	var errs []error
	required := func(name string) string {
		value := getenv(name)
		if value == "" {
			errs = append(errs, fmt.Errorf("%s is not set", name))
		}
		return value
	}
	address := func(name, value string) string {
		if u, err := url.Parse(value); value != "" && (err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "") {
			errs = append(errs, fmt.Errorf("%s is not an http or https URL", name))
		}
		return strings.TrimRight(value, "/")
	}
	c := Config{
		Service:        getenv("DOCENT_SERVICE"),
		TablePrefix:    required("DOCENT_TABLE_PREFIX"),
		Bucket:         required("DOCENT_BUCKET"),
		BlobPrefix:     getenv("DOCENT_BLOB_PREFIX"),
		QuestionsQueue: address("DOCENT_QUESTIONS_QUEUE_URL", required("DOCENT_QUESTIONS_QUEUE_URL")),
		DocumentsQueue: address("DOCENT_DOCUMENTS_QUEUE_URL", required("DOCENT_DOCUMENTS_QUEUE_URL")),
		BaseURL:        address("DOCENT_BASE_URL", required("DOCENT_BASE_URL")),
		AWSEndpoint:    address("DOCENT_AWS_ENDPOINT", getenv("DOCENT_AWS_ENDPOINT")),
	}
	if c.Service == "" {
		c.Service = "docent"
	}
	if level := getenv("DOCENT_LOG_LEVEL"); level != "" {
		if err := c.LogLevel.UnmarshalText([]byte(level)); err != nil {
			errs = append(errs, errors.New("DOCENT_LOG_LEVEL is not debug, info, warn or error"))
		}
	}
	if len(errs) > 0 {
		return Config{}, fmt.Errorf("read the configuration: %w", errors.Join(errs...))
	}
	return c, nil
}
