package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log"
	"maps"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// faultProxy is a proxy between the functions and AWS that can break parts of AWS.
type faultProxy struct {
	URL    string
	server *http.Server
	target atomic.Pointer[url.URL]
	broken atomic.Pointer[string]

	mu     sync.Mutex
	denied map[string]bool // what AWS said about calls that a function's policy does not allow
}

func newFaultProxy(ctx context.Context) (*faultProxy, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	t := &faultProxy{URL: "http://" + l.Addr().String(), denied: map[string]bool{}}
	none := "none"
	t.broken.Store(&none)
	forward := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(t.target.Load())
			r.Out.Host = r.In.Host // it is part of the signature
			// Functions reach AWS by TLS; queues and bucket refuse anything else. Here there is no TLS.
			r.Out.Header.Set("X-Forwarded-Proto", "https")
		},
		ModifyResponse: t.watch,
		ErrorLog:       log.New(io.Discard, "", 0), // functions that are stopped
	}
	t.server = &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if refuse := faults[*t.broken.Load()]; refuse != nil && refuse(w, r) {
			return
		}
		forward.ServeHTTP(w, r)
	})}
	go func() { _ = t.server.Serve(l) }() // until Close
	return t, nil
}

func (t *faultProxy) forwardTo(endpoint string) error {
	target, err := url.Parse(endpoint)
	t.target.Store(target)
	return err
}

// watch records what AWS says about calls that it denies.
func (t *faultProxy) watch(r *http.Response) error {
	if r.StatusCode < http.StatusBadRequest {
		return nil
	}
	text, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
	if err != nil {
		return err
	}
	r.Body = io.NopCloser(bytes.NewReader(text))
	if said := string(text); strings.Contains(said, "AccessDenied") {
		t.mu.Lock()
		t.denied[said] = true
		t.mu.Unlock()
	}
	return nil
}

// refusals returns the calls of functions that their policies do not allow.
func (t *faultProxy) refusals() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Sorted(maps.Keys(t.denied))
}

// Close ends the proxy.
func (t *faultProxy) Close() error { return t.server.Close() }

// fault breaks a part from now on, and repairs the others.
func (t *faultProxy) fault(part string) error {
	if _, ok := faults[part]; !ok && part != "none" {
		return fmt.Errorf("there is no part %q", part)
	}
	t.broken.Store(&part)
	return nil
}

// faults answer a request instead of AWS, and report whether they did.
var faults = map[string]func(http.ResponseWriter, *http.Request) bool{
	"tables": func(w http.ResponseWriter, r *http.Request) bool {
		return isFor(r, "dynamodb") && answer(w, http.StatusBadRequest, "application/x-amz-json-1.0",
			`{"__type":"com.amazonaws.dynamodb.v20120810#ThrottlingException","message":"Throughput exceeds the current capacity."}`)
	},
	"queues": func(_ http.ResponseWriter, r *http.Request) bool {
		if isFor(r, "sqs") {
			panic(http.ErrAbortHandler) // closes the connection
		}
		return false
	},
	"bucket": func(w http.ResponseWriter, r *http.Request) bool {
		return isFor(r, "s3") && answer(w, http.StatusNotFound, "application/xml",
			`<Error><Code>NoSuchBucket</Code><Message>The specified bucket does not exist</Message></Error>`)
	},
}

// isFor reports whether a request is signed for the service.
func isFor(r *http.Request, service string) bool {
	return strings.Contains(r.Header.Get("Authorization"), "/"+service+"/aws4_request")
}

func answer(w http.ResponseWriter, status int, media, body string) bool {
	w.Header().Set("Content-Type", media)
	w.WriteHeader(status)
	_, _ = w.Write([]byte(body))
	return true
}
