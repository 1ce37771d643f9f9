package lambdarun

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"time"

	"github.com/google/uuid"
)

// region is the default region of functions.
const region = "us-east-1"

// process is one execution environment: a process and the Runtime API that it
// polls.
type process struct {
	name   string
	cmd    *exec.Cmd
	server *http.Server
	next   chan *invocation
	polled chan struct{} // closed at the first poll
	failed chan error    // receives the process's report of a failed start
	exited chan struct{} // closed when it has ended
	tail   *tail

	mu      sync.Mutex
	started bool        // has polled
	current *invocation // handed out and not answered yet
}

// invocation is one event in progress.
type invocation struct {
	id       string
	event    []byte
	deadline time.Time
	result   chan result
	body     io.Writer // receives the response while it is sent; nil: result has it
}

type result struct {
	response []byte
	err      error
}

// startProcess starts a process and returns when it polls for its first event.
func startProcess(ctx context.Context, binary string, o Options) (*process, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	p := &process{name: o.Name, next: make(chan *invocation), polled: make(chan struct{}), failed: make(chan error, 1),
		exited: make(chan struct{}), tail: &tail{also: o.Log}}
	p.server = &http.Server{Handler: p.runtimeAPI(), ReadHeaderTimeout: initTimeout}
	go func() { _ = p.server.Serve(listener) }() // until Close
	p.cmd = exec.CommandContext(ctx, binary)
	p.cmd.Env = environment(binary, listener.Addr().String(), o)
	p.cmd.Stdout, p.cmd.Stderr = p.tail, p.tail
	p.cmd.SysProcAttr = dieWithParent()
	if err := p.run(); err != nil {
		return nil, errors.Join(fmt.Errorf("%w: %w", ErrInit, err), p.server.Close())
	}
	limit := time.NewTimer(o.Init)
	defer limit.Stop()
	select {
	case <-p.polled:
		return p, nil
	case err = <-p.failed:
	case <-p.exited:
		select {
		case err = <-p.failed:
		default:
			err = p.ending()
		}
	case <-limit.C:
		err = fmt.Errorf("no poll within %s", o.Init)
	}
	p.kill()
	return nil, fmt.Errorf("%w: %w", ErrInit, err)
}

// run starts the process and waits for its end. One thread does both: the system kills the process when the thread
// that started it ends.
func (p *process) run() error {
	begun := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := p.cmd.Start()
		begun <- err
		if err != nil {
			return
		}
		_ = p.cmd.Wait() // ending reads the result
		close(p.exited)
		_ = p.server.Close()
	}()
	return <-begun
}

func (p *process) alive() bool {
	select {
	case <-p.exited:
		return false
	default:
		return true
	}
}

// kill kills the process and returns when it has ended.
func (p *process) kill() {
	_ = p.cmd.Process.Kill() // it may have ended already
	<-p.exited
}

// ending returns how the process ended. It must have ended.
func (p *process) ending() error {
	return fmt.Errorf("%w: %s: %s", ErrExited, p.cmd.ProcessState, p.tail)
}

func (p *process) invoke(ctx context.Context, event []byte, timeout time.Duration, body io.Writer) ([]byte, error) {
	inv := &invocation{id: uuid.NewString(), event: event, deadline: time.Now().Add(timeout), result: make(chan result, 1), body: body}
	limit := time.NewTimer(timeout)
	defer limit.Stop()
	next := p.next
	for {
		select {
		case next <- inv:
			next = nil // handed over; now wait for its result
		case r := <-inv.result:
			return r.response, r.err
		case <-p.exited:
			select {
			case r := <-inv.result: // it answered first
				return r.response, r.err
			default:
				return nil, p.ending()
			}
		case <-limit.C:
			p.kill()
			return nil, fmt.Errorf("%w after %s", ErrTimeout, timeout)
		case <-ctx.Done():
			p.kill()
			return nil, ctx.Err()
		}
	}
}

// environment returns the variables that Lambda sets, and o.Env.
func environment(binary, api string, o Options) []string {
	set := map[string]string{
		"AWS_LAMBDA_RUNTIME_API": api, "AWS_LAMBDA_FUNCTION_NAME": o.Name, "AWS_LAMBDA_FUNCTION_VERSION": "$LATEST",
		"AWS_LAMBDA_FUNCTION_MEMORY_SIZE": strconv.Itoa(o.MemoryMB), "AWS_LAMBDA_LOG_GROUP_NAME": "/aws/lambda/" + o.Name,
		"AWS_REGION": region, "AWS_DEFAULT_REGION": region, "AWS_EXECUTION_ENV": "AWS_Lambda_provided.al2023",
		"_HANDLER": "bootstrap", "LAMBDA_TASK_ROOT": filepath.Dir(binary), "TZ": ":UTC", "LANG": "en_US.UTF-8",
		"PATH": "/usr/local/bin:/usr/bin:/bin", "TMPDIR": os.TempDir(),
	}
	for name, value := range o.Env {
		set[name] = value
	}
	out := make([]string, 0, len(set))
	for name, value := range set {
		out = append(out, name+"="+value)
	}
	return out
}

// tail keeps the end of what a process prints, for error messages.
type tail struct {
	mu   sync.Mutex
	last []byte
	also interface{ Write([]byte) (int, error) }
}

const tailBytes = 4 << 10

func (t *tail) Write(text []byte) (int, error) {
	t.mu.Lock()
	t.last = append(t.last, text...)
	t.last = bytes.Clone(t.last[max(0, len(t.last)-tailBytes):])
	t.mu.Unlock()
	return t.also.Write(text)
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(bytes.TrimSpace(t.last))
}
