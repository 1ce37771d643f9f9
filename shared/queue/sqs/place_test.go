package sqs_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"docent/shared/memory/memorytest"
	"docent/shared/queue"
	"docent/shared/queue/sqs"
	"docent/testkit/moto"

	awssqs "github.com/aws/aws-sdk-go-v2/service/sqs"
)

// TestSendingTakesNoPlace: the process handles other requests while one sends, and the place is taken again after
// it.
func TestSendingTakesNoPlace(t *testing.T) {
	t.Parallel()
	ctx, places := memorytest.OnePlace(t)
	var during atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		during.Store(1 + places.Held())
		w.Header().Set("Content-Type", "application/x-amz-json-1.0")
		_, _ = io.WriteString(w, noneOf)
	}))
	t.Cleanup(server.Close)
	q := sqs.New(awssqs.NewFromConfig(moto.Config(server.URL)), server.URL+"/queue")
	if err := q.Send(ctx, queue.Outgoing{Body: []byte("a")}); err != nil {
		t.Fatal(err)
	}
	if during := during.Load() - 1; during != 0 || places.Held() != 1 {
		t.Errorf("%d places are taken during the call, %d afterwards", during, places.Held())
	}
}
