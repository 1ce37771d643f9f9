package app

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"docent/shared/clocktest"
	"docent/shared/collection"
	"docent/shared/document"
	"docent/shared/logtest"
	"docent/shared/pending"
	"docent/shared/queue"
	"docent/shared/search"
	"docent/shared/table"
)

// indexed is a Docent on one machine with a team whose collection has documents.
type indexed struct {
	*Local
	clock      *clocktest.Clock
	team       string
	collection string
}

func newIndexed(t *testing.T, documents int) *indexed {
	t.Helper()
	x := &indexed{clock: clocktest.New(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC))}
	var err error
	x.Local, err = OpenLocal(t.Context(), t.TempDir(), LocalOptions{Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Now: x.clock.Now, NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	})
	acme, _, err := x.Teams.CreateTeam(t.Context(), "acme", "ada")
	if err != nil {
		t.Fatal(err)
	}
	x.team = acme.ID
	made, err := x.collections.Create(t.Context(), x.team, collection.Fields{Name: "wiki", Description: "d"}, nil, collection.IdempotencyKey{})
	if err != nil {
		t.Fatal(err)
	}
	x.collection = made.ID
	for i := range documents {
		x.put(t, fmt.Sprint("page", i))
	}
	if err := x.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	return x
}

func (x *indexed) put(t *testing.T, name string) {
	t.Helper()
	_, _, err := x.documents.Put(t.Context(), x.team, document.Input{Fields: document.Fields{CollectionID: x.collection, Title: name, URI: "https://wiki.test/" + name},
		Body: "The zebra " + name + " is small.", Match: func(int64) error { return nil }, Who: document.Anyone()})
	if err != nil {
		t.Fatal(err)
	}
}

func (x *indexed) status(t *testing.T) search.FamilyStatus {
	t.Helper()
	families, err := x.Rebuilds().Status(t.Context(), x.team)
	if err != nil || len(families) != 1 {
		t.Fatalf("%+v, %v", families, err)
	}
	return families[0]
}

func (x *indexed) start(t *testing.T) {
	t.Helper()
	if n, err := x.Rebuilds().Start(t.Context(), x.team); err != nil || n != 1 {
		t.Fatalf("started %d: %v", n, err)
	}
}

// sound fails the test unless every document can be found and nothing has to be rebuilt.
func (x *indexed) sound(t *testing.T, documents int) {
	t.Helper()
	report, err := x.CheckIndex(t.Context(), x.team)
	if err != nil || !report.Clean() || report.Stale != 0 || report.Documents != documents {
		t.Errorf("index check: %+v, %v", report, err)
	}
	if s := x.status(t); s.Rebuild != nil || len(s.Outdated) > 0 {
		t.Errorf("status %+v", s)
	}
}

// TestTheIndexingFunctionRebuilds: the function for documents also handles the message of a
// rebuild, even in one batch with documents, and a duplicate changes nothing.
func TestTheIndexingFunctionRebuilds(t *testing.T) {
	t.Parallel()
	x := newIndexed(t, 30)
	x.start(t)
	x.start(t) // it continues as it is
	x.put(t, "late")
	rebuilds, err := waiting(t.Context(), x.rebuildQueue)
	if err != nil || len(rebuilds) != 1 {
		t.Fatalf("sent %q, %v", rebuilds, err)
	}
	documents, err := waiting(t.Context(), x.documentQueue)
	if err != nil || len(documents) != 1 {
		t.Fatalf("sent %q, %v", documents, err)
	}
	log := &logtest.Buffer{}
	indexing := x.Functions(log, "https://docent.test/v1")["indexing"]
	for range 2 {
		event, err := json.Marshal(events.SQSEvent{Records: []events.SQSMessage{{MessageId: "r", Body: rebuilds[0]}, {MessageId: "d", Body: documents[0]}}})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		answer, err := indexing.Invoke(ctx, event)
		cancel()
		if err != nil || !strings.Contains(string(answer), `"batchItemFailures":[]`) {
			t.Fatalf("%s, %v: %s", answer, err, log)
		}
	}
	x.sound(t, 31)
}

// TestTheSweepReportsWhatIsLeftToRebuild, as a metric, and sends a lost message again.
func TestTheSweepReportsWhatIsLeftToRebuild(t *testing.T) {
	t.Parallel()
	x := newIndexed(t, 5)
	sweep := func() string {
		t.Helper()
		log := &logtest.Buffer{}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if _, err := x.Functions(log, "")["sweeping"].Invoke(ctx, []byte("{}")); err != nil {
			t.Fatal(err)
		}
		return log.String()
	}
	if text := sweep(); strings.Contains(text, "DocumentsToRebuild") {
		t.Errorf("nothing to rebuild: %s", text)
	}
	x.start(t)
	if lost, err := waiting(t.Context(), x.rebuildQueue); err != nil || len(lost) != 1 {
		t.Fatalf("sent %q, %v", lost, err)
	}
	x.clock.Advance(2 * time.Minute)
	if text := sweep(); !strings.Contains(text, `"DocumentsToRebuild":10`) { // five in segments, and a scan over five
		t.Errorf("a rebuild is pending: %s", text)
	}
	if s := x.status(t); s.Rebuild == nil || s.Rebuild.Done != 0 || s.Rebuild.Total != 10 || s.Outdated["asked for"] != s.Segments {
		t.Errorf("status %+v", s)
	}
	x.put(t, "late")
	if err := x.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	x.sound(t, 6)
}

// TestTheDayPlansRebuilds of teams whose documents do not change.
func TestTheDayPlansRebuilds(t *testing.T) {
	t.Parallel()
	x := newIndexed(t, 5)
	item := x.outdate(t)
	x.clock.Advance(day)
	if err := x.daily.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s := x.status(t); s.Rebuild == nil || s.Rebuild.Total != 5 || s.Outdated["damaged"] != 1 {
		t.Errorf("status %+v of %s", s, item)
	}
	if err := x.DoRebuilds(t.Context(), x.team, func([]search.FamilyStatus) error { return nil }); err != nil {
		t.Fatal(err)
	}
	x.sound(t, 5)
}

// outdate marks a segment as damaged.
func (x *indexed) outdate(t *testing.T) string {
	t.Helper()
	for item, err := range table.All(t.Context(), x.store, table.Query{Table: table.Index, Partition: x.team}) {
		if err != nil {
			t.Fatal(err)
		}
		body := strings.Replace(string(item.Body), `"bytes"`, `"mark":"damaged","bytes"`, 1)
		item.Body = []byte(body)
		if err := x.store.Write(t.Context(), table.Put{Item: item}); err != nil {
			t.Fatal(err)
		}
		return body
	}
	t.Fatal("there is no segment")
	return ""
}

// TestServeRebuildsInParallelWithOtherWork: its one worker continues an unfinished rebuild.
func TestServeRebuildsInParallelWithOtherWork(t *testing.T) {
	t.Parallel()
	x := newIndexed(t, 30)
	x.start(t)
	rested := 0
	rebuilder := x.rebuilder(serveRebuildTurn, func(_ context.Context, worked time.Duration) error {
		if worked < 0 {
			t.Errorf("worked for %v", worked)
		}
		rested++
		return nil
	})
	for range 5 {
		if _, err := drainOnce(t.Context(), x.rebuildQueue, rebuilder.Batch, 1); err != nil {
			t.Fatal(err)
		}
	}
	if rested < 2 { // after the scan, and after the pass
		t.Errorf("it rested %d times", rested)
	}
	x.sound(t, 30)
}

// TestRebuildMessagesAreNotMeasuredAsOld: a rebuild takes hours, in turns.
func TestRebuildMessagesAreNotMeasuredAsOld(t *testing.T) {
	t.Parallel()
	f := &functions{services: &services{base: base{now: time.Now}}}
	for kind, aged := range map[pending.Kind]bool{pending.IndexDocument: true, pending.RebuildIndex: false} {
		w := pending.Work{Kind: kind, TeamID: "t", ID: "s#documentation"}
		attributes := fmt.Sprint(f.delivered("indexing", time.Now(), []queue.Message{{Body: w.Message()}}, 0))
		if strings.Contains(attributes, "QueueAge") != aged {
			t.Errorf("%s: %s", kind, attributes)
		}
	}
}
