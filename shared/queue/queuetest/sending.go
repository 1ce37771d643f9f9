package queuetest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"docent/shared/queue"
	"docent/shared/table"
)

func roundTrip(t *testing.T, f Fixture) {
	f.send(t, "hello")
	m := f.receive(t)
	if string(m.Body) != "hello" || m.ID == "" || m.Receipt == "" || m.Receives != 1 {
		t.Errorf("received %+v", m)
	}
	f.wantNone(t, 0)
}

func empty(t *testing.T, f Fixture) {
	f.wantNone(t, 0)
	began := time.Now()
	f.wantNone(t, time.Second)
	if waited := time.Since(began); waited < 900*time.Millisecond || waited > soon {
		t.Errorf("waited %s for nothing, want 1 s", waited)
	}
	f.done(t)
	f.retry(t, 0)
}

func batches(t *testing.T, f Fixture) {
	f.send(t, numbered(queue.MaxBatch)...)
	first, err := f.Queue.Receive(t.Context(), 3, soon)
	if err != nil {
		t.Fatalf("Receive: %v", err)
	}
	if len(first) < 1 || len(first) > 3 {
		t.Fatalf("received %d messages, want 1 to 3", len(first))
	}
	all := append(first, f.receiveAll(t, queue.MaxBatch-len(first))...)
	if got := bodiesOf(all); !slices.Equal(got, numbered(queue.MaxBatch)) {
		t.Errorf("received %q", got)
	}
	ids := map[string]bool{}
	for _, m := range all {
		ids[m.ID] = true
	}
	if len(ids) != queue.MaxBatch {
		t.Errorf("%d different ids for %d messages", len(ids), queue.MaxBatch)
	}
	f.done(t, all...)
	f.wantNone(t, 0)

	f.send(t, numbered(queue.MaxBatch)...)
	f.send(t, numbered(2)...)
	f.done(t, f.receiveAll(t, 12)...) // Done takes any number
	f.wantNone(t, 0)
}

func sizes(t *testing.T, f Fixture) {
	for name, body := range map[string]string{
		"one byte":      "x",
		"kilobytes":     strings.Repeat("0123456789abcdef", 5<<10/16),
		"many":          strings.Repeat("0123456789abcdef", 600<<10/16),
		"largest":       strings.Repeat("0123456789abcdef", queue.MaxBytes/16),
		"JSON":          `{"team":"a","text":"<&>\"\\\u0000"}`,
		"white space":   "\tline\nline\r\n ",
		"other scripts": "größe 東京 😀 \u00a0",
	} {
		f.send(t, body)
		m := f.receive(t)
		if string(m.Body) != body {
			t.Errorf("%s: %d bytes came back as %d other bytes", name, len(body), len(m.Body))
		}
		f.done(t, m)
	}
	part := strings.Repeat("p", queue.MaxBytes/queue.MaxBatch)
	f.send(t, slices.Repeat([]string{part}, queue.MaxBatch)...)
	for _, m := range f.receiveAll(t, queue.MaxBatch) {
		if string(m.Body) != part {
			t.Errorf("part of a batch: %d bytes came back as %d other bytes", len(part), len(m.Body))
		}
	}
}

func refusals(t *testing.T, f Fixture) {
	ok := queue.Outgoing{Body: []byte("fine")}
	for name, messages := range map[string][]queue.Outgoing{
		"no message":         nil,
		"11 messages":        slices.Repeat([]queue.Outgoing{ok}, 11),
		"empty body":         {ok, {}},
		"1 MiB and a byte":   {{Body: []byte(strings.Repeat("x", queue.MaxBytes+1))}},
		"1 MiB and a second": {{Body: []byte(strings.Repeat("x", queue.MaxBytes))}, ok},
		"not UTF-8":          {ok, {Body: []byte("\xff")}},
		"NUL":                {ok, {Body: []byte("a\x00")}},
		"U+FFFF":             {ok, {Body: []byte("\uffff")}},
		"negative delay":     {ok, {Body: []byte("x"), Delay: -1}},
		"too long a delay":   {ok, {Body: []byte("x"), Delay: 15*time.Minute + 1}},
		"too long a group":   {ok, {Body: []byte("x"), Group: strings.Repeat("x", queue.MaxGroup+1)}},
		"a group in words":   {ok, {Body: []byte("x"), Group: "a team"}},
	} {
		wantInvalid(t, "Send of "+name, f.Queue.Send(t.Context(), messages...))
	}
	for _, limit := range []int{-1, 0, 11} {
		_, err := f.Queue.Receive(t.Context(), limit, 0)
		wantInvalid(t, "Receive with a bad limit", err)
	}
	_, err := f.Queue.Receive(t.Context(), 1, -1)
	wantInvalid(t, "Receive with a negative wait", err)
	f.wantNone(t, 0)
	f.send(t, "good")
	m := f.receive(t)
	wantInvalid(t, "Retry with a negative delay", f.Queue.Retry(t.Context(), -1, m))
	wantInvalid(t, "Retry with too long a delay", f.Queue.Retry(t.Context(), 15*time.Minute+1, m))
	bad := m
	bad.Receipt = "no receipt"
	wantInvalid(t, "Done with a malformed receipt", f.Queue.Done(t.Context(), bad))
	wantInvalid(t, "Retry with a malformed receipt", f.Queue.Retry(t.Context(), 0, bad))
	f.wantNone(t, 0)
}

func delays(t *testing.T, f Fixture) {
	began := time.Now()
	err := f.Queue.Send(t.Context(),
		queue.Outgoing{Body: []byte("later"), Delay: 2 * time.Second},
		queue.Outgoing{Body: []byte("now")})
	if err != nil {
		t.Fatalf("Send: %v", err)
	}
	if m := f.receive(t); string(m.Body) != "now" {
		t.Errorf("received %q first", m.Body)
	}
	if m := f.receive(t); string(m.Body) != "later" || m.Receives != 1 {
		t.Errorf("received %q for the %d. time", m.Body, m.Receives)
	}
	if waited := time.Since(began); waited < 1900*time.Millisecond || waited > soon {
		t.Errorf("the delayed message came after %s, want 2 s", waited)
	}
}

func cancelled(t *testing.T, f Fixture) {
	ctx, cancel := context.WithCancel(t.Context())
	began := time.Now()
	result := make(chan error, 1)
	go func() {
		_, err := f.Queue.Receive(ctx, 1, queue.MaxWait)
		result <- err
	}()
	cancel()
	if err := <-result; !errors.Is(err, context.Canceled) {
		t.Errorf("waiting Receive: %v, want the context's error", err)
	}
	if waited := time.Since(began); waited > soon {
		t.Errorf("Receive returned %s after its context ended", waited)
	}
	if err := f.Queue.Send(ctx, queue.Outgoing{Body: []byte("x")}); !errors.Is(err, context.Canceled) {
		t.Errorf("Send: %v, want the context's error", err)
	}
	f.wantNone(t, 0)
}

func counted(t *testing.T, f Fixture) {
	var got []queue.Message
	for _, c := range []struct {
		name string
		call func(ctx context.Context) error
	}{
		{"Send", func(ctx context.Context) error { return f.Queue.Send(ctx, queue.Outgoing{Body: []byte("x")}) }},
		{"Receive", func(ctx context.Context) (err error) {
			got, err = f.Queue.Receive(ctx, 1, soon)
			return err
		}},
		{"Retry", func(ctx context.Context) error { return f.Queue.Retry(ctx, time.Minute, got...) }},
		{"Done", func(ctx context.Context) error { return f.Queue.Done(ctx, got...) }},
	} {
		ctx, meter := table.WithMeter(t.Context())
		if err := c.call(ctx); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if cost := meter.Read(); cost != (table.Cost{Calls: 1, RoundTrips: 1}) {
			t.Errorf("%s cost %+v, want one call", c.name, cost)
		}
	}
}
