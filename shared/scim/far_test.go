package scim_test

import (
	"context"
	"sync"
	"time"

	"docent/shared/table"
)

// far is a store that is far away while it is on. It counts sequential round trips: parallel
// requests are one.
type far struct {
	table.Store
	mu    sync.Mutex
	on    bool
	begun time.Time // when the last round trip began
	trips int
}

const distance = 2 * time.Millisecond

// set turns the distance on or off, and resets the count.
func (f *far) set(on bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.on, f.begun, f.trips = on, time.Time{}, 0
}

func (f *far) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.trips
}

// travel waits for the time of one way.
func (f *far) travel() {
	f.mu.Lock()
	on := f.on
	if now := time.Now(); on && now.Sub(f.begun) > distance/2 {
		f.begun, f.trips = now, f.trips+1
	}
	f.mu.Unlock()
	if on {
		time.Sleep(distance)
	}
}

func (f *far) Get(ctx context.Context, k table.Key, opts ...table.ReadOption) (table.Item, error) {
	f.travel()
	return f.Store.Get(ctx, k, opts...)
}

func (f *far) BatchGet(ctx context.Context, keys []table.Key, opts ...table.ReadOption) ([]table.Item, error) {
	f.travel()
	return f.Store.BatchGet(ctx, keys, opts...)
}

func (f *far) Query(ctx context.Context, q table.Query) (table.Page, error) {
	f.travel()
	return f.Store.Query(ctx, q)
}

func (f *far) Add(ctx context.Context, a table.Add) (table.Item, error) {
	f.travel()
	return f.Store.Add(ctx, a)
}

func (f *far) Write(ctx context.Context, ops ...table.Op) error {
	f.travel()
	return f.Store.Write(ctx, ops...)
}
