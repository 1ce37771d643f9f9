package app

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"docent/shared/access"
	"docent/shared/queue"
	"docent/shared/search"
	"docent/shared/table"
	"docent/shared/team"
)

// cost has the sequential calls of a warm function, including those of the queue, and the units
// of the table. Usage counting is included in the calls but not in the units, which would be one
// more per call. Noting a key's last use, in parallel once per minute, is not included.
type cost struct {
	RoundTrips int     `json:"roundTrips"`
	ReadUnits  float64 `json:"readUnits"`
	WriteUnits float64 `json:"writeUnits"`
}

func (c cost) within(limit cost) bool {
	return c.RoundTrips <= limit.RoundTrips && c.ReadUnits <= limit.ReadUnits && c.WriteUnits <= limit.WriteUnits
}

// costCase is an operation with its ceiling. If it exceeds the ceiling, held is the higher
// ceiling that is accepted until that is fixed, with the reason.
type costCase struct {
	operation string
	ceiling   cost
	held      cost
	why       string
	run       func(c *costs) spent
}

// The ceilings are those of the design if it has one. For workers, lists and long documents, they
// are the necessary costs of the operation.
var costCases = []costCase{
	{operation: "GET collection", ceiling: cost{1, 1.5, 0}, run: func(c *costs) spent {
		return c.request(c.teamKey, "GET", "/collections/"+c.collections[0], nil, 200)
	}},
	{operation: "GET collection, key not cached", ceiling: cost{2, 1.5, 0}, run: func(c *costs) spent {
		c.warm(c.teamKey, "/collections")
		c.later += 11 * time.Second // a key is cached for 10 s, its use noted once a minute
		return c.measured(c.teamKey, "GET", "/collections/"+c.collections[0], nil, 200)
	}},
	// The number of its event is claimed before it is written.
	{operation: "POST collection", ceiling: cost{2, 1, 12}, run: func(c *costs) spent {
		return c.request(c.teamKey, "POST", "/collections", map[string]string{"name": "new", "description": "New"}, 201)
	}},
	// The same here, in parallel with reading the team's identity provider.
	{operation: "POST scim/v2/Users", ceiling: cost{2, 1, 12}, run: func(c *costs) spent {
		if _, err := c.services.teams.SetSAML(c.t.Context(), c.team.ID, team.SAMLProvider{EntityID: "https://idp.test/"}, samlText(c.t, "sso")); err != nil {
			c.t.Fatal(err)
		}
		c.do(c.teamKey, "GET", "/scim/v2/Users", nil, 200)
		return c.measured(c.teamKey, "POST", "/scim/v2/Users", map[string]any{"userName": "grace@acme.test", "active": true}, 201)
	}},
	// The places of the team are read before one is taken, and then the call is counted.
	{operation: "POST upload", ceiling: cost{3, 1, 8}, run: func(c *costs) spent {
		upload := map[string]any{"mediaType": "application/pdf", "size": 5}
		c.do(c.teamKey, "POST", "/uploads", upload, 201) // nothing can be read there to warm it
		return c.measured(c.teamKey, "POST", "/uploads", upload, 201)
	}},
	{operation: "PUT document, new, 3 KB", ceiling: cost{3, 2, 20}, run: func(c *costs) spent {
		defer c.work()
		return c.request(c.teamKey, "PUT", "/documents", c.document("new", short), 200)
	}},
	// It also removes the old version's failure: two units more than a new document.
	{operation: "PUT document, replaced, 3 KB", ceiling: cost{3, 2, 21}, run: func(c *costs) spent {
		c.request(c.teamKey, "PUT", "/documents", c.document("old", short), 200)
		c.work()
		defer c.work()
		return c.request(c.teamKey, "PUT", "/documents", c.document("old", short[1:]), 200)
	}},
	// Announcing and writing the chunks go first: two round trips more.
	{operation: "PUT document, new, 6.5 KB", ceiling: cost{5, 2, 24}, run: func(c *costs) spent {
		defer c.work()
		return c.request(c.teamKey, "PUT", "/documents", c.document("long", long), 200)
	}},
	{operation: "DELETE document, 3 KB", ceiling: cost{4, 2, 20}, run: func(c *costs) spent {
		c.request(c.teamKey, "PUT", "/documents", c.document("gone", short), 200)
		c.work()
		defer c.work()
		return c.request(c.teamKey, "DELETE", "/documents/"+c.documentID("gone"), nil, 204)
	}},
	{operation: "GET document, 3 KB", ceiling: cost{2, 4, 0}, run: func(c *costs) spent {
		return c.request(c.teamKey, "GET", "/documents/"+c.documentID("page/0"), nil, 200)
	}},
	// A reply without a body does not need that of the document.
	{operation: "HEAD document, 200 KB", ceiling: cost{2, 4, 0}, run: func(c *costs) spent {
		defer c.work()
		c.request(c.teamKey, "PUT", "/documents", c.document("longest", strings.Repeat("Expenses are paid back within a month.\n", 5000)), 200)
		return c.request(c.teamKey, "HEAD", "/documents/"+c.documentID("longest"), nil, 200)
	}},
	{operation: "GET document, 200 KB, not modified", ceiling: cost{2, 4, 0}, run: func(c *costs) spent {
		return c.request(c.teamKey, "GET", "/documents/"+c.documentID("longest"), nil, 304)
	}},
	// The collection is looked up before the file is decoded. Announcing and keeping the file go first, as with chunks.
	{operation: "PUT document, new file, 3 KB", ceiling: cost{6, 3, 20}, run: func(c *costs) spent {
		defer c.work()
		return c.request(c.teamKey, "PUT", "/documents", c.fileDocument("new-file"), 200)
	}},
	// The caller is sent to the object, so that this function does not read it.
	{operation: "GET document original, 3 KB", ceiling: cost{2, 4, 0}, run: func(c *costs) spent {
		c.request(c.teamKey, "PUT", "/documents", c.fileDocument("file"), 200)
		defer c.work()
		return c.request(c.teamKey, "GET", "/documents/"+c.documentID("file")+"/original", nil, 302)
	}},
	{operation: "GET documents, 100", ceiling: cost{2, 10, 0}, run: func(c *costs) spent {
		return c.request(c.teamKey, "GET", "/documents?limit=100", nil, 200)
	}},
	{operation: "PUT answer", ceiling: cost{2, 1, 10}, run: func(c *costs) spent {
		defer c.work()
		return c.request(c.teamKey, "PUT", "/answers/"+uuid.NewString(), questionBody, 204)
	}},
	// The call of a personal key is counted before the operation: one write unit.
	{operation: "PUT answer, personal key", ceiling: cost{3, 1, 10 + 1}, held: cost{3, 1.5, 10 + 1}, why: "the groups of the person are read next to the count", run: func(c *costs) spent {
		defer c.work()
		return c.request(c.personalKey, "PUT", "/answers/"+uuid.NewString(), questionBody, 204)
	}},
	{operation: "GET answer", ceiling: cost{1, 1, 0}, run: func(c *costs) spent {
		return c.request(c.teamKey, "GET", "/answers/"+c.answered, nil, 200)
	}},
	{operation: "GET webhook-endpoints", ceiling: cost{2, 2, 1}, run: func(c *costs) spent {
		return c.request(c.personalKey, "GET", "/webhook-endpoints", nil, 200)
	}},
	{operation: "POST context/search, 10 sources", ceiling: cost{2, 65, 0}, run: (*costs).searchRequest},
	{operation: "search, 10 sources", ceiling: cost{2, 60, 0}, run: func(c *costs) spent { return c.search(nil) }},
	{operation: "search, a key of 10 sources", ceiling: cost{2, 60, 0}, run: func(c *costs) spent { return c.search(c.collections) }},
	// The question, its search, and its end with the event.
	{operation: "answering a question", ceiling: cost{4, 61, 15}, run: (*costs).answering},
	// The records, the blob, publishing, the messages for their vectors, and two rounds of reads for merging.
	{operation: "indexing 10 documents, 3 KB", ceiling: cost{7, 30, 24}, run: func(c *costs) spent { return c.indexing(short) }},
	// The chunks as well.
	{operation: "indexing 10 documents, 6.5 KB", ceiling: cost{8, 60, 24},
		run: func(c *costs) spent { return c.indexing(long) }},
	// The records, the blob, publishing, and the reads for merging. What the model costs is not included.
	{operation: "embedding 10 documents, 3 KB", ceiling: cost{6, 30, 24}, run: (*costs).embedding},
	// The lists of pending work in parallel, read eventually, next to those of removals and of the day's round; and the note of the sweep.
	{operation: "sweeping, nothing to do", ceiling: cost{6, 32, 1}, run: (*costs).sweep},
	// The document and its collection are read one after the other. These two
	// are last, because their segments would be merged while another operation is measured.
	{operation: "PATCH document, 3 KB", ceiling: cost{4, 2, 21}, run: func(c *costs) spent {
		c.request(c.teamKey, "PUT", "/documents", c.document("patched", short), 200)
		c.work()
		defer c.work()
		return c.request(c.teamKey, "PATCH", "/documents/"+c.documentID("patched"), map[string]any{"access": map[string][]string{"users": {}}}, 200)
	}},
	// Announcing, reading and writing the chunks as well.
	{operation: "PATCH document, 6.5 KB", ceiling: cost{7, 5, 26}, run: func(c *costs) spent {
		c.request(c.teamKey, "PUT", "/documents", c.document("patched-long", long), 200)
		c.work()
		defer c.work()
		return c.request(c.teamKey, "PATCH", "/documents/"+c.documentID("patched-long"), map[string]any{"access": map[string][]string{"users": {}}}, 200)
	}},
}

// TestOperationsStayBelowTheirCeilings runs each operation on engines that are as slow as the
// network, on the clock of a bubble. It reports the counts as attributes, which make bench prints
// as a table.
func TestOperationsStayBelowTheirCeilings(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCosts(t, batchesPerSource, &pace{takes: callTime}, paced)
		for _, test := range slices.Concat(costCases, contextCosts) {
			got := test.run(c)
			c.report(test, got)
			limit := test.ceiling
			if test.why != "" {
				limit = test.held
			}
			switch {
			case !got.within(limit):
				t.Errorf("%s: %+v; at most %+v; calls: %q", test.operation, got.cost, limit, got.calls)
			case test.why != "" && got.within(test.ceiling):
				t.Errorf("%s: %+v is below the ceiling: say no more that it is missed", test.operation, got.cost)
			case got.RoundTrips == 0:
				t.Errorf("%s: nothing was counted", test.operation)
			}
		}
	})
}

func (c *costs) report(test costCase, got spent) {
	c.t.Helper()
	line, err := json.Marshal(struct {
		Operation string `json:"operation"`
		Measured  cost   `json:"measured"`
		Ceiling   cost   `json:"ceiling"`
		Why       string `json:"why"` // it exceeds the ceiling, if that is known
	}{test.operation, got.cost, test.ceiling, test.why})
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Attr("cost", string(line))
}

// request warms the key and measures one request.
func (c *costs) request(key, method, path string, body any, status int) spent {
	c.t.Helper()
	c.warm(key, path)
	return c.measured(key, method, path, body, status)
}

// warm has the key cached, and counted with the feature that path is of.
func (c *costs) warm(key, path string) {
	area, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	area, _, _ = strings.Cut(area, "?")
	c.do(key, "GET", "/"+area, nil, http.StatusOK)
}

func (c *costs) measured(key, method, path string, body any, status int) spent {
	c.t.Helper()
	return c.pace.measure(func() { c.do(key, method, path, body, status) })
}

// search measures a search whose segments are in memory.
func (c *costs) search(sources []string) spent {
	c.t.Helper()
	q := search.Query{Reader: access.Everything(), Text: questionBody["question"], Sources: sources, Limit: 10}
	find := func() {
		result, err := c.services.index.Search(c.t.Context(), c.team.ID, q)
		if err != nil || len(result.Hits) != q.Limit {
			c.t.Fatalf("search: %d hits, %v", len(result.Hits), err)
		}
	}
	find()
	return c.pace.measure(find)
}

// searchRequest measures the search of a client, which reads the data sources in parallel.
func (c *costs) searchRequest() spent {
	c.t.Helper()
	find := func() {
		c.do(c.teamKey, "POST", "/context/search", map[string]string{"query": questionBody["question"]}, http.StatusOK)
	}
	find()
	return c.pace.measure(find)
}

// answering measures the worker's part in one question, until it has its answer.
func (c *costs) answering() spent {
	c.t.Helper()
	c.search(nil)
	c.request(c.teamKey, "PUT", "/answers/"+uuid.NewString(), questionBody, 204)
	batch := receive(c.t, c.asked, 1)
	c.onFinished = c.pace.over
	defer func() { c.onFinished = nil }()
	return c.pace.measure(func() {
		if failed := c.services.answering.Batch(c.t.Context(), batch); len(failed) > 0 {
			c.t.Fatal("the question was not answered")
		}
	})
}

// indexing measures the worker's part in ten new documents of one collection.
func (c *costs) indexing(body string) spent {
	c.t.Helper()
	for n := range queue.MaxBatch {
		c.request(c.teamKey, "PUT", "/documents", c.document(fmt.Sprintf("batch/%d/%d", len(body), n), body), 200)
	}
	batch := receive(c.t, c.changed, queue.MaxBatch)
	return c.pace.measure(func() {
		if failed := c.services.indexing.Batch(c.t.Context(), batch); len(failed) > 0 {
			c.t.Fatalf("%d documents were not indexed", len(failed))
		}
	})
}

// embedding measures the worker's part in the vectors of ten documents that were published by their words.
func (c *costs) embedding() spent {
	c.t.Helper()
	c.work()
	c.indexing(short[1:])
	batch := receive(c.t, c.published, queue.MaxBatch)
	return c.pace.measure(func() {
		if failed := c.services.indexing.EmbedBatch(c.t.Context(), batch); len(failed) > 0 {
			c.t.Fatalf("%d documents got no vectors", len(failed))
		}
	})
}

// sweep measures a sweep that finds nothing to do.
func (c *costs) sweep() spent {
	c.t.Helper()
	c.work()
	f := &functions{services: c.services, service: "docent"}
	f.sweeper.Parallel, f.daily.parallel, f.daily.pages = sweepParallel, sweepParallel, sweepPages
	for _, name := range []string{table.Collections, table.Events, table.Index} { // a stack has their queues as well
		f.sweeper.Queues[name] = c.asked
	}
	run := func() {
		if err := f.sweeps()(c.t.Context()); err != nil {
			c.t.Fatal(err)
		}
	}
	run() // with the day's round
	return c.pace.measure(run)
}

func receive(t testing.TB, q queue.Queue, n int) []queue.Message {
	t.Helper()
	batch, err := q.Receive(t.Context(), n, 0)
	if err != nil || len(batch) != n {
		t.Fatalf("%d messages of %d, %v", len(batch), n, err)
	}
	if err := q.Done(t.Context(), batch...); err != nil {
		t.Fatal(err)
	}
	return batch
}
