package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"docent/shared/access"
	"docent/shared/app/parts/agents"
	"docent/shared/httpapi"
	"docent/shared/lambdahttp"
	"docent/shared/pending"
	"docent/shared/queue"
	"docent/shared/source"
)

// PausePoll is the pause of a long poll on Lambda.
var PausePoll = pausePoll

// Functions returns all functions on the engines of one machine, by name, as the Lambda runtime
// calls them. Each may do with tables, objects, queues and the key what the stack allows it. They write their log to w.
func (l *Local) Functions(w io.Writer, baseURL string) map[string]lambda.Handler {
	log := newFunctionLog(w, slog.LevelInfo)
	b, p := l.base, l.parts
	b.log, b.wait, b.onFinished = log, pausePoll, nil
	p.Connect = connectOneIssue
	allowed, err := grants()
	if err != nil {
		panic(err)
	}
	all := map[string]lambda.Handler{}
	for _, name := range functionNames() {
		b.engines, p.Vault = allowed[name].engines(l.engines), grantedVault{l.parts.Vault, allowed[name]}
		all[name] = (&functions{services: newServices(b, p), baseURL: baseURL, service: "docent-test"}).named(name)
	}
	return all
}

// FunctionsOnAWS returns all functions on AWS.
func FunctionsOnAWS(c Config, w io.Writer) map[string]lambda.Handler {
	return joinOnAWS(c, Parts{Tools: agents.Tools, Connect: connectOneIssue}, newFunctionLog(w, slog.LevelInfo)).all()
}

// Handles returns a queue's function with the handler h.
func Handles(h queue.Handler) Batches {
	return (&functions{services: &services{base: base{log: slog.New(slog.DiscardHandler), now: time.Now}}}).batches("test", h)
}

func (f *functions) all() map[string]lambda.Handler {
	all := map[string]lambda.Handler{}
	for _, name := range functionNames() {
		all[name] = f.named(name)
	}
	return all
}

// workers are the functions that are called by a queue or a schedule.
var workers = map[string]func(*functions) lambda.Handler{
	"answering":  func(f *functions) lambda.Handler { return lambda.NewHandler(f.answersQuestions()) },
	"indexing":   func(f *functions) lambda.Handler { return lambda.NewHandler(f.indexesDocuments()) },
	"sweeping":   func(f *functions) lambda.Handler { return lambda.NewHandler(f.sweeps()) },
	"embedding":  func(f *functions) lambda.Handler { return lambda.NewHandler(f.embedsDocuments()) },
	"extracting": func(f *functions) lambda.Handler { return lambda.NewHandler(f.extractsFiles()) },
	"delivering": func(f *functions) lambda.Handler { return lambda.NewHandler(f.delivers()) },
	"syncing":    func(f *functions) lambda.Handler { return lambda.NewHandler(f.readsSources()) },
}

func functionNames() []string {
	all := slices.Sorted(maps.Keys(workers))
	for _, area := range httpapi.Areas() {
		all = append(all, area.Name)
	}
	return all
}

func (f *functions) named(name string) lambda.Handler {
	if worker, ok := workers[name]; ok {
		return worker(f)
	}
	for _, area := range httpapi.Areas() {
		if area.Name == name {
			return lambda.NewHandler((&lambdahttp.Function{Handler: f.http(area), Log: f.log}).Handle)
		}
	}
	panic("there is no function " + name)
}

func connectOneIssue(func() time.Time) map[source.ProviderName]source.Connection {
	return map[source.ProviderName]source.Connection{"github": {Connector: oneIssue{}, SyncEvery: time.Hour, FullScanEvery: time.Hour}}
}

// oneIssue is a connector of a provider that has one issue, which only some people read.
type oneIssue struct{}

func (oneIssue) Parts(source.Settings) []string { return []string{"issues"} }

func (oneIssue) Read(context.Context, source.Access, string, []byte) iter.Seq2[source.SyncPage, error] {
	return func(yield func(source.SyncPage, error) bool) {
		yield(source.SyncPage{Items: []source.Item{{URI: "https://github.test/acme/api/issues/7", Title: "Flicker", Body: "The lamp flickers.",
			SourceType: "issue", State: "open", Access: &access.Names{Users: []string{"grace@acme.test"}, Groups: []string{"operators"}}}}, Last: true, Exact: true, Checkpoint: []byte("end")}, nil)
	}
}

func (oneIssue) PartContains(source.Settings, string, string) bool { return true }

func (oneIssue) IsDeleted(context.Context, source.Access, string, string) (bool, error) {
	return false, nil
}

// Waiting takes the waiting messages of questions and documents and returns their bodies. A
// message whose work is not pending is an error: it would be lost with the process.
func (l *Local) Waiting(ctx context.Context) ([]string, error) {
	return l.waiting(ctx, l.questionQueue, l.documentQueue)
}

// WaitingSyncs is Waiting for data sources.
func (l *Local) WaitingSyncs(ctx context.Context) ([]string, error) {
	return l.waiting(ctx, l.syncQueue)
}

// WaitingEmbeddings is Waiting for documents that wait for vectors.
func (l *Local) WaitingEmbeddings(ctx context.Context) ([]string, error) {
	return l.waiting(ctx, l.embedQueue)
}

// WaitingFiles is Waiting for files whose text is to be read.
func (l *Local) WaitingFiles(ctx context.Context) ([]string, error) {
	return l.waiting(ctx, l.extractQueue)
}

// WaitingDeliveries is Waiting for webhook endpoints.
func (l *Local) WaitingDeliveries(ctx context.Context) ([]string, error) {
	return l.waiting(ctx, l.hookQueue)
}

func (l *Local) waiting(ctx context.Context, queues ...queue.Queue) ([]string, error) {
	bodies, err := waiting(ctx, queues...)
	for _, body := range bodies {
		work, bad := pending.Decode([]byte(body))
		if bad == nil {
			_, bad = l.store.Get(ctx, work.Key())
		}
		if bad != nil {
			err = errors.Join(err, fmt.Errorf("the work of the message %s is not pending: %w", body, bad))
		}
	}
	return bodies, err
}

func waiting(ctx context.Context, queues ...queue.Queue) ([]string, error) {
	var bodies []string
	for _, q := range queues {
		for {
			batch, err := q.Receive(ctx, queue.MaxBatch, 0)
			if err != nil {
				return nil, fmt.Errorf("receive: %w", err)
			}
			if len(batch) == 0 {
				break
			}
			for _, m := range batch {
				bodies = append(bodies, string(m.Body))
			}
		}
	}
	return bodies, nil
}

// Spared is what stores the objects of Local.
type Spared = spared

// Without is s while the table refuses Writes with err.
func (s spared) Without(err error) Spared {
	return spared{s.Store, func(context.Context) error { return err }}
}

// ListedFaults returns what a backup lists that lacks n objects.
func ListedFaults(n int) []string {
	var b backupWriter
	for i := range n {
		b.fault("object %d is missing", i)
	}
	return b.faults
}
