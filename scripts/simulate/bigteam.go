package simulate

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"docent/shared/pause"
	"docent/shared/table"
)

const (
	bigTeamID   = "0192c6a0-7b1e-7c3d-9e4f-000000000001"
	getsAtOnce  = 16 // openAtOnce in shared/search
	recordUnits = 44 // read units of candidates, besides the lists, within the bound of 49 of a question in shared/search
)

// BigTeam is the scenario of a team with many documents and searches. It runs no search: it makes the calls that one makes.
type BigTeam struct {
	Seed      uint64
	Documents int
	PerSecond float64 // searches
	Meaning   bool    // by words and vectors
	Memory    int     // MB of the function
	Cache     float64 // MiB of it, or of a process, for segments
	// Permanent processes, with that many Processors each, instead of a function; 0: a function. Each has answered
	// Answered questions before.
	Processes, Processors, Answered int
	// WarmUp is how long requests come before they are measured, For how long they are.
	WarmUp, For time.Duration
}

// BigTeamResult is the measurement of a run of BigTeam.
type BigTeamResult struct {
	Times                         Times
	Refused, Failed               int // for the concurrency; after all attempts at a table or the bucket
	Gets                          float64
	Units                         float64 // read units of a search
	Throttled, Slowed, MostAtOnce int
	ListUnits                     float64 // a second, of the partition of the segment list
}

// Run runs the scenario. It must run in a bubble of testing/synctest.
func (s BigTeam) Run(ctx context.Context) (BigTeamResult, error) {
	r, err := s.start(ctx)
	if err != nil {
		return BigTeamResult{}, err
	}
	var requests sync.WaitGroup
	var before bigTeamUsed
	begun, warm := time.Now(), false
	for time.Since(begun) < s.WarmUp+s.For {
		if !warm && time.Since(begun) >= s.WarmUp {
			warm, before = true, r.used()
		}
		measured := time.Since(begun) > s.WarmUp
		requests.Go(func() { r.request(ctx, measured) })
		if err := pause.For(ctx, time.Duration(r.chance.exponential()/s.PerSecond*float64(time.Second))); err != nil {
			return BigTeamResult{}, err
		}
	}
	r.addUsed(before, r.used())
	requests.Wait()
	r.result.Throttled, r.result.Slowed, r.result.MostAtOnce = r.store.Used().Throttled, r.objects.Used().Slowed, r.account.Most()
	slices.Sort(r.result.Times)
	return r.result, nil
}

// bigTeamRun is one run of BigTeam.
type bigTeamRun struct {
	s          BigTeam
	shape      Shape
	chance     *Chance
	store      *Table
	objects    *Objects
	account    *Account
	candidates []table.Key // the records that a search reads
	// invoke runs do with the count of the questions that its environment has answered.
	invoke func(ctx context.Context, compute time.Duration, do func(context.Context, *atomic.Int64)) error

	gets, searched atomic.Int64
	mu             sync.Mutex
	result         BigTeamResult // under mu while requests run
}

// start returns a run whose table holds the team's list of segments. Filling the table takes no time.
func (s BigTeam) start(ctx context.Context) (*bigTeamRun, error) {
	quiet := &Chance{}
	r := &bigTeamRun{
		s: s, shape: ShapeOf(s.Documents, s.Meaning), chance: NewChance(s.Seed),
		store: NewTable(quiet, time.Now), objects: NewObjects(quiet), account: NewAccount(),
	}
	for n := range r.shape.Segments {
		sort := fmt.Sprintf("%s#documentation#%02d#0192c6a0-7b1e-7c3d-9e4f-%012d", bigTeamID, n/segmentsALevel, n)
		item := table.Item{Key: table.Key{Table: table.Index, Partition: bigTeamID, Sort: sort},
			Version: 1, Body: []byte(`{"bytes":123456789,"passages":1234567,"documents":123456,"lengths":123456789,"analysis":12,"format":3}`)}
		if err := r.store.Write(ctx, table.Put{Item: item}); err != nil {
			return nil, err
		}
	}
	for n := range recordUnits {
		r.candidates = append(r.candidates, table.Key{Table: table.Documents, Partition: fmt.Sprintf("%s/%d", bigTeamID, n), Sort: "record"})
	}
	r.store.chance, r.objects.chance = r.chance, r.chance
	answered := func() *atomic.Int64 {
		var n atomic.Int64
		n.Store(int64(s.Answered))
		return &n
	}
	if s.Processes > 0 {
		r.invoke = newFleet(s.Processes, s.Processors, answered).Invoke
	} else {
		r.invoke = NewFunction(Spec{Name: "context", Memory: s.Memory, Timeout: 28 * time.Second}, r.account, r.chance, answered).Invoke
	}
	return r, nil
}

// request sends one search through the gateway. If measured is set, its outcome is part of the result.
func (r *bigTeamRun) request(ctx context.Context, measured bool) {
	begun := time.Now()
	var failed error
	refused := r.chance.take(ctx, gatewayLatency)
	if refused == nil {
		refused = r.invoke(ctx, requestCompute+r.shape.Compute, func(ctx context.Context, answered *atomic.Int64) { failed = r.search(ctx, answered) })
	}
	r.searched.Add(1)
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case !measured:
	case refused != nil:
		r.result.Refused++
	case failed != nil:
		r.result.Failed++
	default:
		r.result.Times = append(r.result.Times, time.Since(begun))
	}
}

// search makes the calls of one search: the lists, then the parts of segments and vectors that are not in memory, then the records.
func (r *bigTeamRun) search(ctx context.Context, answered *atomic.Int64) error {
	var lists errgroup.Group
	for _, q := range []table.Query{
		{Table: table.Index, Partition: bigTeamID},
		{Table: table.Index, Partition: bigTeamID + "/meaning"},
		{Table: table.Collections, Partition: bigTeamID},
	} {
		lists.Go(func() error {
			_, err := r.store.Query(ctx, q)
			return err
		})
	}
	if err := lists.Wait(); err != nil {
		return err
	}
	before := int(answered.Add(1) - 1)
	var reads errgroup.Group
	reads.SetLimit(getsAtOnce)
	read := func(times float64, folder string, bytes int) {
		n := int(math.Round(times))
		r.gets.Add(int64(n))
		for range n {
			reads.Go(func() error {
				if err := r.objects.call(ctx, folder+bigTeamID+"/x", false); err != nil {
					return err
				}
				return r.objects.transfer(ctx, bytes)
			})
		}
	}
	read(r.shape.Gets*r.shape.Missing(before, r.s.Cache), "segments/", int(r.shape.MiB/r.shape.Gets*(1<<20)))
	read(r.shape.MissingVectors(before), "vectors/", pageSize)
	if err := reads.Wait(); err != nil {
		return err
	}
	_, err := r.store.BatchGet(ctx, r.candidates)
	return err
}

// bigTeamUsed is what a run has used up to a moment.
type bigTeamUsed struct {
	readUnits, listUnits float64 // listUnits: of the partition of the segment list
	gets, searched       int64
}

func (r *bigTeamRun) used() bigTeamUsed {
	_, list := r.store.Hottest(table.Index)
	return bigTeamUsed{r.store.Used().ReadUnits, list, r.gets.Load(), r.searched.Load()}
}

// addUsed adds to the result what was used between the end of the warm-up and the last request.
func (r *bigTeamRun) addUsed(before, after bigTeamUsed) {
	searches := float64(max(after.searched-before.searched, 1))
	r.mu.Lock()
	defer r.mu.Unlock()
	r.result.Gets = float64(after.gets-before.gets) / searches
	r.result.Units = (after.readUnits - before.readUnits) / searches
	r.result.ListUnits = (after.listUnits - before.listUnits) / r.s.For.Seconds()
}

// status returns the outcome as a client would see it, for tables.
func (r BigTeamResult) status() string {
	if r.Refused+r.Failed == 0 {
		return "all done"
	}
	return fmt.Sprintf("%d with %d, %d with %d", r.Refused, http.StatusTooManyRequests, r.Failed, http.StatusServiceUnavailable)
}
