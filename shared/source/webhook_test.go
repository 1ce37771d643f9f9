package source_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"docent/shared/apierr"
	"docent/shared/app/faulttest"
	"docent/shared/audit"
	"docent/shared/collection"
	"docent/shared/pending"
	"docent/shared/pending/pendingtest"
	"docent/shared/source"
	"docent/shared/table"
)

// parcel is the body of a delivery of the test provider.
type parcel struct {
	ID, URI, Title, Removed, Answer string
	At                              time.Time
	Elsewhere, Sync                 bool
}

func (p parcel) event() source.Event {
	e := source.Event{ID: p.ID, At: p.At, Sync: p.Sync, Concerns: func(source.Settings) bool { return !p.Elsewhere }}
	if p.Removed != "" {
		e.Removed = []string{p.Removed}
	}
	if p.URI != "" {
		e.Item = &source.Item{URI: p.URI, Title: p.Title, SourceType: "documentation"}
	}
	if p.Answer != "" {
		e.Reply = []byte(p.Answer)
	}
	return e
}

// post is a provider of deliveries that are signed in the header Signature and named in
// the header Delivery.
func post() source.Provider {
	return source.Provider{Name: "post", Opener: true,
		Settings: []source.Setting{{Name: "street"}, {Name: "token", Kind: source.Secret}},
		Webhook: &source.Webhook{IDHeader: "Delivery", NewSecret: "signing",
			Verify: func(d source.Delivery, secrets source.Secrets, _ time.Time) bool {
				return source.ValidSignature(secrets["signing"], d.Header("Signature"), d.Body)
			},
			Read: func(ctx context.Context, d source.Delivery) (source.Event, error) {
				var p parcel
				err := source.DecodeDelivery(ctx, d.Body, &p)
				return p.event(), err
			}}}
}

// postOffice is a library with a source that takes deliveries.
type postOffice struct {
	*library
	at     string // the source of the deliveries
	secret string
}

func newPostOffice(t *testing.T, p source.Provider) *postOffice {
	t.Helper()
	o := &postOffice{library: newLibrary(t, newShelf())}
	o.syncer.Providers = append(o.syncer.Providers, p)
	d, secret, err := o.syncer.Create(t.Context(), o.team, source.DataSource{Provider: p.Name, Name: "post"}, nil)
	if err != nil || secret == "" {
		t.Fatalf("a source with the secret %q: %v", secret, err)
	}
	o.id, o.at, o.secret = d.ID, d.ID, secret
	return o
}

func signed(secret string, body []byte) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(body)
	return hex.EncodeToString(mac.Sum(nil))
}

// deliver sends a signed delivery with that id and returns the reply.
func (o *postOffice) deliver(id, body string) ([]byte, error) {
	return o.send(map[string]string{"Delivery": id, "Signature": signed(o.secret, []byte(body))}, body)
}

func (o *postOffice) send(headers map[string]string, body string) ([]byte, error) {
	sender, err := o.syncer.Sender(o.t.Context(), o.at, "post")
	if err != nil {
		return nil, err
	}
	return o.syncer.Deliver(o.t.Context(), sender, source.Delivery{Body: []byte(body), RequestID: "r1",
		Header: func(name string) string { return headers[name] }})
}

func (o *postOffice) mustDeliver(id string, p parcel) {
	o.t.Helper()
	body, err := json.Marshal(p)
	if err != nil {
		o.t.Fatal(err)
	}
	if _, err := o.deliver(id, string(body)); err != nil {
		o.t.Fatalf("deliver %s: %v", id, err)
	}
}

// source returns the source of the deliveries as lists show it.
func (o *postOffice) source() source.DataSource {
	o.t.Helper()
	return o.listed(o.at)
}

func TestDeliveriesChangeItems(t *testing.T) {
	t.Parallel()
	const first, second = "https://shelf.test/p/1", "https://shelf.test/p/2"
	cases := []struct {
		name  string
		take  parcel
		items []string
		state source.State
		code  string
	}{
		{"a new item", parcel{URI: second, Title: "Two"}, []string{"p/1", "p/2"}, source.Ready, ""},
		{"a removed item", parcel{Removed: first, At: time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)}, []string{}, source.Ready, ""},
		{"a removed item that is not there", parcel{Removed: second, At: time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)}, []string{"p/1"}, source.Ready, ""},
		{"an item that is outside the settings", parcel{URI: second, Title: "Two", Elsewhere: true}, []string{"p/1"}, source.Ready, ""},
		{"nothing", parcel{}, []string{"p/1"}, source.Ready, ""},
		{"an item out of bounds", parcel{URI: second}, []string{"p/1"}, source.Ready, source.ItemRejected},
		{"an item of another source", parcel{URI: "https://shelf.test/other", Title: "Other"}, []string{"p/1"}, source.Ready, source.ItemRejected},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			o := newPostOffice(t, post())
			o.importLines(o.other(), `{"uri":"https://shelf.test/other","title":"Other","body":"","sourceType":"code"}`)
			if d := o.source(); d.State != source.Connecting || d.LastSync != nil {
				t.Errorf("before the first delivery: %+v", d)
			}
			o.mustDeliver("first", parcel{URI: first, Title: "One"})
			o.clock.Advance(time.Minute)
			o.mustDeliver("second", c.take)
			o.wantItems(c.items...)
			if d := o.source(); d.State != c.state || code(d) != c.code || d.LastSync == nil {
				t.Errorf("the source shows %+v, error %+v", d, d.LastError)
			}
		})
	}
}

// TestAnItemThatIsLeftOutFailsNoSource: the whole team sees the state, and endpoints are told of sources that cannot be read.
func TestAnItemThatIsLeftOutFailsNoSource(t *testing.T) {
	t.Parallel()
	o := newPostOffice(t, post())
	if err := o.store.Write(t.Context(), audit.SetTopics(o.team, pending.AboutSources)); err != nil {
		t.Fatal(err)
	}
	o.mustDeliver("1", parcel{URI: "https://shelf.test/p/1", Title: "One"})
	for _, id := range []string{"2", "3"} {
		o.mustDeliver(id, parcel{URI: "https://shelf.test/p/2"})
	}
	if d := o.source(); d.State != source.Ready || code(d) != source.ItemRejected {
		t.Errorf("the source shows %+v, error %+v", d, d.LastError)
	}
	if told := pendingtest.Notices(t, o.store); len(told) > 0 {
		t.Errorf("told %+v", told)
	}
}

func TestADeliveryClearsTheErrorOfTheOneBefore(t *testing.T) {
	t.Parallel()
	o := newPostOffice(t, post())
	o.mustDeliver("1", parcel{URI: "https://shelf.test/p/1"})
	if d := o.source(); d.State != source.Connecting || !strings.Contains(d.LastError.Detail, "title") || !d.LastError.At.Equal(o.clock.Now()) {
		t.Errorf("refused: %+v, error %+v", d, d.LastError)
	}
	o.clock.Advance(time.Minute)
	o.mustDeliver("2", parcel{URI: "https://shelf.test/p/1", Title: "One"})
	if d := o.source(); d.State != source.Ready || d.LastError != nil || !d.LastSync.Equal(o.clock.Now()) || !d.UpdatedAt.Equal(o.clock.Now()) {
		t.Errorf("mended: %+v, error %+v", d, d.LastError)
	}
}

func TestADeliveryMayAskForASync(t *testing.T) {
	t.Parallel()
	o := newPostOffice(t, post())
	o.syncer.Connections["post"] = o.syncer.Connections["shelf"]
	o.work() // the messages of both creations
	if next := o.source().Sync.Next; !next.After(o.clock.Now()) {
		t.Fatalf("the next sync is due at %s", next)
	}
	o.clock.Advance(time.Minute)
	o.mustDeliver("1", parcel{Sync: true})
	if next := o.source().Sync.Next; !next.Equal(o.clock.Now()) {
		t.Errorf("the next sync is due at %s, want %s", next, o.clock.Now())
	}
	if n := o.work(); n != 1 {
		t.Errorf("%d messages", n)
	}
}

func TestADeliveryMayHaveAReply(t *testing.T) {
	t.Parallel()
	o := newPostOffice(t, post())
	reply, err := o.deliver("1", `{"Answer":"{\"challenge\":\"c\"}","URI":"https://shelf.test/p/1","Title":"One"}`)
	if err != nil || string(reply) != `{"challenge":"c"}` {
		t.Errorf("reply %s: %v", reply, err)
	}
	o.wantItems()
}

func TestUnsignedDeliveriesAreRefused(t *testing.T) {
	t.Parallel()
	o := newPostOffice(t, post())
	const body = `{"URI":"https://shelf.test/p/1","Title":"One"}`
	whole := signed(o.secret, []byte(body))
	cases := []struct{ name, signature string }{
		{"no signature", ""},
		{"the signature of another body", signed(o.secret, []byte(body+" "))},
		{"a signature by another secret", signed("guess", []byte(body))},
		{"a signature by an empty secret", signed("", []byte(body))},
		{"a part of the signature", whole[:len(whole)-2]},
		{"a longer signature", whole + "00"},
		{"not hex", "x" + whole[1:]},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			reply, err := o.send(map[string]string{"Delivery": c.name, "Signature": c.signature}, body)
			var refused *source.RejectedError
			if !errors.As(err, &refused) || refused.TeamID != o.team || refused.SourceID != o.at || !apierr.IsCode(err, apierr.CodeUnauthorized) || reply != nil {
				t.Errorf("reply %s, error %v", reply, err)
			}
		})
	}
	o.wantItems()
	if d := o.source(); d.State != source.Connecting || d.LastError != nil {
		t.Errorf("the source shows %+v", d)
	}
}

func TestAnEmptySecretSignsNothing(t *testing.T) {
	t.Parallel()
	if source.ValidSignature("", signed("", []byte("body")), []byte("body")) {
		t.Error("a source without a secret takes deliveries of anyone")
	}
	if !source.ValidSignature("s", signed("s", []byte("onetwo")), []byte("one"), []byte("two")) {
		t.Error("the parts of a message are not signed as one")
	}
}

// Every sender that is not a source of the provider gets the same answer.
func TestUnknownSendersAreRefusedAlike(t *testing.T) {
	t.Parallel()
	o := newPostOffice(t, post())
	wiki, err := o.syncer.Collections.Create(t.Context(), o.team, collection.Fields{Name: "wiki", Description: "Wiki"}, nil, collection.IdempotencyKey{})
	if err != nil {
		t.Fatal(err)
	}
	removed := newPostOffice(t, post())
	if err := removed.syncer.Delete(t.Context(), removed.team, removed.at, ""); err != nil {
		t.Fatal(err)
	}
	cases := []struct {
		name, id string
		provider source.ProviderName
		services *source.Service
	}{
		{"an unknown id", uuid.NewString(), "post", o.syncer.Service},
		{"not an id", "../x", "post", o.syncer.Service},
		{"a collection", wiki.ID, "post", o.syncer.Service},
		{"a source of another provider", o.at, "shelf", o.syncer.Service},
		{"a deleted source", removed.at, "post", removed.syncer.Service},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := c.services.Sender(t.Context(), c.id, c.provider)
			var known *source.RejectedError
			if !apierr.IsCode(err, apierr.CodeUnauthorized) || errors.As(err, &known) {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestARepeatedDeliveryChangesNothing(t *testing.T) {
	t.Parallel()
	const one, two = `{"ID":"x1","URI":"https://shelf.test/p/1","Title":"One"}`, `{"ID":"x1","URI":"https://shelf.test/p/2","Title":"Two"}`
	inBody := post()
	inBody.Webhook.IDHeader = ""
	cases := []struct {
		name     string
		provider source.Provider
		id       string
	}{
		{"with its id in a header", post(), "d1"},
		{"with its id in the body", inBody, ""},
		{"with an id of the greatest length", post(), strings.Repeat("d", 128)},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			o := newPostOffice(t, c.provider)
			for _, body := range []string{one, two} {
				if _, err := o.deliver(c.id, body); err != nil {
					t.Fatal(err)
				}
			}
			o.wantItems("p/1")
		})
	}
}

// A delivery whose id cannot be kept is taken each time; its items make that harmless.
func TestADeliveryWithoutAnIDIsTakenEachTime(t *testing.T) {
	t.Parallel()
	for name, id := range map[string]string{"no id": "", "an id that is too long": strings.Repeat("d", 129), "an id with a space": "d 1"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newPostOffice(t, post())
			o.mustDeliver(id, parcel{URI: "https://shelf.test/p/1", Title: "One"})
			o.mustDeliver(id, parcel{URI: "https://shelf.test/p/2", Title: "Two"})
			o.wantItems("p/1", "p/2")
		})
	}
}

// A repeated delivery is recognised before its body is decoded.
func TestMalformedDeliveries(t *testing.T) {
	t.Parallel()
	o := newPostOffice(t, post())
	o.mustDeliver("taken", parcel{URI: "https://shelf.test/p/1", Title: "One"})
	for _, body := range []string{"payload=%7B%7D", `{"URI":1}`, ""} {
		for range 2 { // a delivery that failed is not remembered
			if _, err := o.deliver("new", body); !apierr.IsCode(err, apierr.CodeInvalidRequest) {
				t.Errorf("%q: %v", body, err)
			}
		}
		if reply, err := o.deliver("taken", body); err != nil || reply != nil {
			t.Errorf("%q as a repeated delivery: %s, %v", body, reply, err)
		}
	}
	o.mustDeliver("new", parcel{URI: "https://shelf.test/p/2", Title: "Two"})
	o.wantItems("p/1", "p/2")
}

func TestADeliveryThatFailsIsTakenAgain(t *testing.T) {
	t.Parallel()
	watched := newPostOffice(t, post())
	watched.plan.Watch()
	watched.mustDeliver("1", parcel{URI: "https://shelf.test/p/1", Title: "One"})
	for at, name := range watched.plan.Seen() {
		for _, mode := range faulttest.ModesOf(name) {
			if name == "Send" {
				continue // pending work makes up for it
			}
			o := newPostOffice(t, post())
			o.plan.Arm(mode, at+1)
			_, err := o.deliver("1", `{"URI":"https://shelf.test/p/1","Title":"One"}`)
			o.plan.Disarm()
			if err == nil {
				continue // it was tried again
			}
			o.mustDeliver("1", parcel{URI: "https://shelf.test/p/1", Title: "One"})
			if items := o.items(); len(items) != 1 || o.source().State != source.Ready {
				t.Errorf("%d %s %s: %v, then %v and %s", at+1, name, mode, err, items, o.source().State)
			}
		}
	}
}

// TestAnEventStoresNothingOfAPartThatIsGone: not even if a sync removes the part just before the item is stored.
func TestAnEventStoresNothingOfAPartThatIsGone(t *testing.T) {
	t.Parallel()
	const uri = "https://shelf.test/p/1"
	for name, tt := range map[string]struct {
		known, gone bool
		want        []string
	}{
		"a part that is read":          {true, false, []string{"p/1"}},
		"a part that is not there":     {false, false, []string{}},
		"a part that is being removed": {true, true, []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := post()
			read := p.Webhook.Read
			o := newPostOffice(t, p)
			part := table.Key{Table: table.Collections, Partition: o.team + "/source/" + o.at, Sort: "part#a"}
			put := func(version int64, body string) {
				t.Helper()
				if err := o.store.Write(t.Context(), table.Put{Item: table.Item{Key: part, Version: version, Body: []byte(body)}}); err != nil {
					t.Error(err)
				}
			}
			if tt.known {
				put(1, `{"place":"e30="}`)
			}
			o.syncer.Providers[1].Webhook.Read = func(ctx context.Context, d source.Delivery) (source.Event, error) {
				e, err := read(ctx, d)
				e.Part, e.Stores = "a", func(checkpoint []byte) bool {
					if tt.gone {
						put(2, `{}`)
					}
					return checkpoint != nil
				}
				return e, err
			}
			o.mustDeliver("1", parcel{URI: uri, Title: "One"})
			if got := o.items(); !slices.Equal(got, tt.want) {
				t.Errorf("stored %q, want %q", got, tt.want)
			}
		})
	}
}
