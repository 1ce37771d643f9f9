package functions_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"

	"docent/shared/table"
	"docent/testkit/lambdarun"
)

const (
	rollback = "# Runbook\n\n## Rolling back\n\nTo roll back a deployment, run `deployctl undo` within 24 hours.\n"
	lunch    = "# Lunch\n\nThe canteen serves soup at noon.\n"
)

// TestStoryThroughTheBinaries is the main use: documents in, a cited answer out, and everything deleted at the end.
func TestStoryThroughTheBinaries(t *testing.T) {
	t.Parallel()
	c := newCloud(t)
	wiki := c.newCollection("wiki")
	runbook := c.id(c.want(c.put(wiki, "runbook", rollback), 200))
	c.want(c.put(wiki, "lunch", lunch), 200)
	c.want(c.do("GET", "/documents/"+runbook, nil), 200, `"state":"pending"`)
	c.drain()
	c.want(c.do("GET", "/documents/"+runbook, nil), 200, `"state":"indexed"`, `"meaning":"done"`, "deployctl undo")

	id := uuid.NewString()
	c.want(c.ask(id, "How do I roll back a deployment?"), 204)
	c.want(c.ask(id, "How do I roll back a deployment?"), 204)
	c.want(c.do("GET", "/answers/"+id, nil), 200, `"state":"processing"`)
	c.drain()
	c.want(c.do("GET", "/answers/"+id, nil), 200, `"state":"complete"`, "deployctl undo", "https://wiki.test/runbook")
	if r := c.want(c.ask(uuid.NewString(), "When is lunch?"), 204); r.header.Get("Ratelimit") == "" {
		t.Errorf("no quota in %v", r.header)
	}
	c.drain()

	// A document of 3 MB: chunks, and a compressed reply.
	long := strings.Repeat("Paragraph about deployment windows and freezes.\n\n", 60_000)
	big := c.id(c.want(c.put(wiki, "big", long), 200))
	c.drain()
	c.want(c.do("GET", "/documents/"+big, nil), 200, `"bodyEncoding":"gzip"`, `"state":"indexed"`)
	c.want(c.do("DELETE", "/documents/"+big, nil), 204)

	c.want(c.do("DELETE", "/answers/"+id, nil), 204)
	c.want(c.do("DELETE", "/documents/"+runbook, nil), 204)
	if r := c.answer("How do I roll back a deployment?"); strings.Contains(r.body, "deployctl") {
		t.Errorf("a deleted document is quoted: %s", r.body)
	}
	c.want(c.do("DELETE", "/collections/"+wiki, nil), 204)
	c.want(c.do("GET", "/collections", nil), 200, "[]")
	c.settle()
	if _, err := c.functions["sweeping"].Invoke(t.Context(), []byte(`{"detail-type":"Scheduled Event"}`)); err != nil {
		t.Errorf("sweeping: %v", err)
	}
	for _, item := range append(c.items(table.Documents), c.items(table.Answers)...) {
		if strings.Contains(item, "soup") || strings.Contains(item, "deployctl undo") || strings.Contains(item, runbook) {
			t.Errorf("left behind: %.500s", item)
		}
	}
	for _, name := range []string{"collections", "documents", "answers", "answering", "embedding", "indexing", "sweeping"} {
		if n := len(c.functions[name].Starts()); n != 1 {
			t.Errorf("%s was started %d times", name, n)
		}
		if memory := c.functions[name].PeakMemory(); memory > 0 {
			t.Logf("%s: %.1f MiB at most", name, float64(memory)/(1<<20))
		}
	}
	if log := c.log.String(); strings.Contains(log, "roll back") || strings.Contains(log, c.key) || strings.Contains(log, `"level":"ERROR"`) {
		t.Errorf("log: %s", log)
	}
}

// TestASecondInstanceSeesTheSame checks that one process reads what another has written, and that a message that
// both receive is handled once.
func TestASecondInstanceSeesTheSame(t *testing.T) {
	t.Parallel()
	c := newCloud(t)
	indexing, answering := c.functions["indexing"], c.functions["answering"]
	second := &lambdarun.Gateway{Functions: map[string]lambdarun.Invoker{}}
	for _, name := range []string{"collections", "documents", "answers"} {
		second.Functions[name] = c.start(name).Invoke
	}
	both := func(queueOf string, f, g *lambdarun.Function) {
		t.Helper()
		q := c.documents
		if queueOf == "questions" {
			q = c.questions
		}
		batch, err := q.Receive(t.Context(), 10, 0)
		if err != nil || len(batch) == 0 {
			t.Fatalf("%d messages, %v", len(batch), err)
		}
		event, err := lambdarun.SQSEvent(batch)
		if err != nil {
			t.Fatal(err)
		}
		for _, worker := range []*lambdarun.Function{f, g, f} {
			answer, err := worker.Invoke(t.Context(), event)
			if err != nil || !strings.Contains(string(answer), `"batchItemFailures":[]`) {
				t.Fatalf("%s, %v", answer, err)
			}
		}
		if err := q.Done(t.Context(), batch...); err != nil {
			t.Fatal(err)
		}
	}
	wiki := c.newCollection("wiki")
	c.want(c.through(second, "GET", "/collections/"+wiki, nil), 200, `"wiki"`)
	doc := c.id(c.want(c.put(wiki, "runbook", lunch), 200))
	c.want(c.through(second, "PUT", "/documents", map[string]string{"collectionId": wiki, "uri": "https://wiki.test/runbook",
		"title": "runbook", "body": rollback}), 200, doc)
	both("documents", indexing, c.start("indexing"))
	c.want(c.do("GET", "/documents/"+doc, nil), 200, `"state":"indexed"`, "deployctl undo")
	id := uuid.NewString()
	c.want(c.ask(id, "How do I roll back a deployment?"), 204)
	c.want(c.through(second, "PUT", "/answers/"+id, map[string]string{"question": "How do I roll back a deployment?"}), 204)
	both("questions", answering, c.start("answering"))
	c.want(c.through(second, "GET", "/answers/"+id, nil), 200, `"state":"complete"`, "deployctl undo")
	if n := strings.Count(c.log.String(), `"msg":"answer"`); n != 1 {
		t.Errorf("the question ended %d times", n)
	}
	c.drain()
	if n := c.pending(); n != 0 {
		t.Errorf("%d pieces of work are pending", n)
	}
	c.want(c.through(second, "DELETE", "/collections/"+wiki, nil), 204)
	c.want(c.do("GET", "/documents/"+doc, nil), 404)
}

func TestAnotherTeamSeesNothing(t *testing.T) {
	t.Parallel()
	c := newCloud(t)
	wiki := c.newCollection("wiki")
	doc := c.id(c.want(c.put(wiki, "runbook", rollback), 200))
	id := uuid.NewString()
	c.want(c.ask(id, "How do I roll back a deployment?"), 204)
	c.drain()
	_, c.key, _ = c.newTeam("rival")
	for _, path := range []string{"/collections/" + wiki, "/documents/" + doc, "/answers/" + id} {
		c.want(c.do("GET", path, nil), 404, `"code":"not-found"`)
	}
	if r := c.answer("How do I roll back a deployment?"); strings.Contains(r.body, "deployctl") {
		t.Errorf("another team's document is quoted: %s", r.body)
	}
	c.key = "docent_team_wrong"
	r := c.want(c.do("GET", "/collections", nil), 401, `"code":"unauthorized"`)
	if r.header.Get("X-Amzn-Remapped-Www-Authenticate") != "Bearer" {
		t.Errorf("headers %v", r.header)
	}
}

func TestWhatPassesLambdasLimitIsRefusedByTheGateway(t *testing.T) {
	t.Parallel()
	c := newCloud(t)
	wiki := c.newCollection("wiki")
	c.want(c.put(wiki, "big", strings.Repeat("a", 6<<20)), http.StatusRequestEntityTooLarge, `"code":"request-too-large"`)
	c.want(c.put(wiki, "big", strings.Repeat("word ", 1_000_000)), 200)
}

func TestAMissingSettingIsReportedAtTheStart(t *testing.T) {
	t.Parallel()
	all, err := names()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range all {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := lambdarun.Start(t.Context(), binary(t, name), lambdarun.Options{Env: map[string]string{"DOCENT_BUCKET": "b"}})
			if !errors.Is(err, lambdarun.ErrInit) || !strings.Contains(err.Error(), "DOCENT_BASE_URL is not set") ||
				!strings.Contains(err.Error(), "DOCENT_QUESTIONS_QUEUE_URL is not set") || strings.Contains(err.Error(), "DOCENT_BUCKET") {
				t.Errorf("error %v", err)
			}
		})
	}
}
