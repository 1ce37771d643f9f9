package app

import (
	"log/slog"
	"net/http"
	"os"
	"time"

	"docent/shared/httpapi"
)

// Each function has its own constructor, so that it links only what it serves. Its main calls
// the constructor once. The constructor sends no request to AWS; after it, the process logs
// JSON lines to standard output.

// Collections returns the handler of /v1/collections on AWS.
func Collections(c Config) http.Handler { return onAWS(c, Parts{}).http(httpapi.Collections) }

// Documents returns the handler of /v1/documents and /v1/uploads on AWS.
func Documents(c Config) http.Handler { return onAWS(c, Parts{}).http(httpapi.Documents) }

// Answers returns the handler of answers, chat and responses on AWS, with the parts Model and Embedder,
// because it answers questions itself whose answers are streamed.
func Answers(c Config, p Parts) http.Handler { return onAWS(c, p).http(httpapi.Answers) }

// Context returns the handler of /v1/context and /v1/mcp on AWS, with the parts Fetch,
// Tools, Model and Embedder.
func Context(c Config, p Parts) http.Handler { return onAWS(c, p).http(httpapi.Context) }

// SecurityEvents returns the handler of /v1/security-events on AWS.
func SecurityEvents(c Config) http.Handler { return onAWS(c, Parts{}).http(httpapi.SecurityEvents) }

// Usage returns the handler of /v1/usage on AWS.
func Usage(c Config) http.Handler { return onAWS(c, Parts{}).http(httpapi.Usage) }

// SCIM returns the handler of /v1/scim/v2 on AWS.
func SCIM(c Config) http.Handler { return onAWS(c, Parts{}).http(httpapi.SCIM) }

// Admin returns the handler of the administration of a team on AWS, with the parts Probe,
// Vault, ParseSAML and FetchSAML.
func Admin(c Config, p Parts) http.Handler { return onAWS(c, p).http(httpapi.Admin) }

// Dashboard returns the handler of the dashboard's pages, of signing in and of the access of agents on
// AWS, with the parts Pages, SignOn, Clients and Vault.
func Dashboard(c Config, p Parts) http.Handler {
	return withPages(p.Pages, onAWS(c, p).http(httpapi.Dashboard))
}

// Answering returns the worker of the questions queue on AWS, with the parts Model and Embedder.
func Answering(c Config, p Parts) Batches { return onAWS(c, p).answersQuestions() }

// Indexing returns the worker of the documents queue and of the rebuilds queue on AWS.
func Indexing(c Config) Batches { return onAWS(c, Parts{}).indexesDocuments() }

// EmbeddingDocuments returns the worker of the queue of embeddings on AWS, with the part Embedder.
func EmbeddingDocuments(c Config, p Parts) Batches { return onAWS(c, p).embedsDocuments() }

// Extracting returns the worker of the queue of files on AWS, with the part Extract.
func Extracting(c Config, p Parts) Batches { return onAWS(c, p).extractsFiles() }

// Syncing returns the worker of the queue of data sources on AWS, with the parts
// Connect and Vault.
func Syncing(c Config, p Parts) Batches { return onAWS(c, p).readsSources() }

// Delivering returns the worker of the queue of deliveries on AWS, with the parts Post and Vault.
func Delivering(c Config, p Parts) Batches { return onAWS(c, p).delivers() }

// Sweeping returns the work of every minute on AWS.
func Sweeping(c Config) Schedule { return onAWS(c, Parts{}).sweeps() }

func onAWS(c Config, p Parts) *functions {
	log := newFunctionLog(os.Stdout, c.LogLevel)
	slog.SetDefault(log) // engines have no logger of their own
	boundMemory(c.Memory)
	return joinOnAWS(c, p, log)
}

func joinOnAWS(c Config, p Parts, log *slog.Logger) *functions {
	if c.Now == nil {
		c.Now = time.Now
	}
	p.Vectors, p.TeamRate = c.Embedding.Vectors(), c.TeamRate
	var calls *embeddingCalls
	p.Embedder, calls = c.Embedding.watch(p.Embedder)
	b := base{engines: openAWS(c), log: log, now: c.Now, wait: pausePoll}
	b.sharedRates = b.engines.table
	f := &functions{services: newServices(b, p), baseURL: c.BaseURL, service: c.Service, embedding: calls}
	f.services.indexing.Parallel = indexParallel
	f.index.CacheBytes = int64(c.Memory) << 20 / segmentCacheShare
	f.sweeper.Parallel, f.index.Parallel, f.daily.parallel, f.daily.pages = sweepParallel, sweepParallel, sweepParallel, sweepPages
	return f
}
