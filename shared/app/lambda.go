package app

import (
	"context"
	"log/slog"
	"net/http"
	"os"
	"time"

	"docent/shared/httpapi"
	"docent/shared/llm"
	"docent/shared/source/question"
	"docent/shared/team"
)

// The constructors of functions are called once, by main, and ask AWS nothing:
// the process's log goes to standard output as JSON lines from then on. There is
// one for each, so that a function links only what it serves.

// Collections returns the handler of /v1/collections on AWS.
func Collections(c Config) http.Handler { return onAWS(c).http(httpapi.Collections) }

// Documents returns the handler of /v1/documents on AWS.
func Documents(c Config) http.Handler { return onAWS(c).http(httpapi.Documents) }

// Answers returns the handler of /v1/answers on AWS.
func Answers(c Config) http.Handler { return onAWS(c).http(httpapi.Answers) }

// Fetch reads a page of the web for data sources; package web has one.
type Fetch = func(ctx context.Context, url string) (question.Page, error)

// Tools makes the handler of the agents' protocol; package agents has one.
type Tools = func(httpapi.Services) http.Handler

// ParseSAML reads the metadata of a SAML identity provider; package saml has it.
type ParseSAML = func(text []byte) (team.SAMLProvider, error)

// Context returns the handler of /v1/context and /v1/mcp on AWS. The model writes
// what research answers; nil: it is quoted.
func Context(c Config, fetch Fetch, tools Tools, model llm.Composer) http.Handler {
	f := onAWS(c)
	f.questions.Fetch, f.tools = fetch, tools
	if model != nil {
		f.answersBy(model)
	}
	return f.http(httpapi.Context)
}

// SecurityEvents returns the handler of /v1/security-events on AWS.
func SecurityEvents(c Config) http.Handler { return onAWS(c).http(httpapi.SecurityEvents) }

// Usage returns the handler of /v1/usage on AWS.
func Usage(c Config) http.Handler { return onAWS(c).http(httpapi.Usage) }

// SCIM returns the handler of /v1/scim/v2 on AWS.
func SCIM(c Config) http.Handler { return onAWS(c).http(httpapi.SCIM) }

// Admin returns the handler of what administers a team on AWS. The vault keeps the
// secrets of data sources; nil: sources that have secrets are refused.
func Admin(c Config, v Vault, parse ParseSAML) http.Handler { return onAWS(c).administers(v, parse) }

// Answering returns the worker of the questions queue on AWS. The model writes its
// answers; nil: they are quoted.
func Answering(c Config, model llm.Composer) Batches {
	f := onAWS(c)
	if model != nil {
		f.answersBy(model)
	}
	return f.answersQuestions()
}

// Indexing returns the worker of the documents queue and of the rebuilds queue on AWS.
func Indexing(c Config) Batches { return onAWS(c).indexesDocuments() }

// Syncing returns the worker of the queue of data sources to read on AWS. The vault
// decrypts their secrets; nil: there are none.
func Syncing(c Config, connect Connect, v Vault) Batches { return onAWS(c).readsSources(connect, v) }

// Sweeping returns what is to run every minute on AWS.
func Sweeping(c Config) Schedule { return onAWS(c).sweeps() }

func onAWS(c Config) *functions {
	log := newFunctionLog(os.Stdout, c.LogLevel)
	slog.SetDefault(log) // engines have no logger of their own
	return joinOnAWS(c, log)
}

func joinOnAWS(c Config, log *slog.Logger) *functions {
	if c.Now == nil {
		c.Now = time.Now
	}
	return &functions{services: newServices(openAWS(c), log, c.Now, pausePoll), log: log, now: c.Now,
		baseURL: c.BaseURL, service: c.Service}
}
