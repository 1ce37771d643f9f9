package table

import (
	"context"
	"sync"
)

// Meter counts what the calls under one context cost. Engines report to it;
// tests and benchmarks read it with Read.
type Meter struct {
	mu       sync.Mutex
	inFlight int
	cost     Cost
}

// Cost is the cost counted by a Meter.
type Cost struct {
	Calls      int     // requests to the store
	RoundTrips int     // requests in sequence: one that starts while another runs is not counted
	ReadUnits  float64 // DynamoDB read request units
	WriteUnits float64 // DynamoDB write request units
}

type meterKey struct{}

// WithMeter returns a context whose calls are counted by the returned Meter.
func WithMeter(ctx context.Context) (context.Context, *Meter) {
	m := &Meter{}
	return context.WithValue(ctx, meterKey{}, m), m
}

// MeterFrom returns the Meter of ctx, nil if there is none. All methods of a nil Meter do
// nothing.
func MeterFrom(ctx context.Context) *Meter {
	m, _ := ctx.Value(meterKey{}).(*Meter)
	return m
}

// Read returns the cost so far.
func (m *Meter) Read() Cost {
	if m == nil {
		return Cost{}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.cost
}

// Begin counts one request to a store or queue; the caller calls the returned
// function when it has ended.
func (m *Meter) Begin() (end func()) {
	if m == nil {
		return func() {}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.cost.Calls++
	if m.inFlight == 0 {
		m.cost.RoundTrips++
	}
	m.inFlight++
	return func() {
		m.mu.Lock()
		m.inFlight--
		m.mu.Unlock()
	}
}

// Units adds read and write units to the cost.
func (m *Meter) Units(read, write float64) {
	if m == nil {
		return
	}
	m.mu.Lock()
	m.cost.ReadUnits += read
	m.cost.WriteUnits += write
	m.mu.Unlock()
}
