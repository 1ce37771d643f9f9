package moto

import (
	"context"
	"io"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"time"
)

// Trouble is what an Unsteady does to requests. Each share is a part of all of them, from 0 to 1.
type Trouble struct {
	Refused float64       // share that AWS refuses for load, or because of an error of its own
	Cut     float64       // share whose connection is reset, in half of the cases after the request was carried out
	Late    float64       // share that waits first
	Delay   time.Duration // how long it waits at most
}

// Unsteady is a proxy in front of the server that behaves as AWS does in trouble. It forwards requests one after another, as
// OneAtATime, and honours the tokens of transactions, which the server ignores: a transaction that is repeated because its reply was lost
// is carried out once.
type Unsteady struct {
	URL string

	server       *http.Server
	forward      *httputil.ReverseProxy
	turn         sync.Mutex
	transactions Transactions // guarded by turn

	mu      sync.Mutex
	trouble Trouble
	counts  map[string]int
}

// NewUnsteady starts a proxy in front of endpoint, without trouble. Close ends it.
func NewUnsteady(ctx context.Context, endpoint string) (*Unsteady, error) {
	target, err := url.Parse(endpoint)
	if err != nil {
		return nil, err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	u := &Unsteady{URL: "http://" + listener.Addr().String(), counts: map[string]int{}}
	quiet := slog.NewLogLogger(slog.DiscardHandler, slog.LevelError) // of connections that are reset
	u.forward = &httputil.ReverseProxy{ErrorLog: quiet, Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }}
	u.server = &http.Server{Handler: http.HandlerFunc(u.serve), ReadHeaderTimeout: time.Minute, ErrorLog: quiet}
	go func() { _ = u.server.Serve(listener) }() // until Close
	return u, nil
}

// Close ends the proxy.
func (u *Unsteady) Close() error { return u.server.Close() }

// Make begins a trouble and ends the one before it.
func (u *Unsteady) Make(t Trouble) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.trouble = t
}

// Counts returns how many requests were forwarded, refused, cut and late.
func (u *Unsteady) Counts() map[string]int {
	u.mu.Lock()
	defer u.mu.Unlock()
	return maps.Clone(u.counts)
}

// fate is what happens to one request.
type fate struct {
	refused, cut, cutAfter bool
	delay                  time.Duration
}

func (u *Unsteady) choose() fate {
	u.mu.Lock()
	defer u.mu.Unlock()
	var f fate
	t, chance := u.trouble, rand.Float64() //nolint:gosec // no secret
	switch {
	case chance < t.Refused:
		f.refused = true
		u.counts["refused"]++
	case chance < t.Refused+t.Cut:
		f.cut, f.cutAfter = true, chance < t.Refused+t.Cut/2
		u.counts["cut"]++
	default:
		u.counts["forwarded"]++
	}
	if rand.Float64() < t.Late { //nolint:gosec // no secret
		f.delay = rand.N(t.Delay + 1) //nolint:gosec // no secret
		u.counts["late"]++
	}
	return f
}

func (u *Unsteady) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the sender left before the request was complete
	}
	f := u.choose()
	time.Sleep(f.delay)
	switch {
	case f.refused:
		refuse(w, r)
		return
	case f.cut && !f.cutAfter:
		panic(http.ErrAbortHandler) // closes the connection
	}
	reply := u.carryOut(r, body)
	if f.cut {
		panic(http.ErrAbortHandler)
	}
	Send(w, reply)
}

func (u *Unsteady) carryOut(r *http.Request, body []byte) *httptest.ResponseRecorder {
	if serviceOf(r) != "sqs" { // those may wait for messages
		u.turn.Lock()
		defer u.turn.Unlock()
	}
	return u.transactions.CarryOut(u.forward, r, body)
}

// serviceOf returns the service for which a request is signed.
func serviceOf(r *http.Request) string {
	before, _, _ := strings.Cut(r.Header.Get("Authorization"), "/aws4_request")
	return before[strings.LastIndexByte(before, '/')+1:]
}

// refusals are what AWS says instead of doing what it is asked for, by service.
var refusals = map[string][]struct {
	status int
	body   string
}{
	"dynamodb": {
		{400, `{"__type":"com.amazon.coral.availability#ThrottlingException","message":"Rate exceeded"}`},
		{400, `{"__type":"com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException","message":"The level of configured provisioned throughput for the table was exceeded."}`},
		{500, `{"__type":"com.amazonaws.dynamodb.v20120810#InternalServerError","message":"The request could not be processed"}`},
	},
	"sqs": {
		{400, `{"__type":"com.amazonaws.sqs#RequestThrottled","message":"Request is throttled."}`},
		{503, `{"__type":"com.amazonaws.sqs#ServiceUnavailable","message":"Unavailable"}`},
	},
	"s3": {
		{503, `<?xml version="1.0" encoding="UTF-8"?><Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>`},
		{500, `<?xml version="1.0" encoding="UTF-8"?><Error><Code>InternalError</Code><Message>We encountered an internal error. Please try again.</Message></Error>`},
	},
}

func refuse(w http.ResponseWriter, r *http.Request) {
	service, media := serviceOf(r), "application/x-amz-json-1.0"
	if service == "s3" {
		media = "application/xml"
	}
	some := refusals[service]
	if len(some) == 0 {
		some = refusals["dynamodb"] // the others, such as KMS, have the same form
	}
	one := some[rand.IntN(len(some))] //nolint:gosec // no secret
	w.Header().Set("Content-Type", media)
	w.WriteHeader(one.status)
	if r.Method != http.MethodHead {
		_, _ = io.WriteString(w, one.body) // or the sender has left
	}
}
