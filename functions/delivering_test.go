package functions_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	awssqs "github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/google/uuid"

	"docent/shared/app"
	"docent/shared/app/parts/hooks"
	"docent/shared/app/parts/vault"
	"docent/shared/deployed"
	"docent/shared/fetch"
	"docent/shared/pending"
	"docent/shared/queue"
	"docent/shared/queue/sqs"
	"docent/shared/webhook"
	"docent/testkit/lambdarun"
	"docent/testkit/moto"
)

// receiver is a receiver of webhooks, each endpoint at a path of its own. It verifies signatures as the Standard Webhooks
// specification says.
type receiver struct {
	*httptest.Server

	mu      sync.Mutex
	secrets map[string]string   // by path
	taken   map[string][]string // what it answered 200, by path: the ids of the collections
	fails   int                 // how many posts are still answered 503
	onPost  func()              // called at the next post, before its reply
	wrong   []string
}

func newReceiver(t *testing.T) *receiver {
	r := &receiver{secrets: map[string]string{}, taken: map[string][]string{}}
	r.Server = httptest.NewServer(r)
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	body, err := io.ReadAll(q.Body)
	key, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(r.secrets[q.URL.Path], "whsec_"))
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%s.%s", q.Header.Get("webhook-id"), q.Header.Get("webhook-timestamp"), body)
	want := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	var event struct {
		Type string
		Data struct{ IDs []pending.Target }
	}
	if err != nil || len(key) != 32 || q.Header.Get("webhook-signature") != want || json.Unmarshal(body, &event) != nil || len(event.Data.IDs) == 0 {
		r.wrong = append(r.wrong, fmt.Sprintf("%s: %s %v", q.URL.Path, body, q.Header))
	}
	if r.fails > 0 {
		r.fails--
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	for _, about := range event.Data.IDs {
		r.taken[q.URL.Path] = append(r.taken[q.URL.Path], about.ID)
	}
	if r.onPost != nil {
		r.onPost()
		r.onPost = nil
	}
}

// deliverer is an installation whose function delivering reaches a receiver on this machine.
type deliverer struct {
	*cloud
	receiver   *receiver
	deliveries *sqs.Queue
	webhooks   *webhook.Service
}

func newDeliverer(t *testing.T) *deliverer {
	t.Helper()
	folder, err := posting()
	if err != nil {
		t.Fatal(err)
	}
	d := &deliverer{cloud: newCloud(t), receiver: newReceiver(t)}
	d.deliveries = sqs.New(awssqs.NewFromConfig(moto.Config(d.config.AWSEndpoint)), d.config.DeliveriesQueue)
	f, err := lambdarun.Start(context.Background(), filepath.Join(folder, "delivering"), lambdarun.Options{Name: "delivering", Env: d.env, Log: d.log})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	d.functions["delivering"] = f
	// Not through the API: it takes no endpoint on this machine.
	d.config.SecretsKey = d.env[deployed.SecretsKey]
	sealer := vault.Open(d.config)
	d.webhooks = &webhook.Service{Table: d.store, Outbox: &pending.Outbox{Queue: d.deliveries}, Now: time.Now, NewID: uuid.NewString,
		Seal: sealer.Seal, Open: sealer.Open, CheckURL: func(string) error { return nil }, BaseURL: d.config.BaseURL}
	return d
}

// send delivers one batch of the queue of deliveries to the function.
func (d *deliverer) send() lambdarun.Delivery {
	d.t.Helper()
	sent, err := lambdarun.Deliver(d.t.Context(), d.deliveries, d.functions["delivering"].Invoke, queue.MaxBatch)
	if err != nil {
		d.t.Fatal(err)
	}
	return sent
}

// later sweeps at a later time and makes the deliveries that are due then. It runs the function's code in this process, because
// the code needs that time.
func (d *deliverer) later(by time.Duration) {
	d.t.Helper()
	later := d.config
	later.AWSEndpoint = d.tap.URL // a batch is handled in parallel, transactions are not
	later.Now = func() time.Time { return time.Now().Add(by) }
	d.sweep(later)
	reaching := fetch.NewReaching(nil, func(to netip.AddrPort) bool { return to.Addr().IsLoopback() })
	do := app.Delivering(later, app.Parts{Vault: vault.Open(later), Post: hooks.With(reaching)})
	invoke := func(ctx context.Context, text []byte) ([]byte, error) {
		var event events.SQSEvent
		if err := json.Unmarshal(text, &event); err != nil {
			return nil, err
		}
		response, err := do(ctx, event)
		if err != nil {
			return nil, err
		}
		return json.Marshal(response)
	}
	for {
		sent, err := lambdarun.Deliver(d.t.Context(), d.deliveries, invoke, queue.MaxBatch)
		if err != nil || sent.Err != nil || sent.Failed > 0 {
			d.t.Fatalf("delivery %+v, %v", sent, err)
		}
		if sent.Received == 0 {
			return
		}
	}
}

// killing is one attempt: two events for one endpoint, whose receiver fails once, and the function is killed at something.
type killing struct {
	name      string
	announced bool // the events are deliveries before the function is killed
	fails     int  // posts that the receiver refuses
	arm       func(kill func())
}

// try makes one attempt, lets time pass, and checks that the receiver got every event.
func (d *deliverer) try(k killing) {
	d.t.Helper()
	path := "/" + k.name
	e, secret, err := d.webhooks.Create(d.t.Context(), d.team, webhook.Fields{URL: d.receiver.URL + path, EventTypes: []string{"collection.created"}})
	if err != nil {
		d.t.Fatal(err)
	}
	d.receiver.mu.Lock()
	d.receiver.secrets[path], d.receiver.fails = secret, k.fails
	d.receiver.mu.Unlock()
	d.functions["collections"].Kill() // so that it knows the endpoint
	var made []string
	for i := range 2 {
		made = append(made, d.newCollection(fmt.Sprintf("c-%s-%d", k.name, i)))
	}
	if k.announced {
		if sent := d.send(); sent.Received == 0 || sent.Failed > 0 || sent.Err != nil {
			d.t.Fatalf("the announcement: %+v", sent)
		}
	}
	d.functions["delivering"].Kill() // so that it starts with nothing in memory
	k.arm(d.functions["delivering"].Kill)
	d.send()
	count, _ := d.tap.disarm()
	for _, wait := range []time.Duration{2 * time.Minute, 4 * time.Minute, 15 * time.Minute} {
		d.later(wait)
	}
	d.receiver.mu.Lock()
	for _, id := range made {
		if !slices.Contains(d.receiver.taken[path], id) {
			d.t.Errorf("%s: %s was not delivered; it got %v", k.name, id, d.receiver.taken[path])
		}
	}
	if len(d.receiver.wrong) > 0 {
		d.t.Errorf("%s: not verified: %q", k.name, d.receiver.wrong)
	}
	d.receiver.fails = 0
	d.receiver.mu.Unlock()
	shown := d.want(d.as(d.admin).do("GET", "/webhook-endpoints/"+e.ID, nil), 200)
	listed := d.want(d.as(d.admin).do("GET", "/webhook-endpoints/"+e.ID+"/deliveries", nil), 200)
	if strings.Contains(shown.body, "disabledReason") || strings.Count(listed.body, `"status":"delivered"`) != len(made) {
		d.t.Errorf("%s: endpoint %s, deliveries %s", k.name, shown.body, listed.body)
	}
	if d.t.Failed() {
		d.t.Fatalf("%s: %d requests", k.name, count)
	}
	for _, id := range made {
		d.want(d.do("DELETE", "/collections/"+id, nil), 204)
	}
	d.want(d.as(d.admin).do("DELETE", "/webhook-endpoints/"+e.ID, nil), 204)
	d.settle()
}

// TestDeliveringIsKilledInTheMiddle kills the function at three moments: when it sends a request to storage or queue,
// when that request was done but not answered, and when a receiver took a post but has not answered. The receiver fails as well. Every event arrives at least once
// and signed, and the endpoint is not disabled. A run picks one of the two times for each request; DOCENT_ALL_KILLS=1 takes both.
func TestDeliveringIsKilledInTheMiddle(t *testing.T) {
	t.Parallel()
	d := newDeliverer(t)
	kills := 0
	for _, announced := range []bool{false, true} {
		for n, whole := 1, false; !whole; n++ {
			times := []bool{false, true}
			if os.Getenv("DOCENT_ALL_KILLS") == "" {
				times = []bool{rand.IntN(2) == 1}
			}
			for _, after := range times {
				cut := false
				d.try(killing{name: fmt.Sprintf("k%d-%t-%t", n, announced, after), announced: announced, fails: 1,
					arm: func(kill func()) { d.tap.arm(n, after, func() { cut = true; kill() }) }})
				whole = !cut
				if cut {
					kills++
				}
			}
		}
	}
	d.try(killing{name: "at-a-post", announced: true, arm: func(kill func()) {
		d.receiver.mu.Lock()
		defer d.receiver.mu.Unlock()
		d.receiver.onPost = kill
	}})
	if kills < 10 {
		t.Errorf("%d kills", kills)
	}
	t.Logf("%d kills", kills)
}
