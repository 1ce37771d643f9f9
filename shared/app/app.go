// Package app joins the areas into programs: one constructor per function, and
// one for the whole of Docent in a single process.
package app

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/google/uuid"

	"docent/shared/access"
	"docent/shared/answer"
	"docent/shared/apierr"
	"docent/shared/audit"
	"docent/shared/blob"
	"docent/shared/collection"
	"docent/shared/document"
	"docent/shared/embed"
	"docent/shared/extract"
	"docent/shared/fetch"
	"docent/shared/httpapi"
	"docent/shared/pending"
	"docent/shared/queue"
	"docent/shared/rate"
	"docent/shared/scim"
	"docent/shared/search"
	"docent/shared/signon"
	"docent/shared/source"
	"docent/shared/source/question"
	"docent/shared/table"
	"docent/shared/team"
	"docent/shared/usage"
	"docent/shared/webhook"
)

// Parts has the dependencies that only some programs need. A program links only the parts
// that its main sets.
type Parts struct {
	Model     Model     // writes answers; nil: they are quoted
	Fetch     Fetch     // reads pages of the web; nil: none is read
	Probe     Probe     // checks new data sources at their providers; nil: their first sync does
	Connect   Connect   // makes the connectors that read data sources; nil: none is read
	Vault     Vault     // encrypts the secrets of data sources; nil: sources with secrets are refused
	Tools     Tools     // serves agents; nil: they are not served
	ParseSAML ParseSAML // reads metadata of identity providers; nil: none can be set
	FetchSAML FetchSAML // reads such metadata at an address; nil: none is read
	Clients   Clients   // reads the descriptions of programs that ask for access; nil: such programs have to register
	SignOn    SignOn    // speaks with identity providers; nil: nobody signs in there
	Post      Post      // posts to webhook endpoints; nil: this program makes no deliveries
	Extract   Extract   // reads the text of files; nil: this program reads none
	PostLocal bool      // Post reaches the loopback interface, and webhook endpoints may be there

	Embedder   embed.Engine // embeds passages and questions; nil: this program does not
	Vectors    embed.Model  // of an installation whose other programs embed; the Embedder's if there is one
	WordsAlone string       // the reason why there is no Embedder, logged once; empty: this program needs none

	// TeamRate is how many requests per second a team may send, and each of its keys half of it;
	// 0: as many as it likes.
	TeamRate int

	// Pages serves the files of the dashboard, by paths without /v1/dashboard; nil: there is
	// no dashboard.
	Pages http.Handler
}

// Fetch reads a page of the web for data sources; package web has one.
type Fetch = func(ctx context.Context, url string) (question.Page, error)

// Probe checks the settings and secrets of a new data source at its provider; package probe
// has one.
type Probe = func(ctx context.Context, provider source.ProviderName, a source.Access) error

// Extract takes the text out of a file; package files has one.
type Extract = func(ctx context.Context, mediaType string, file io.ReaderAt, size int64) (extract.Document, error)

// Connect returns the connectors of a program; package connectors has them.
type Connect = func(now func() time.Time) map[source.ProviderName]source.Connection

// Tools makes the handler of the agents' protocol; package agents has one.
type Tools = func(httpapi.Services) http.Handler

// SignOn has the protocols of single sign-on; packages saml and oidc have one each.
type SignOn = map[signon.Method]signon.Protocol

// Post posts to a webhook endpoint; package hooks has one.
type Post = func(ctx context.Context, r webhook.Request) webhook.Reply

// ParseSAML reads the metadata of a SAML identity provider; package saml has it.
type ParseSAML = func(text []byte) (team.SAMLProvider, error)

// FetchSAML reads the metadata of a SAML identity provider at an address; package saml has it.
type FetchSAML = func(ctx context.Context, address string) (team.SAMLProvider, []byte, error)

// Clients reads the description of a program that asks for access; package clients has it.
type Clients = func(ctx context.Context, address string) ([]byte, error)

// engines are the stores and queues of an installation.
type engines struct {
	table     table.Store
	blobs     blob.Store
	questions queue.Queue
	documents queue.Queue
	syncs     queue.Queue // nil: no connector runs in this installation
	rebuilds  queue.Queue // nil: this program does not rebuild the index
	// deliveries carries notices for webhook endpoints; nil: the sweeper sends them.
	deliveries queue.Queue
	// embeddings carries documents that wait for vectors, and rebuilds of vectors; nil: the
	// sweeper sends them.
	embeddings queue.Queue
	// link returns a short-lived address of an object that replies with these headers; nil: objects have none.
	link func(ctx context.Context, method, name, contentType, disposition string) (string, error)
	// uploadLink returns an address to which one object can be sent; see httpapi.Uploads. nil: receive is set.
	uploadLink func(ctx context.Context, name, contentType string, size int64, digest []byte, valid time.Duration) (string, map[string]string, error)
	// receive stores the object that it reads; see httpapi.Uploads.
	receive func(ctx context.Context, name string, from io.Reader) error
	// openObject opens an object, and returns its size; nil: link is set.
	openObject func(ctx context.Context, name string) (io.ReadCloser, int64, error)
	// extractions carries files whose text is to be read; nil: the sweeper sends them.
	extractions queue.Queue
	// fallible is document.Service.Fallible.
	fallible bool
}

// base has the dependencies that every program has.
type base struct {
	engines    engines
	log        *slog.Logger
	now        func() time.Time
	wait       func(context.Context) error          // pauses a long poll between two reads
	onFinished func(context.Context, answer.Answer) // called after each answered question; may be nil
	// sharedRates is where processes share how many requests each team sends; nil: there is one process.
	sharedRates table.Store
}

// services are all areas on one base. None is changed after newServices.
type services struct {
	base
	events      *audit.Log
	usage       *usage.Counter
	teams       *team.Service
	rates       *rate.Limiter // nil: nothing is limited
	signOn      *signon.Service
	directory   *scim.Service // users, groups and members, for rules and readers
	collections *collection.Service
	documents   *document.Service
	answers     *answer.Service
	sources     *source.Service
	questions   *question.Service
	index       *search.Index
	indexing    *document.Worker
	extracting  *document.Extractor
	answering   *answer.Worker
	syncing     *source.Syncer
	webhooks    *webhook.Service
	delivering  *webhook.Worker
	sweeper     *pending.Sweeper
	daily       *daily
	compose     compose // nil: answers are quoted
	parts       Parts   // without nil, except for Tools, Model, Probe, Connect and Embedder
}

// newID returns time-ordered UUIDs.
func newID() string { return uuid.Must(uuid.NewV7()).String() }

// withDefaults returns p with a part that refuses in place of each that is missing and that the areas call without a check.
func (p Parts) withDefaults() Parts {
	if p.Fetch == nil {
		p.Fetch = noFetch
	}
	if p.Vault == nil {
		p.Vault = noVault{}
	}
	if p.ParseSAML == nil {
		p.ParseSAML = noSAML
	}
	if p.FetchSAML == nil {
		p.FetchSAML = fetchesNoSAML
	}
	if p.Post == nil {
		p.Post = noPost
	}
	if p.Extract == nil {
		p.Extract = extractsNothing
	}
	if p.Embedder != nil {
		p.Vectors = p.Embedder.Model()
	}
	return p
}

// newServices joins the areas on b.
func newServices(b base, p Parts) *services {
	e := b.engines
	warn := func(w pending.Work, err error) {
		b.log.Warn("message not sent; it will be sent again", "kind", w.Kind, "id", w.ID, "requestId", w.RequestID, "err", err)
	}
	p = p.withDefaults()
	if p.WordsAlone != "" {
		b.log.Info("search goes by words alone", "reason", p.WordsAlone)
	}
	s := &services{base: b, parts: p, usage: &usage.Counter{Table: e.table}, events: &audit.Log{Table: e.table, Now: b.now}}
	outbox := &pending.Outbox{Queue: e.deliveries, Warn: warn}
	s.events.Outbox = outbox
	// Collections and documents need each other.
	s.collections = &collection.Service{Table: e.table, Events: s.events, Work: e.documents, Now: b.now, NewID: newID, Warn: warn, KeepRule: document.KeepRule,
		Contents: func(ctx context.Context, teamID string, c collection.Collection, reader access.Reader) (int64, bool, error) {
			return s.documents.Contents(ctx, teamID, c.ID, reader, c.DefaultAccess)
		}}
	s.documents = &document.Service{Table: e.table, Blobs: e.blobs, Events: s.events, Work: e.documents, Extractions: e.extractions, Now: b.now, NewID: newID, Warn: warn,
		OnDamage: func(ctx context.Context, d *table.DamagedError) {
			b.log.WarnContext(ctx, "damaged documents left out", "err", d)
		},
		Random:    func() uint16 { return uint16(rand.Uint32()) }, //nolint:gosec // not a secret: it distinguishes versions of the same millisecond
		Meaning:   p.Vectors.Name != "",
		Fallible:  e.fallible,
		SourceKey: collection.Key, Connected: collection.IsConnected,
		Sources: s.collections.Sources, Collections: s.collections.Defaults, DefaultAccess: collection.DefaultAccess}
	s.teams = &team.Service{Table: e.table, Events: s.events, Now: b.now, NewID: newID, SourceExists: s.collections.SourceExists,
		Groups: func(ctx context.Context, teamID, userID string) ([]access.Group, error) {
			return s.directory.GroupsOf(ctx, teamID, userID)
		}}
	if p.TeamRate > 0 {
		s.rates = &rate.Limiter{PerSecond: p.TeamRate, Now: b.now, Table: b.sharedRates}
		s.teams.Admit = s.rates.Take
	}
	s.signOn = &signon.Service{Table: e.table, Teams: s.teams, Events: s.events, Now: b.now, Protocols: p.SignOn, Seal: p.Vault.Seal, Open: p.Vault.Open}
	s.teams.MaySignInWithKey = s.signOn.CheckKeySignIn
	s.directory = &scim.Service{Table: e.table, Teams: s.teams, Now: b.now, Names: &scim.GroupNames{}}
	s.index = &search.Index{Table: e.table, Blobs: e.blobs, Corpus: document.Corpus{Service: s.documents}, Now: b.now, NewID: newID, Rebuilds: e.rebuilds, Warn: warn,
		Model: p.Vectors, Embedder: p.Embedder, Embeddings: e.embeddings,
		OnFault: func(ctx context.Context, err error) {
			b.log.ErrorContext(ctx, "part of the index left out", "err", err)
		}}
	s.indexing = &document.Worker{Service: s.documents, Index: s.index, Embeddings: e.embeddings, Outbox: outbox, Log: b.log}
	s.extracting = &document.Extractor{Service: s.documents, Read: p.Extract, Outbox: outbox, Log: b.log}
	s.sources = &source.Service{Providers: Providers(), Table: e.table, Events: s.events, Collections: s.collections, Documents: s.documents, Work: e.documents, Syncs: e.syncs, Outbox: outbox,
		Now: b.now, NewID: newID, Seal: p.Vault.Seal, Open: p.Vault.Open, Probe: p.Probe, Warn: warn, Resolve: s.directory.Resolve}
	s.syncing = &source.Syncer{Service: s.sources, Connections: connections(p.Connect, b.now), Log: b.log, Turn: syncTurn}
	s.webhooks = &webhook.Service{Table: e.table, Events: s.events, Outbox: outbox, Now: b.now, NewID: newID, Seal: p.Vault.Seal, Open: p.Vault.Open,
		CheckURL: func(url string) error { return fetch.CheckPost(url, p.PostLocal) }}
	s.delivering = &webhook.Worker{Service: s.webhooks, Post: p.Post, Jitter: rand.N[time.Duration], Log: b.log}
	var researcher *question.Model
	if p.Model != nil {
		s.compose, researcher = p.Model(b.log)
	}
	s.questions = &question.Service{Sources: s.sources, Documents: s.documents, Now: b.now, Index: s.index.Search, Fetch: p.Fetch, Model: researcher,
		WebFetch: func(ctx context.Context, teamID string) (bool, error) {
			t, err := s.teams.Team(ctx, teamID)
			return t.WebFetch, err
		}}
	s.answers = &answer.Service{Table: e.table, Events: s.events, Work: e.questions, Now: b.now, Wait: b.wait, Warn: warn,
		Unreadable: func(ctx context.Context, teamID string, asker answer.Asker, first map[string]time.Time) (unreadable, gone map[string]time.Time, _ error) {
			return s.documents.Unreadable(ctx, teamID, document.Who{Reader: asker.Reader, Sources: asker.Sources}, first)
		}}
	s.answering = s.answerer(b.onFinished)
	s.sweeper = &pending.Sweeper{Table: e.table, Now: b.now, Queues: e.byTable(), Embeddings: e.embeddings, Extractions: e.extractions, GiveUp: s.giveUp, Patience: patience}
	s.daily = &daily{table: e.table, now: b.now, events: s.events, teams: s.teams, sources: s.sources, index: s.index, usage: s.usage}
	return s
}

// byTable returns the queues by the table of the work that they carry.
func (e engines) byTable() map[string]queue.Queue {
	queues := map[string]queue.Queue{table.Answers: e.questions, table.Documents: e.documents}
	if e.syncs != nil {
		queues[table.Collections] = e.syncs
	}
	if e.rebuilds != nil {
		queues[table.Index] = e.rebuilds
	}
	if e.deliveries != nil {
		queues[table.Events] = e.deliveries
	}
	return queues
}

// connections returns the connectors of connect, which may be nil.
func connections(connect Connect, now func() time.Time) map[source.ProviderName]source.Connection {
	if connect == nil {
		return nil
	}
	return connect(now)
}

// answerer returns a worker of questions that calls onFinished, which may be nil.
func (s *services) answerer(onFinished func(context.Context, answer.Answer)) *answer.Worker {
	return &answer.Worker{Service: s.answers, Search: s.index.Search, Readers: s.teams.ReaderOf, Usage: s.usage, Log: s.log, Compose: s.compose, OnFinished: onFinished}
}

// rebuilder returns a worker of rebuilds that works for turn at a time, without limit
// if it is 0, and calls rest, which may be nil, between slices.
func (s *services) rebuilder(turn time.Duration, rest func(context.Context, time.Duration) error) *search.Rebuilder {
	return &search.Rebuilder{Index: s.index, Log: s.log, Turn: turn, Rest: rest}
}

// Patience: how long work may stay pending before it counts as failed.
const (
	answerPatience = time.Hour
	indexPatience  = 6 * time.Hour
)

func patience(k pending.Kind) time.Duration {
	switch k {
	case pending.AnswerQuestion:
		return answerPatience
	case pending.IndexDocument, pending.ExtractDocument:
		return indexPatience
	default:
		return 0 // no one waits for a removal, but it must happen
	}
}

func (s *services) giveUp(ctx context.Context, w pending.Work) error {
	switch w.Kind {
	case pending.AnswerQuestion:
		return s.answering.GiveUp(ctx, w)
	case pending.ExtractDocument:
		return s.extracting.GiveUp(ctx, w)
	}
	return s.indexing.GiveUp(ctx, w)
}

// noFetch is the Fetch of programs without one.
func noFetch(context.Context, string) (question.Page, error) {
	return question.Page{}, &question.FetchError{Code: "fetch-failed", Detail: "This installation fetches nothing from the web."}
}

// extractsNothing is the Extract of programs without one.
func extractsNothing(context.Context, string, io.ReaderAt, int64) (extract.Document, error) {
	return extract.Document{}, errors.New("this program reads no files")
}

// noPost is the Post of programs without one.
func noPost(context.Context, webhook.Request) webhook.Reply {
	return webhook.Reply{Error: webhook.ConnectionFailed}
}

// noSAML is the ParseSAML of programs without one.
func noSAML([]byte) (team.SAMLProvider, error) {
	return team.SAMLProvider{}, apierr.New(apierr.Unavailable, apierr.CodeUnavailable, "SAML metadata is not supported.")
}

// fetchesNoSAML is the FetchSAML of programs without one.
func fetchesNoSAML(context.Context, string) (team.SAMLProvider, []byte, error) {
	return team.SAMLProvider{}, nil, apierr.New(apierr.Unavailable, apierr.CodeUnavailable, "This installation reads no metadata from the web.")
}

// surface returns the services of the HTTP handlers. A maxSCIMReply of 0 means no limit;
// metrics may be nil.
func (s *services) surface(baseURL string, maxSCIMReply int, metrics func(httpapi.Served) []slog.Attr) httpapi.Services {
	s.signOn.BaseURL, s.webhooks.BaseURL = baseURL, baseURL
	return httpapi.Services{Teams: s.teams, SignOn: s.signOn, Collections: s.collections, Documents: s.documents, Originals: httpapi.Originals{Open: s.engines.openObject, Link: s.engines.link},
		Uploads: httpapi.Uploads{Link: s.engines.uploadLink, Receive: s.engines.receive}, Answers: s.answers, Answering: s.answering, Sources: s.sources, Questions: s.questions, Webhooks: s.webhooks,
		Events: s.events, Usage: s.usage, Rates: s.rates, Tools: s.parts.Tools, ParseSAML: s.parts.ParseSAML, FetchSAML: s.parts.FetchSAML, ReadDocument: s.parts.Clients,
		SCIM:    &scim.Service{Table: s.engines.table, Events: s.events, Teams: s.teams, Now: s.now, NewID: newID, Names: s.directory.Names, BaseURL: baseURL, MaxReply: maxSCIMReply},
		BaseURL: baseURL, Now: s.now, Log: s.log, Metrics: metrics}
}
