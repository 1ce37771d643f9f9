package lambdarun_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambdacontext"

	"docent/shared/logtest"
	"docent/testkit/lambdarun"
)

// TestMain lets this test binary act as the function that its tests run.
func TestMain(m *testing.M) {
	switch os.Getenv("ROLE") {
	case "":
		os.Exit(m.Run())
	case "function":
		lambda.Start(function)
	case "parent":
		parent()
	case "exits":
		log.Fatal("no table prefix")
	case "reports":
		report()
	case "sleeps":
		select {}
	}
}

// order is an instruction of a test to the function.
type order struct {
	Do, To string
	Event  json.RawMessage
}

func function(ctx context.Context, text json.RawMessage) (any, error) {
	var o order
	if err := json.Unmarshal(text, &o); err != nil {
		return nil, err
	}
	switch o.Do {
	case "env":
		lc, _ := lambdacontext.FromContext(ctx)
		deadline, _ := ctx.Deadline()
		return map[string]any{"name": lambdacontext.FunctionName, "memory": lambdacontext.MemoryLimitInMB, "id": lc.AwsRequestID,
			"arn": lc.InvokedFunctionArn, "left": time.Until(deadline).Seconds(), "pid": os.Getpid(), "home": os.Getenv("HOME"),
			"mine": os.Getenv("MINE")}, nil
	case "fail":
		return nil, errors.New("told to")
	case "panic":
		panic("told to")
	case "exit":
		fmt.Fprintln(os.Stderr, "last words")
		os.Exit(3)
	case "long":
		return strings.Repeat("x", lambdarun.MaxEvent), nil
	case "hang":
		connect(o.To)
	}
	return o, nil
}

// connect tells the test that this process is working, and never returns.
func connect(address string) {
	c, err := net.Dial("tcp", address)
	if err != nil {
		log.Fatal(err)
	}
	_, _ = c.Read(make([]byte, 1))
	select {}
}

// parent runs a function that hangs, until parent itself is killed.
func parent() {
	f, err := lambdarun.Start(context.Background(), os.Args[0], lambdarun.Options{Env: map[string]string{"ROLE": "function"}})
	if err != nil {
		log.Fatal(err)
	}
	_, err = f.Invoke(context.Background(), fmt.Appendf(nil, `{"Do":"hang","To":%q}`, os.Getenv("TO")))
	log.Fatal(err)
}

func report() {
	r, err := http.Post("http://"+os.Getenv("AWS_LAMBDA_RUNTIME_API")+"/2018-06-01/runtime/init/error", "application/json",
		strings.NewReader(`{"errorMessage":"no bucket","errorType":"Config.Missing"}`))
	if err != nil {
		log.Fatal(err)
	}
	r.Body.Close()
	select {}
}

func start(t *testing.T, o lambdarun.Options) *lambdarun.Function {
	t.Helper()
	if o.Env == nil {
		o.Env = map[string]string{}
	}
	o.Env["ROLE"] = "function"
	f, err := lambdarun.Start(context.Background(), os.Args[0], o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	return f
}

func TestTheProcessGetsTheEnvironmentOfLambda(t *testing.T) {
	t.Parallel()
	f := start(t, lambdarun.Options{Name: "answers", Env: map[string]string{"MINE": "yes"}, MemoryMB: 1024, Timeout: 20 * time.Second})
	var got struct {
		Name, ID, ARN, Home, Mine string
		Memory, PID               int
		Left                      float64
	}
	pid := 0
	for range 2 {
		answer, err := f.Invoke(t.Context(), []byte(`{"Do":"env"}`))
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(answer, &got); err != nil {
			t.Fatal(err)
		}
		if got.Name != "answers" || got.Memory != 1024 || len(got.ID) != 36 || !strings.HasSuffix(got.ARN, ":function:answers") ||
			got.Left <= 0 || got.Left > 20 || got.Home != "" || got.Mine != "yes" {
			t.Errorf("%+v", got)
		}
		if pid != 0 && got.PID != pid {
			t.Error("another process handled the second event")
		}
		pid = got.PID
	}
	if starts := f.Starts(); len(starts) != 1 || starts[0] <= 0 {
		t.Errorf("starts %v", starts)
	}
	if memory := f.PeakMemory(); memory < 1<<20 {
		t.Errorf("peak memory %d", memory)
	}
}

func TestFailuresOfAFunction(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		order  string
		kind   string // of the FunctionError
		is     error
		text   string
		starts int // of processes, after it has answered again
	}{
		"error":    {order: `{"Do":"fail"}`, kind: "errorString", text: "told to", starts: 1},
		"panic":    {order: `{"Do":"panic"}`, kind: "string", text: "told to", starts: 2},
		"exit":     {order: `{"Do":"exit"}`, is: lambdarun.ErrExited, text: "last words", starts: 2},
		"too long": {order: `{"Do":"long"}`, kind: "Function.ResponseSizeTooLarge", text: "bytes", starts: 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var printed logtest.Buffer
			f := start(t, lambdarun.Options{Log: &printed})
			_, err := f.Invoke(t.Context(), []byte(c.order))
			var e *lambdarun.FunctionError
			if errors.As(err, &e) != (c.kind != "") || e != nil && e.Type != c.kind || c.is != nil && !errors.Is(err, c.is) {
				t.Errorf("error %#v", err)
			}
			if err == nil || !strings.Contains(err.Error(), c.text) {
				t.Errorf("error %v", err)
			}
			if c.is != nil && !strings.Contains(printed.String(), c.text) {
				t.Errorf("log %q", printed.String())
			}
			waitForExit(f, c.starts > 1)
			if _, err := f.Invoke(t.Context(), []byte(`{}`)); err != nil {
				t.Errorf("afterwards: %v", err)
			}
			if n := len(f.Starts()); n != c.starts {
				t.Errorf("%d starts, want %d", n, c.starts)
			}
		})
	}
	f := start(t, lambdarun.Options{})
	if _, err := f.Invoke(t.Context(), make([]byte, lambdarun.MaxEvent+1)); !errors.Is(err, lambdarun.ErrTooLarge) {
		t.Errorf("event of 6 MB and a byte: %v", err)
	}
}

// waitForExit makes sure that a process that is about to end has ended.
func waitForExit(f *lambdarun.Function, ends bool) {
	if ends {
		f.Kill()
	}
}

func TestStartReportsWhatFails(t *testing.T) {
	t.Parallel()
	for role, want := range map[string]string{"exits": "no table prefix", "reports": "Config.Missing: no bucket", "sleeps": "no poll within"} {
		t.Run(role, func(t *testing.T) {
			t.Parallel()
			_, err := lambdarun.Start(t.Context(), os.Args[0], lambdarun.Options{Init: 2 * time.Second, Env: map[string]string{"ROLE": role}})
			if !errors.Is(err, lambdarun.ErrInit) || !strings.Contains(err.Error(), want) {
				t.Errorf("error %v, want %q", err, want)
			}
		})
	}
	if _, err := lambdarun.Start(t.Context(), "/no/such/bootstrap", lambdarun.Options{}); !errors.Is(err, lambdarun.ErrInit) {
		t.Errorf("missing binary: %v", err)
	}
}

// working sends an event that hangs, and returns once its process works on it. gone is closed when the process
// ends.
func working(t *testing.T, run func(order []byte)) (gone chan struct{}) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go run(fmt.Appendf(nil, `{"Do":"hang","To":%q}`, listener.Addr()))
	c, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, c)
		close(ended)
	}()
	return ended
}

func TestProcessIsKilled(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		timeout time.Duration
		end     func(f *lambdarun.Function, cancel func())
		want    error
	}{
		"at its deadline":               {300 * time.Millisecond, func(*lambdarun.Function, func()) {}, lambdarun.ErrTimeout},
		"by Kill":                       {time.Minute, func(f *lambdarun.Function, _ func()) { f.Kill() }, lambdarun.ErrExited},
		"by Close":                      {time.Minute, func(f *lambdarun.Function, _ func()) { f.Close() }, lambdarun.ErrExited},
		"when its caller stops waiting": {time.Minute, func(_ *lambdarun.Function, cancel func()) { cancel() }, context.Canceled},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := start(t, lambdarun.Options{Timeout: c.timeout})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			ended := make(chan error, 1)
			gone := working(t, func(order []byte) {
				_, err := f.Invoke(ctx, order)
				ended <- err
			})
			c.end(f, cancel)
			if err := <-ended; !errors.Is(err, c.want) {
				t.Errorf("error %v, want %v", err, c.want)
			}
			<-gone
			_, err := f.Invoke(t.Context(), []byte(`{}`))
			if closed := name == "by Close"; closed != errors.Is(err, lambdarun.ErrClosed) || !closed && err != nil {
				t.Errorf("afterwards: %v", err)
			}
		})
	}
}

func TestConcurrentEventsTakeAProcessEach(t *testing.T) {
	t.Parallel()
	f := start(t, lambdarun.Options{Processes: 2, Timeout: time.Minute})
	hang := func(order []byte) { _, _ = f.Invoke(context.Background(), order) }
	first := working(t, hang)
	second := working(t, hang)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := f.Invoke(ctx, []byte(`{}`)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a third event in parallel with two: %v", err)
	}
	f.Kill()
	<-first
	<-second
	if n := len(f.Starts()); n != 2 {
		t.Errorf("%d starts", n)
	}
}

// TestProcessDiesWithItsParent applies where the system supports it.
func TestProcessDiesWithItsParent(t *testing.T) {
	t.Parallel()
	if start(t, lambdarun.Options{}).PeakMemory() == 0 {
		if os.Getenv("CI") == "true" {
			t.Fatal("CI must run where a process dies with its parent")
		}
		t.Skip("this system does not kill a process with its parent")
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	process, err := os.StartProcess(os.Args[0], os.Args[:1], &os.ProcAttr{Env: []string{"ROLE=parent", "TO=" + listener.Addr().String()},
		Files: []*os.File{nil, nil, os.Stderr}})
	if err != nil {
		t.Fatal(err)
	}
	c, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	if err := process.Kill(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, c); err != nil && !strings.Contains(err.Error(), "reset") {
		t.Error(err)
	}
	if _, err := process.Wait(); err != nil {
		t.Error(err)
	}
}

// answering returns an Invoker with a fixed response.
func answering(response events.APIGatewayProxyResponse, took *events.APIGatewayProxyRequest) lambdarun.Invoker {
	return func(_ context.Context, event []byte) ([]byte, error) {
		if took != nil {
			if err := json.Unmarshal(event, took); err != nil {
				return nil, err
			}
		}
		return json.Marshal(response)
	}
}
