package app

import (
	"context"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"docent/shared/httpapi"
	"docent/shared/memory"
	"docent/shared/queue"
)

func TestWorkRestsWhileRequestsOfItsProcessAreHandled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := &process{room: httpapi.NewRoom()}
		requests := p.room.Places.Lease("team")
		if err := requests.Try(int64(runtime.NumCPU())); err != nil {
			t.Fatal(err)
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			p.resting(func(ctx context.Context, _ []queue.Message) []string {
				memory.Rest(ctx, time.Minute)
				return nil
			})(t.Context(), nil)
		}()
		synctest.Wait()
		select {
		case <-done:
			t.Error("it did not rest")
		default:
		}
		requests.End()
		began := time.Now()
		<-done
		if took := time.Since(began); took > time.Second {
			t.Errorf("it resumed %v after the requests", took)
		}
	})
}
