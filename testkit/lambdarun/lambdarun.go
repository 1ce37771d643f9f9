// Package lambdarun runs the unmodified bootstrap binaries of Lambda functions
// on this machine. It stands in for three services: the Runtime API that Lambda
// gives a process (Function), a regional REST API with proxy integrations in
// front of functions (Gateway), and an SQS event source mapping (Deliver).
//
// It does not emulate permissions, memory and CPU limits, freezing
// between invocations, scaling beyond Options.Processes, response compression.
package lambdarun

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"
)

// The limits of Lambda.
const (
	MaxEvent    = 6 << 20          // bytes of a synchronous event, and of a response
	initTimeout = 10 * time.Second // from the start of a process to its first poll
)

// Errors for errors.Is.
var (
	// ErrTimeout means that the process had not answered at the deadline and was killed.
	ErrTimeout = errors.New("task timed out")
	// ErrExited means that the process ended before it answered.
	ErrExited = errors.New("process ended")
	// ErrInit means that a process did not reach its first poll.
	ErrInit = errors.New("process did not start")
	// ErrTooLarge means that the event is larger than MaxEvent.
	ErrTooLarge = errors.New("event too large")
	// ErrClosed means that the function is closed.
	ErrClosed = errors.New("function is closed")
)

// FunctionError is an error that the function itself returned.
type FunctionError struct{ Type, Message string }

func (e *FunctionError) Error() string { return e.Type + ": " + e.Message }

// Invoker answers one event; (*Function).Invoke is one.
type Invoker func(ctx context.Context, event []byte) ([]byte, error)

// Streamer answers one event with a stream; (*Function).InvokeStream is one.
type Streamer func(ctx context.Context, event []byte, body io.Writer) error

// Options of a function. Zero values are the defaults.
type Options struct {
	Name      string            // of the function; empty: "function"
	Env       map[string]string // in addition to what Lambda sets; no variable of this process is passed on
	Timeout   time.Duration     // of an invocation; 0: 30 s
	Init      time.Duration     // from the start of a process to its first poll; 0: 10 s
	Processes int               // at the same time; 0: 1
	MemoryMB  int               // reported to the process, not enforced; 0: 512
	Log       io.Writer         // receives what the processes print, concurrently; nil: nothing does
}

// Function is one Lambda function: up to Options.Processes processes of a binary, started when needed, each
// handling one event at a time.
type Function struct {
	ctx    context.Context
	binary string
	o      Options
	slots  chan struct{} // one element per process in use

	mu     sync.Mutex
	idle   []*process
	living map[*process]bool
	starts []time.Duration // from start to first poll, in order
	closed bool
}

// Start starts the first process of binary, so that its failure is returned here, as ErrInit. All processes are
// killed when ctx ends, at Close, and when this process ends for any reason.
func Start(ctx context.Context, binary string, o Options) (*Function, error) {
	if o.Name == "" {
		o.Name = "function"
	}
	if o.Timeout == 0 {
		o.Timeout = 30 * time.Second
	}
	if o.Init == 0 {
		o.Init = initTimeout
	}
	if o.Processes == 0 {
		o.Processes = 1
	}
	if o.MemoryMB == 0 {
		o.MemoryMB = 512
	}
	if o.Log == nil {
		o.Log = io.Discard
	}
	f := &Function{ctx: ctx, binary: binary, o: o, slots: make(chan struct{}, o.Processes), living: map[*process]bool{}}
	p, err := f.take()
	if err != nil {
		return nil, err
	}
	f.put(p)
	return f, nil
}

// Invoke sends event to a process and returns its response. It waits while all are busy. If ctx ends first, the
// process is killed.
func (f *Function) Invoke(ctx context.Context, event []byte) ([]byte, error) {
	return f.invoke(ctx, event, nil)
}

// InvokeStream is Invoke that writes the response to body while the function sends it, as an integration with the
// response transfer mode STREAM reads it: the status and the headers as JSON, eight zero bytes, and the body.
func (f *Function) InvokeStream(ctx context.Context, event []byte, body io.Writer) error {
	_, err := f.invoke(ctx, event, body)
	return err
}

func (f *Function) invoke(ctx context.Context, event []byte, body io.Writer) ([]byte, error) {
	if len(event) > MaxEvent {
		return nil, fmt.Errorf("%w: %d bytes", ErrTooLarge, len(event))
	}
	select {
	case f.slots <- struct{}{}:
		defer func() { <-f.slots }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	p, err := f.take()
	if err != nil {
		return nil, err
	}
	defer f.put(p)
	return p.invoke(ctx, event, f.o.Timeout, body)
}

// take returns a process that is waiting for an event.
func (f *Function) take() (*process, error) {
	f.mu.Lock()
	if f.closed {
		f.mu.Unlock()
		return nil, ErrClosed
	}
	for len(f.idle) > 0 {
		p := f.idle[len(f.idle)-1]
		f.idle = f.idle[:len(f.idle)-1]
		if p.alive() {
			f.mu.Unlock()
			return p, nil
		}
		delete(f.living, p)
	}
	f.mu.Unlock()
	begin := time.Now()
	p, err := startProcess(f.ctx, f.binary, f.o)
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.starts = append(f.starts, time.Since(begin))
	f.living[p] = true
	if f.closed {
		p.kill()
		return nil, ErrClosed
	}
	return p, nil
}

func (f *Function) put(p *process) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !p.alive() {
		delete(f.living, p)
		return
	}
	f.idle = append(f.idle, p)
}

// Kill kills all processes and returns when they have ended. Events in progress fail with ErrExited; the next
// Invoke starts a new process.
func (f *Function) Kill() {
	f.mu.Lock()
	living := make([]*process, 0, len(f.living))
	for p := range f.living {
		living = append(living, p)
	}
	f.mu.Unlock()
	for _, p := range living {
		p.kill()
	}
}

// Close kills all processes. After that Invoke fails.
func (f *Function) Close() {
	f.mu.Lock()
	f.closed = true
	f.mu.Unlock()
	f.Kill()
}

// Starts returns the time from start to first poll of each process, in the order of their starts.
func (f *Function) Starts() []time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.starts)
}

// PeakMemory returns the largest resident size of a living process so far, in bytes, or 0 if the system does not
// report it.
func (f *Function) PeakMemory() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	var most int64
	for p := range f.living {
		most = max(most, peakMemory(p.cmd.Process.Pid))
	}
	return most
}
