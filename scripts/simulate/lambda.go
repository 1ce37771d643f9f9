package simulate

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"docent/shared/pause"
	"docent/shared/queue"
)

// ErrTooMany reports an invocation above the concurrency of the account or of the function.
var ErrTooMany = errors.New("Lambda: too many requests") //nolint:staticcheck // a name

// Account bounds the executions of all functions together.
type Account struct {
	mu       sync.Mutex
	limit    int // not reserved by a function
	inUse    int
	mostUsed int
}

// NewAccount returns an account with the default limit.
func NewAccount() *Account { return &Account{limit: accountConcurrency} }

// Most returns the most executions at a time so far, those of functions with a reservation not counted.
func (a *Account) Most() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.mostUsed
}

// Spec is a function as the stack deploys it.
type Spec struct {
	Name     string
	Memory   int // MB
	Timeout  time.Duration
	Reserved int // concurrency that is taken out of the account's for it alone, and its limit; 0: none
}

// Function is a function of Lambda, whose program is of type P. Each environment has a program of its own, with its own
// caches, and handles one event at a time.
type Function[P any] struct {
	Spec
	account *Account
	chance  *Chance
	start   func() P

	mu    sync.Mutex
	idle  []environment[P] // the one used last at the end
	inUse int
	used  Invocations
}

// Invocations is a summary of the invocations of a Function.
type Invocations struct {
	Done, Cold, Refused, MostAtOnce int
	Billed                          time.Duration
}

type environment[P any] struct {
	program P
	since   time.Time
}

// NewFunction returns a function without environments, whose program start makes.
func NewFunction[P any](s Spec, a *Account, chance *Chance, start func() P) *Function[P] {
	if s.Reserved > 0 {
		a.limit -= s.Reserved
	}
	return &Function[P]{Spec: s, account: a, chance: chance, start: start}
}

// Used returns what the invocations were so far.
func (f *Function[P]) Used() Invocations {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.used
}

// processor returns how long the environment's share of a processor needs for what takes d on a whole one.
func (f *Function[P]) processor(d time.Duration) time.Duration {
	return d * megabytesPerProcessor / time.Duration(min(f.Memory, megabytesPerProcessor))
}

// Invoke runs do in an environment, and lets the time pass that it computes. It returns ErrTooMany if there is no room for
// another execution.
func (f *Function[P]) Invoke(ctx context.Context, compute time.Duration, do func(context.Context, P)) error {
	if !f.begin() {
		return ErrTooMany
	}
	defer f.end()
	env, warm := f.environment()
	if !warm {
		if err := f.chance.take(ctx, environmentStart); err != nil {
			return err
		}
		if f.chance.takesTime() {
			_ = pause.For(ctx, f.processor(programStart)) // do meets the end of ctx
		}
		env.program = f.start()
	}
	if err := f.chance.take(ctx, invokeLatency); err != nil {
		return err
	}
	begun := time.Now()
	limited, cancel := context.WithTimeout(ctx, f.Timeout)
	defer cancel()
	if f.chance.takesTime() {
		_ = pause.For(limited, f.processor(compute))
	}
	do(limited, env.program)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.used.Done++
	f.used.Billed += time.Since(begun)
	if !warm {
		f.used.Cold++
	}
	env.since = time.Now()
	f.idle = append(f.idle, env)
	return nil
}

func (f *Function[P]) begin() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.Reserved > 0 {
		if f.inUse >= f.Reserved {
			f.used.Refused++
			return false
		}
	} else {
		f.account.mu.Lock()
		defer f.account.mu.Unlock()
		if f.account.inUse >= f.account.limit {
			f.used.Refused++
			return false
		}
		f.account.inUse++
		f.account.mostUsed = max(f.account.mostUsed, f.account.inUse)
	}
	f.inUse++
	f.used.MostAtOnce = max(f.used.MostAtOnce, f.inUse)
	return true
}

func (f *Function[P]) end() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.inUse--
	if f.Reserved == 0 {
		f.account.mu.Lock()
		defer f.account.mu.Unlock()
		f.account.inUse--
	}
}

// environment takes the idle environment that was used last. Those that were idle for keepIdle are gone.
func (f *Function[P]) environment() (e environment[P], warm bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	gone := 0
	for gone < len(f.idle) && time.Since(f.idle[gone].since) > keepIdle {
		gone++
	}
	f.idle = f.idle[gone:]
	if len(f.idle) == 0 {
		return e, false
	}
	e = f.idle[len(f.idle)-1]
	f.idle = f.idle[:len(f.idle)-1]
	return e, true
}

// Worker handles the batches of a queue.
type Worker func(context.Context, events.SQSEvent) (events.SQSEventResponse, error)

// Source is an event source mapping: it gives the messages of a queue to a function.
type Source struct {
	Queue    *Queue
	Function *Function[Worker]
	Batch    int           // messages of one event
	Most     int           // batches at a time; 0: AWS's limit
	Compute  time.Duration // for each message
}

// Run delivers messages until ctx ends, and waits for those in progress.
func (s Source) Run(ctx context.Context) {
	var pollers sync.WaitGroup
	defer pollers.Wait()
	most := s.Most
	if most == 0 {
		most = accountConcurrency
	}
	running := 0
	for {
		for want := min(most, max(firstPollers, running+s.more(running))); running < want; running++ {
			pollers.Go(func() { s.poll(ctx) })
		}
		if pause.For(ctx, time.Second) != nil {
			return
		}
	}
}

// more returns how many pollers are added in a second, while there are messages that wait.
func (s Source) more(running int) int {
	if s.Queue.Waiting() > running*s.Batch {
		return pollersPerMinute / 60
	}
	return 0
}

func (s Source) poll(ctx context.Context) {
	faults := 0
	for ctx.Err() == nil {
		batch, err := s.Queue.Receive(ctx, s.Batch, queue.MaxWait)
		if err != nil || len(batch) == 0 {
			continue
		}
		for {
			err := s.handle(context.WithoutCancel(ctx), batch)
			if !errors.Is(err, ErrTooMany) || ctx.Err() != nil {
				break
			}
			faults++
			_ = pause.For(ctx, queue.Backoff(faults)) // the loop checks ctx
		}
		faults = 0
	}
}

// handle gives batch to the function, and deletes the messages that it handled. The others come again when they are
// visible.
func (s Source) handle(ctx context.Context, batch []queue.Message) error {
	event := eventOf(batch)
	var response events.SQSEventResponse
	err := s.Function.Invoke(ctx, s.Compute*time.Duration(len(batch)), func(ctx context.Context, w Worker) {
		response, _ = w(ctx, event) // its error is always nil
	})
	if err != nil {
		return err
	}
	failed := map[string]bool{}
	for _, f := range response.BatchItemFailures {
		failed[f.ItemIdentifier] = true
	}
	var done []queue.Message
	for _, m := range batch {
		if !failed[m.ID] {
			done = append(done, m)
		}
	}
	if len(done) == 0 {
		return nil
	}
	return s.Queue.Done(ctx, done...)
}
