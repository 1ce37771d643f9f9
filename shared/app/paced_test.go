package app

import (
	"context"
	"strings"
	"sync"
	"time"

	"docent/shared/blob"
	"docent/shared/queue"
	"docent/shared/table"
)

// callTime is the duration of every engine call on the clock of a synctest bubble. That clock
// advances only while all goroutines wait. So the duration of a request divided by callTime is
// the number of its sequential calls, however busy this machine is.
const callTime = time.Millisecond

// pace makes the calls of its engines take time and counts them.
type pace struct {
	takes    time.Duration // callTime in a bubble, nothing outside of one
	requests func() int    // requests that a server has seen so far; nil: no server

	mu    sync.Mutex
	sofar spent
	apart int       // calls that the ceilings leave out
	ended time.Time // when the caller has the result; zero: at the end
}

// spent is the cost of an operation, its calls by name, and the requests that a server has seen
// of them.
type spent struct {
	cost
	calls    []string
	requests int
}

// measure runs do and returns what it cost.
func (p *pace) measure(do func()) spent {
	p.mu.Lock()
	p.sofar, p.apart, p.ended = spent{}, 0, time.Time{}
	p.mu.Unlock()
	before := 0
	if p.requests != nil {
		before = p.requests()
	}
	start := time.Now()
	do()
	end := time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.ended.IsZero() {
		end = p.ended
	}
	took := end.Sub(start)
	if p.takes > 0 {
		p.sofar.RoundTrips = int(took / p.takes)
	}
	if p.requests != nil {
		p.sofar.requests = p.requests() - before - p.apart
	}
	return p.sofar
}

// over reports that the caller does not wait for the rest of the measured work.
func (p *pace) over() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = time.Now()
}

// leaveOut notes a call that is not measured.
func (p *pace) leaveOut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.apart++
}

// call runs one call of an engine, with the units that the engine reports.
func (p *pace) call(ctx context.Context, name string, do func(context.Context) error) error {
	ctx, meter := table.WithMeter(ctx)
	err := do(ctx)
	time.Sleep(p.takes)
	units := meter.Read()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sofar.calls = append(p.sofar.calls, name)
	p.sofar.ReadUnits += units.ReadUnits
	p.sofar.WriteUnits += units.WriteUnits
	return err
}

// paced returns e at the pace of a bubble.
func paced(e engines, p *pace) engines {
	return engines{table: pacedTable{e.table, p}, blobs: pacedBlobs{e.blobs, p}, link: e.link, questions: pacedQueue{e.questions, p}, embeddings: pacedQueue{e.embeddings, p},
		documents: pacedQueue{e.documents, p}, extractions: pacedQueue{e.extractions, p}}
}

// pacedTable is a store at the pace of a bubble.
type pacedTable struct {
	table.Store
	pace *pace
}

func (t pacedTable) Get(ctx context.Context, k table.Key, opts ...table.ReadOption) (item table.Item, err error) {
	err = t.pace.call(ctx, "get "+k.Table, func(ctx context.Context) (err error) {
		item, err = t.Store.Get(ctx, k, opts...)
		return err
	})
	return item, err
}

func (t pacedTable) BatchGet(ctx context.Context, keys []table.Key, opts ...table.ReadOption) (items []table.Item, err error) {
	err = t.pace.call(ctx, "batch get", func(ctx context.Context) (err error) {
		items, err = t.Store.BatchGet(ctx, keys, opts...)
		return err
	})
	return items, err
}

func (t pacedTable) Query(ctx context.Context, q table.Query) (page table.Page, err error) {
	err = t.pace.call(ctx, "query "+q.Table, func(ctx context.Context) (err error) {
		page, err = t.Store.Query(ctx, q)
		return err
	})
	return page, err
}

func (t pacedTable) Add(ctx context.Context, a table.Add) (item table.Item, err error) {
	if a.Key.Table == table.Usage && !strings.HasSuffix(a.Key.Partition, "/quota") {
		t.pace.leaveOut() // a count for a report costs no units here, but who waits for it takes longer
		item, err = t.Store.Add(ctx, a)
		time.Sleep(t.pace.takes)
		return item, err
	}
	err = t.pace.call(ctx, "add "+a.Key.Table, func(ctx context.Context) (err error) {
		item, err = t.Store.Add(ctx, a)
		return err
	})
	return item, err
}

func (t pacedTable) Write(ctx context.Context, ops ...table.Op) error {
	name := "write"
	if len(ops) > 0 {
		name += " " + table.KeyOf(ops[len(ops)-1]).Table
	}
	return t.pace.call(ctx, name, func(ctx context.Context) error { return t.Store.Write(ctx, ops...) })
}

// pacedBlobs is a blob store at the pace of a bubble. Search and indexing list
// nothing, so a listing is not paced.
type pacedBlobs struct {
	blob.Store
	pace *pace
}

func (b pacedBlobs) Put(ctx context.Context, name string, data []byte) error {
	return b.pace.call(ctx, "put blob", func(ctx context.Context) error { return b.Store.Put(ctx, name, data) })
}

func (b pacedBlobs) Get(ctx context.Context, name string) (data []byte, err error) {
	err = b.pace.call(ctx, "get blob", func(ctx context.Context) (err error) {
		data, err = b.Store.Get(ctx, name)
		return err
	})
	return data, err
}

func (b pacedBlobs) GetRange(ctx context.Context, name string, offset, length int64) (data []byte, err error) {
	err = b.pace.call(ctx, "get blob range", func(ctx context.Context) (err error) {
		data, err = b.Store.GetRange(ctx, name, offset, length)
		return err
	})
	return data, err
}

func (b pacedBlobs) Delete(ctx context.Context, names ...string) error {
	return b.pace.call(ctx, "delete blobs", func(ctx context.Context) error { return b.Store.Delete(ctx, names...) })
}

// pacedQueue is a queue at the pace of a bubble. Receiving and finishing are the
// event source's business on AWS, so they are not paced.
type pacedQueue struct {
	queue.Queue
	pace *pace
}

func (q pacedQueue) Send(ctx context.Context, messages ...queue.Outgoing) error {
	return q.pace.call(ctx, "send", func(ctx context.Context) error { return q.Queue.Send(ctx, messages...) })
}
