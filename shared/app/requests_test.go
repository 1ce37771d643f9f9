package app

import (
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/uuid"

	"docent/shared/table/dynamo"
	"docent/testkit/moto"
)

// requestCounter counts the requests of an HTTP client.
type requestCounter struct{ n atomic.Int64 }

func (c *requestCounter) RoundTrip(r *http.Request) (*http.Response, error) {
	c.n.Add(1)
	return http.DefaultTransport.RoundTrip(r)
}

// TestEveryCallIsOneRequest runs the operations with ceilings on the DynamoDB engine and a
// protocol server: each counted call is one request there. Units are not compared, because that
// server reports one unit for any size.
func TestEveryCallIsOneRequest(t *testing.T) {
	t.Parallel()
	endpoint := moto.Start(t)
	counter := &requestCounter{}
	config := moto.Config(endpoint)
	config.HTTPClient = &http.Client{Transport: counter}
	store := dynamo.New(dynamodb.NewFromConfig(config), dynamo.Options{Prefix: uuid.NewString() + "-"})
	if err := store.CreateTables(t.Context()); err != nil {
		t.Fatal(err)
	}
	p := &pace{requests: func() int { return int(counter.n.Load()) }}
	c := newCosts(t, 1, p, func(e engines, p *pace) engines {
		e.table = store
		return paced(e, p)
	})
	for _, test := range costCases {
		got := test.run(c)
		calls := slices.DeleteFunc(slices.Clone(got.calls), func(name string) bool {
			return name == "send" || strings.Contains(name, "blob")
		})
		if len(calls) == 0 || got.requests != len(calls) {
			t.Errorf("%s: %d requests for the calls %q", test.operation, got.requests, calls)
		}
	}
}
