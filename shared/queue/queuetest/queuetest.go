// Package queuetest is the contract suite of queue.Queue, which every engine passes. It waits
// by receiving, never by sleeping, so it also runs on the fake clock of a synctest bubble.
package queuetest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"docent/shared/queue"
)

// Fixture is an empty queue with access to its dead letters.
type Fixture struct {
	Queue queue.Queue
	// Dead returns the bodies of the dead letters. If the engine needs time, it waits a moment
	// for the first one.
	Dead func(ctx context.Context) ([]string, error)
}

// Options says how to run the suite on an engine.
type Options struct {
	// Open makes an empty queue with that visibility timeout, in whole seconds.
	Open func(t *testing.T, visibility time.Duration) Fixture
	// Around runs one case, in a synctest bubble for instance; nil: directly.
	Around func(t *testing.T, run func(t *testing.T))
	// ForgetsDone skips Retry of a message that is done, for a server that reports its receipt
	// as malformed, as moto does and SQS does not.
	ForgetsDone bool
	// Unfair skips that groups take turns, for a server that accepts groups and ignores them, as
	// moto does and SQS does not.
	Unfair bool
	// MayRepeat lets a message be delivered twice before its visibility timeout, as a standard
	// SQS queue may do, and as moto does if two receivers ask at the same moment.
	MayRepeat bool
}

const (
	short = time.Second      // a visibility timeout that a case waits out
	long  = 30 * time.Second // one that no case reaches
	// soon is much longer than an engine needs without waiting, and much shorter than
	// queue.MaxWait.
	soon = 10 * time.Second
)

// Run tests the engine.
func Run(t *testing.T, o Options) {
	cases := []struct {
		name       string
		visibility time.Duration
		run        func(t *testing.T, f Fixture)
	}{
		{"what is sent is received", long, roundTrip},
		{"an empty queue gives nothing", long, empty},
		{"batches of ten", long, batches},
		{"sizes and texts", long, sizes},
		{"what is refused stores nothing", long, refusals},
		{"a delayed message waits", long, delays},
		{"redelivery after the visibility timeout", short, redelivery},
		{"retry makes visible after the delay", long, retries},
		{"dead letter after five deliveries", long, deadLetter},
		{"dead letter if no delivery is settled", short, abandoned},
		{"retry of what is done", long, retryDone},
		{"a deleted message never comes again", short, deleted},
		{"only what failed comes again", long, partialFailure},
		{"a waiting receiver wakes", long, waking},
		{"eight receivers share the messages", long, func(t *testing.T, f Fixture) { sharing(t, f, o.MayRepeat) }},
		{"groups are accepted", long, groups},
		{"groups take turns", long, takingTurns},
		{"a group's messages come again in its turn", long, groupsAgain},
		{"cancelled context", long, cancelled},
		{"calls are counted", long, counted},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if o.ForgetsDone && c.name == "retry of what is done" {
				t.Skip("the server does not distinguish a deleted message from a malformed receipt")
			}
			if o.Unfair && c.name == "groups take turns" {
				t.Skip("the server does not look at groups")
			}
			around := o.Around
			if around == nil {
				around = func(t *testing.T, run func(t *testing.T)) { run(t) }
			}
			around(t, func(t *testing.T) { c.run(t, o.Open(t, c.visibility)) })
		})
	}
}

func (f Fixture) send(t *testing.T, bodies ...string) {
	t.Helper()
	var messages []queue.Outgoing
	for _, body := range bodies {
		messages = append(messages, queue.Outgoing{Body: []byte(body)})
	}
	if err := f.Queue.Send(t.Context(), messages...); err != nil {
		t.Fatalf("Send: %v", err)
	}
}

// receive waits for the next message and returns it.
func (f Fixture) receive(t *testing.T) queue.Message {
	t.Helper()
	return f.receiveAll(t, 1)[0]
}

// receiveAll returns n messages, in as many receives as it takes.
func (f Fixture) receiveAll(t *testing.T, n int) []queue.Message {
	t.Helper()
	var all []queue.Message
	for len(all) < n {
		got, err := f.Queue.Receive(t.Context(), min(n-len(all), queue.MaxBatch), soon)
		if err != nil {
			t.Fatalf("Receive: %v", err)
		}
		if len(got) == 0 {
			t.Fatalf("received %d messages, want %d", len(all), n)
		}
		all = append(all, got...)
	}
	return all
}

// wantNone fails when a message can be received within wait.
func (f Fixture) wantNone(t *testing.T, wait time.Duration) {
	t.Helper()
	got, err := f.Queue.Receive(t.Context(), queue.MaxBatch, wait)
	if err != nil {
		t.Fatalf("Receive: %v", err)
	}
	if len(got) > 0 {
		t.Fatalf("received %d messages, the first %.40q for the %d. time; want none", len(got), got[0].Body, got[0].Receives)
	}
}

func (f Fixture) done(t *testing.T, messages ...queue.Message) {
	t.Helper()
	if err := f.Queue.Done(t.Context(), messages...); err != nil {
		t.Fatalf("Done: %v", err)
	}
}

func (f Fixture) retry(t *testing.T, delay time.Duration, messages ...queue.Message) {
	t.Helper()
	if err := f.Queue.Retry(t.Context(), delay, messages...); err != nil {
		t.Fatalf("Retry: %v", err)
	}
}

// wantDead fails the test unless body is the only dead letter.
func (f Fixture) wantDead(t *testing.T, body string) {
	t.Helper()
	got, err := f.Dead(t.Context())
	if err != nil {
		t.Fatalf("dead letters: %v", err)
	}
	if !slices.Equal(got, []string{body}) {
		t.Errorf("dead letters %q, want only %q", got, body)
	}
}

func wantInvalid(t *testing.T, what string, err error) {
	t.Helper()
	if !errors.Is(err, queue.ErrInvalid) {
		t.Errorf("%s: error %v, want ErrInvalid", what, err)
	}
}

func numbered(n int) []string {
	bodies := make([]string, n)
	for i := range bodies {
		bodies[i] = fmt.Sprintf("message %02d", i)
	}
	return bodies
}

func bodiesOf(messages []queue.Message) []string {
	var bodies []string
	for _, m := range messages {
		bodies = append(bodies, string(m.Body))
	}
	slices.Sort(bodies)
	return bodies
}

// quiet keeps the failures that cases cause on purpose out of the output.
var quiet = slog.New(slog.DiscardHandler)
