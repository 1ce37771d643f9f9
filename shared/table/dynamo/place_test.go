package dynamo_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"docent/shared/memory/memorytest"
	"docent/shared/table"
	"docent/shared/table/dynamo"
	"docent/testkit/moto"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// TestWaitingForDynamoDBTakesNoPlace: the process handles other requests during a call, and the place is taken again
// after it.
func TestWaitingForDynamoDBTakesNoPlace(t *testing.T) {
	t.Parallel()
	ctx, places := memorytest.OnePlace(t)
	var calls atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		calls.Add(1)
		if held := places.Held(); held != 0 {
			t.Errorf("%d places are taken during a call", held)
		}
		w.Header().Set("Content-Type", "application/x-amz-json-1.0")
		_, _ = io.WriteString(w, `{}`)
	}))
	defer server.Close()
	store := dynamo.New(dynamodb.NewFromConfig(moto.Config(server.URL)), dynamo.Options{Now: func() time.Time { return now }})
	for name, call := range map[string]func(context.Context) error{
		"write":    func(ctx context.Context) error { return store.Write(ctx, onePut...) },
		"batchGet": func(ctx context.Context) error { _, err := store.BatchGet(ctx, []table.Key{key("a")}); return err },
	} {
		if err := call(ctx); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if held := places.Held(); held != 1 {
			t.Errorf("%s: %d places are taken after the call", name, held)
		}
	}
	if calls := calls.Load(); calls != 2 {
		t.Errorf("%d calls, want 2", calls)
	}
}
