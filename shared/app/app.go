// Package app joins the areas into programs: one constructor per function, and
// one for the whole of Docent in a single process.
package app

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/google/uuid"

	"docent/shared/answer"
	"docent/shared/apierr"
	"docent/shared/audit"
	"docent/shared/blob"
	"docent/shared/collection"
	"docent/shared/document"
	"docent/shared/httpapi"
	"docent/shared/pending"
	"docent/shared/queue"
	"docent/shared/scim"
	"docent/shared/search"
	"docent/shared/source"
	"docent/shared/source/question"
	"docent/shared/table"
	"docent/shared/team"
	"docent/shared/usage"
)

// engines are what an installation provides.
type engines struct {
	table     table.Store
	blobs     blob.Store
	questions queue.Queue
	documents queue.Queue
	syncs     queue.Queue // nil: no connector runs in this installation
	rebuilds  queue.Queue // nil: what is outdated in the index is not rebuilt by this program
}

// services are all areas on one set of engines.
type services struct {
	events      *audit.Log
	usage       *usage.Counter
	teams       *team.Service
	collections *collection.Service
	documents   *document.Service
	answers     *answer.Service
	sources     *source.Service
	questions   *question.Service
	index       *search.Index
	indexing    *document.Worker
	rebuilding  *search.Rebuilder
	answering   *answer.Worker
	syncing     *source.Syncer
	sweeper     *pending.Sweeper
	tools       Tools // nil: agents are not served
	parseSAML   ParseSAML
	daily       *daily
}

// newID returns time-ordered UUIDs.
func newID() string { return uuid.Must(uuid.NewV7()).String() }

// newServices joins the areas on e. wait pauses a long poll between two reads.
func newServices(e engines, log *slog.Logger, now func() time.Time, wait func(context.Context) error) *services {
	warn := func(w pending.Work, err error) {
		log.Warn("message not sent; it will be sent again", "kind", w.Kind, "id", w.ID, "requestId", w.RequestID, "err", err)
	}
	events := &audit.Log{Table: e.table, Now: now}
	s := &services{
		events:      events,
		usage:       &usage.Counter{Table: e.table},
		teams:       &team.Service{Table: e.table, Events: events, Now: now, NewID: newID},
		collections: &collection.Service{Table: e.table, Events: events, Work: e.documents, Now: now, NewID: newID, Warn: warn},
		answers:     &answer.Service{Table: e.table, Events: events, Work: e.questions, Now: now, Wait: wait, Warn: warn},
	}
	s.documents = &document.Service{Table: e.table, Events: events, Work: e.documents, Now: now, Warn: warn,
		Random:    func() uint16 { return uint16(rand.Uint32()) }, //nolint:gosec // tells versions of one millisecond apart, no secret
		SourceKey: collection.Key, Connected: collection.IsConnected,
		Sources: s.collections.Sources, Collections: s.collections.IDs}
	s.sources = &source.Service{Table: e.table, Events: events, Collections: s.collections, Documents: s.documents, Work: e.documents, Syncs: e.syncs,
		Now: now, NewID: newID, Seal: noVault{}.Seal, Open: noVault{}.Open, Warn: warn}
	s.questions = &question.Service{Sources: s.sources, Documents: s.documents, Now: now, Fetch: noFetch,
		WebFetch: func(ctx context.Context, teamID string) (bool, error) {
			t, err := s.teams.Team(ctx, teamID)
			return t.WebFetch, err
		},
		Index: func(ctx context.Context, teamID string, q search.Query) (search.Result, error) {
			return s.index.Search(ctx, teamID, q)
		}}
	s.parseSAML = noSAML
	s.collections.Count = s.documents.Count
	s.teams.SourceExists = s.collections.SourceExists
	s.index = &search.Index{Table: e.table, Blobs: e.blobs, Corpus: document.Corpus{Service: s.documents}, Now: now, NewID: newID, Rebuilds: e.rebuilds, Warn: warn,
		OnFault: func(ctx context.Context, err error) { log.ErrorContext(ctx, "part of the index left out", "err", err) }}
	s.indexing = &document.Worker{Service: s.documents, Index: s.index, Log: log}
	s.rebuilding = &search.Rebuilder{Index: s.index, Log: log}
	s.answering = &answer.Worker{Service: s.answers, Search: s.index.Search, Usage: s.usage, Log: log}
	s.syncing = &source.Syncer{Service: s.sources, Log: log}
	s.sweeper = &pending.Sweeper{Table: e.table, Now: now,
		Queues:   map[string]queue.Queue{table.Answers: e.questions, table.Documents: e.documents},
		GiveUp:   s.giveUp,
		Patience: patience}
	s.daily = &daily{table: e.table, now: now, services: s}
	if e.syncs != nil {
		s.sweeper.Queues[table.Collections] = e.syncs
	}
	if e.rebuilds != nil {
		s.sweeper.Queues[table.Index] = e.rebuilds
	}
	return s
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
	case pending.IndexDocument:
		return indexPatience
	default:
		return 0 // nobody waits for a removal, but it must happen
	}
}

func (s *services) giveUp(ctx context.Context, w pending.Work) error {
	if w.Kind == pending.AnswerQuestion {
		return s.answering.GiveUp(ctx, w)
	}
	return s.indexing.GiveUp(ctx, w)
}

// noFetch stands where nothing is fetched from the web.
func noFetch(context.Context, string) (question.Page, error) {
	return question.Page{}, &question.FetchError{Code: "fetch-failed", Detail: "This installation fetches nothing from the web."}
}

// noSAML stands where no metadata of identity providers is read.
func noSAML([]byte) (team.SAMLProvider, error) {
	return team.SAMLProvider{}, apierr.New(apierr.Unavailable, apierr.CodeUnavailable, "This program reads no SAML metadata.")
}

// surface is what the HTTP handlers work on.
func (s *services) surface(baseURL string, log *slog.Logger, now func() time.Time) httpapi.Services {
	return httpapi.Services{Teams: s.teams, Collections: s.collections, Documents: s.documents, Answers: s.answers, Sources: s.sources, Questions: s.questions,
		Events: s.events, Usage: s.usage, Tools: s.tools, ParseSAML: s.parseSAML,
		SCIM:    &scim.Service{Table: s.teams.Table, Events: s.events, Teams: s.teams, Now: now, NewID: newID, BaseURL: baseURL},
		BaseURL: baseURL, Now: now, Log: log}
}
