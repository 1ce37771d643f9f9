package httpapi_test

import (
	"context"
	"testing"
	"time"
)

// polling is more looks at the clock than a request needs without waiting.
const polling = 40

func TestALongPollEndsWithTheWork(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	a.ask(acme.key, numberedID(1), "Who?").want(t, 204)
	isPolling := a.clock.After(polling)
	replied := make(chan response, 1)
	go func() {
		replied <- a.do(call{"GET", "/answers/" + numberedID(1), acme.key, nil, map[string]string{"Prefer": "wait=20"}})
	}()
	select {
	case <-isPolling: // the clock does not move now, so only the answer can end the wait
	case reply := <-replied:
		t.Fatalf("it did not wait: %s", reply.body)
	}
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		a.drain()
	}()
	reply := (<-replied).want(t, 200)
	<-drained // it reads on after the answer, and the test's end would cut it off
	if reply.text(t, "state") != "complete" || reply.Header.Get("Preference-Applied") != "wait=20" || reply.Header.Get("Retry-After") != "" {
		t.Errorf("reply %s %v", reply.body, reply.Header)
	}
}

func TestALongPollEndsWhenTheQuestionIsDeleted(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	a.ask(acme.key, numberedID(1), "Who?").want(t, 204)
	isPolling := a.clock.After(polling)
	replied := make(chan response, 1)
	go func() {
		replied <- a.do(call{"GET", "/answers/" + numberedID(1), acme.key, nil, map[string]string{"Prefer": "wait=20"}})
	}()
	<-isPolling
	a.do(call{"DELETE", "/answers/" + numberedID(1), acme.key, nil, nil}).want(t, 204)
	(<-replied).wantCode(t, 404, "not-found")
}

func TestALongPollEndsWithItsClient(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	a.ask(acme.key, numberedID(1), "Who?").want(t, 204)
	ctx, leave := context.WithCancel(t.Context())
	isPolling := a.clock.After(polling)
	replied := make(chan response, 1)
	go func() {
		replied <- a.doContext(ctx, call{"GET", "/answers/" + numberedID(1), acme.key, nil, map[string]string{"Prefer": "wait=20"}})
	}()
	<-isPolling
	leave()
	<-replied // the reply is not checked
}

func TestPrefer(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		prefer, applied string
		waits           time.Duration
	}{
		{"", "", 0}, {"wait=7", "wait=7", 7 * time.Second}, {"Wait=3", "wait=3", 3 * time.Second}, {"wait=0", "wait=0", 0},
		{"wait=20", "wait=20", 20 * time.Second}, {"wait=21", "wait=20", 20 * time.Second},
		{"wait=99999999999999999999999", "wait=20", 20 * time.Second}, {`wait="5"`, "wait=5", 5 * time.Second},
		{"respond-async, wait=4", "wait=4", 4 * time.Second}, {"wait=4;foo=bar", "wait=4", 4 * time.Second}, {"handling=lenient,wait = 4", "wait=4", 4 * time.Second},
		{`note="a, wait=9", wait=4`, "wait=4", 4 * time.Second}, {`note="a\", wait=9"`, "", 0}, {`note="a, wait=9`, "", 0}, {`wait=4;x="a, b"`, "wait=4", 4 * time.Second},
		{"wait", "", 0}, {"wait=", "", 0}, {"wait=-1", "", 0}, {"wait=1.5", "", 0}, {"wait=soon", "", 0}, {"wait=+5", "", 0},
		{"waiting=5", "", 0}, {"wait=5s", "", 0}, {"respond-async", "", 0}, {",;=,", "", 0}, {"\xff", "", 0},
	} {
		t.Run(tt.prefer, func(t *testing.T) {
			t.Parallel()
			a := newAPI(t)
			acme := a.newTenant("acme")
			a.ask(acme.key, numberedID(1), "Who?").want(t, 204)
			const step = 250 * time.Millisecond
			a.clock.Step(step)
			start := a.clock.Now()
			reply := a.do(call{"GET", "/answers/" + numberedID(1), acme.key, nil, map[string]string{"Prefer": tt.prefer}}).want(t, 200)
			took := a.clock.Now().Sub(start)
			if got := reply.Header.Get("Preference-Applied"); got != tt.applied {
				t.Errorf("Preference-Applied %q, want %q", got, tt.applied)
			}
			if reply.text(t, "state") != "processing" || reply.Header.Get("Retry-After") != "2" {
				t.Errorf("reply %s %v", reply.body, reply.Header)
			}
			if took < tt.waits || took > tt.waits+polling*step {
				t.Errorf("took %s, want %s", took, tt.waits)
			}
			a.drain()
			if done := a.do(call{"GET", "/answers/" + numberedID(1), acme.key, nil, map[string]string{"Prefer": tt.prefer}}).want(t, 200); done.text(t, "state") != "complete" {
				t.Errorf("after the work: %s", done.body)
			}
		})
	}
	// An unknown id is not waited for.
	a := newAPI(t)
	acme := a.newTenant("acme")
	a.refused(call{"GET", "/answers/" + unknownID, acme.key, nil, map[string]string{"Prefer": "wait=20"}}, 404, "not-found")
}
