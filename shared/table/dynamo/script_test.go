package dynamo_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"docent/shared/table"
	"docent/shared/table/dynamo"
	"docent/testkit/moto"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// answer is the reply of the scripted server to one request.
type answer struct {
	status int
	body   string
}

var (
	fine         = answer{http.StatusOK, `{}`}
	hangUp       = answer{} // the connection ends without an answer
	brokenAnswer = answer{http.StatusOK, `{"Attributes":`}
	serverError  = answer{http.StatusInternalServerError, `{"__type":"com.amazonaws.dynamodb.v20120810#InternalServerError"}`}
)

func refusal(code, more string) answer {
	return answer{http.StatusBadRequest, fmt.Sprintf(`{"__type":"com.amazonaws.dynamodb.v20120810#%s"%s}`, code, more)}
}

var (
	throttle  = refusal("ProvisionedThroughputExceededException", "")
	conflict  = refusal("TransactionConflictException", "")
	cancelled = func(reasons string) answer {
		return refusal("TransactionCanceledException", `,"CancellationReasons":[`+reasons+`]`)
	}
)

// request is a request that the scripted server got.
type request struct {
	operation string
	body      string
	fields    map[string]any
}

// script is a server that gives its answers one after another, repeats the last one, and records
// the requests.
type script struct {
	t       *testing.T
	mu      sync.Mutex
	answers []answer
	seen    []request
}

// scripted returns a store whose endpoint is a script.
func scripted(t *testing.T, answers ...answer) (*dynamo.Store, *script) {
	t.Helper()
	s := &script{t: t, answers: answers}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	store := dynamo.New(dynamodb.NewFromConfig(moto.Config(server.URL)), dynamo.Options{Now: func() time.Time { return now }})
	store.SkipWaits()
	return store, s
}

var now = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)

func (s *script) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		s.t.Errorf("read request: %v", err)
	}
	_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	asked := request{operation: operation, body: string(body)}
	if err := json.Unmarshal(body, &asked.fields); err != nil {
		s.t.Errorf("%s: %v", operation, err)
	}
	s.mu.Lock()
	a := s.answers[min(len(s.seen), len(s.answers)-1)]
	s.seen = append(s.seen, asked)
	s.mu.Unlock()
	if a == hangUp {
		panic(http.ErrAbortHandler)
	}
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	w.WriteHeader(a.status)
	if _, err := io.WriteString(w, a.body); err != nil {
		s.t.Errorf("answer: %v", err)
	}
}

func (s *script) requests() []request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seen
}

func key(sort string) table.Key {
	return table.Key{Table: table.Documents, Partition: "p", Sort: sort}
}

var (
	onePut = []table.Op{table.Put{Item: table.Item{Key: key("a"), Version: 2}, If: table.Absent()}}
	oneAdd = []table.Op{table.Add{Key: key("a"), By: map[string]int64{"n": 1}}}
	two    = []table.Op{onePut[0], table.Check{Key: key("b"), If: table.Absent()}}
)
