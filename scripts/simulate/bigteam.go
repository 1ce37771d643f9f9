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

// What a search needs grows with the passages that it searches as a power of their number. These are the figures for a
// million passages and the exponents from a hundred thousand to a million, from the table "By size" in
// shared/search/MEASURED.md.
const (
	measuredPassages = 1_000_000
	bytesPerPassage  = 108
	// Documents have pages of some sections; a passage has up to 200 words.
	passagesPerDocument = 3

	coldGets, coldGetsGrowth   = 84, 0.54  // requests of a cold question: 24, then 84
	coldBytes, coldBytesGrowth = 2.1, 0.54 // MiB that it reads: 0.6, then 2.1
	rankTime, rankGrowth       = 2.4, 0.75 // ms: 0.43, then 2.4
	otherTime                  = 0.3       // ms of a search besides ranking
	// After 300 questions 51 MiB were in memory, after one 2.1: what n questions read in all grows as n to this power.
	// (It is 0.58 for a hundred thousand passages.)
	distinctGrowth = 0.56

	// By meaning in addition: processor time of docent above that by words, from the table "Compared with the other
	// engines": 1.7 ms for 10,000 passages, 3.1 for 150,000, 7.3 for a million. Sketches are scanned, so it grows as they do.
	meaningTime, meaningPerMillion = 1.9, 5.4 // ms
	vectorReads                    = 150      // nearByRange in shared/search: vectors that a question reads, each from a page of its own
	bytesPerVector                 = 388
	pageSize                       = 4 << 10

	getsAtOnce     = 16 // openAtOnce in shared/search
	segmentsALevel = 5  // on average: ten become one of the next
	mergeWidth     = 10
	batchDocuments = 10 // of a new segment
	recordUnits    = 44 // read units of candidates, besides the lists, within the bound of 49 of a question in shared/search
)

// Shape is the work of a search in an index.
type Shape struct {
	Passages int
	Segments int           // records that each question reads
	Gets     float64       // requests of a cold question
	MiB      float64       // that a cold question reads
	Compute  time.Duration // on a whole processor
	Meaning  bool          // by words and vectors
}

// ShapeOf extrapolates the measured figures to a number of documents, searched by words, or by words and meaning.
func ShapeOf(documents int, meaning bool) Shape {
	s := Shape{Passages: documents * passagesPerDocument, Meaning: meaning}
	times := float64(s.Passages) / measuredPassages
	s.Gets = max(coldGets*math.Pow(times, coldGetsGrowth), 1)
	s.MiB = coldBytes * math.Pow(times, coldBytesGrowth)
	ms := otherTime + rankTime*math.Pow(times, rankGrowth)
	if meaning {
		ms += meaningTime + meaningPerMillion*times
	}
	s.Compute = time.Duration(ms * float64(time.Millisecond))
	levels := max(math.Ceil(math.Log(float64(documents)/batchDocuments)/math.Log(mergeWidth)), 1)
	s.Segments = segmentsALevel * int(levels)
	return s
}

// Missing returns the share of a cold question's requests that the next question makes, in an environment with cache MiB
// of memory for segments that has answered n questions. The cache holds what the last questions read.
func (s Shape) Missing(n int, cache float64) float64 {
	if n == 0 {
		return 1
	}
	kept := math.Pow(max(cache/s.MiB, 1), 1/distinctGrowth) // questions whose reads fit
	if cache >= float64(s.Passages)*bytesPerPassage/(1<<20) {
		kept = math.Inf(1)
	}
	last := min(float64(n+1), kept)
	return distinctGrowth * math.Pow(max(last, 1), distinctGrowth-1)
}

// MissingVectors returns how many vectors the next question reads from the bucket, where n questions have been answered
// and every page that was read is kept. Neighbours of questions are anywhere.
func (s Shape) MissingVectors(n int) float64 {
	if !s.Meaning {
		return 0
	}
	pages := float64(s.Passages) * bytesPerVector / pageSize
	return vectorReads * math.Exp(-vectorReads*float64(n)/pages)
}

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
	shape, quiet := ShapeOf(s.Documents, s.Meaning), &Chance{}
	store, objects := NewTable(quiet, time.Now), NewObjects(quiet)
	const teamID = "0192c6a0-7b1e-7c3d-9e4f-000000000001"
	for n := range shape.Segments {
		item := table.Item{Key: table.Key{Table: table.Index, Partition: teamID, Sort: fmt.Sprintf("%s#documentation#%02d#%s", teamID, n/segmentsALevel, fmt.Sprintf("0192c6a0-7b1e-7c3d-9e4f-%012d", n))},
			Version: 1, Body: []byte(`{"bytes":123456789,"passages":1234567,"documents":123456,"lengths":123456789,"analysis":12,"format":3}`)}
		if err := store.Write(ctx, table.Put{Item: item}); err != nil {
			return BigTeamResult{}, err
		}
	}
	var candidates []table.Key
	for n := range recordUnits {
		candidates = append(candidates, table.Key{Table: table.Documents, Partition: fmt.Sprintf("%s/%d", teamID, n), Sort: "record"})
	}
	chance := NewChance(s.Seed)
	store.chance, objects.chance = chance, chance
	account := NewAccount()
	program := func() *atomic.Int64 {
		var answered atomic.Int64
		answered.Store(int64(s.Answered))
		return &answered
	}
	invoke := NewFunction(Spec{Name: "context", Memory: s.Memory, Timeout: 28 * time.Second}, account, chance, program).Invoke
	if s.Processes > 0 {
		invoke = newFleet(s.Processes, s.Processors, program).Invoke
	}
	var mu sync.Mutex
	var r BigTeamResult
	var gets, searched atomic.Int64
	search := func(ctx context.Context, questions *atomic.Int64) error {
		var lists errgroup.Group
		lists.Go(func() error {
			_, err := store.Query(ctx, table.Query{Table: table.Index, Partition: teamID})
			return err
		})
		lists.Go(func() error {
			_, err := store.Query(ctx, table.Query{Table: table.Index, Partition: teamID + "/meaning"})
			return err
		})
		lists.Go(func() error {
			_, err := store.Query(ctx, table.Query{Table: table.Collections, Partition: teamID})
			return err
		})
		if err := lists.Wait(); err != nil {
			return err
		}
		before := int(questions.Add(1) - 1)
		var reads errgroup.Group
		reads.SetLimit(getsAtOnce)
		read := func(times float64, folder string, bytes int) {
			n := int(math.Round(times))
			gets.Add(int64(n))
			for range n {
				reads.Go(func() error {
					if err := objects.call(ctx, folder+teamID+"/x", false); err != nil {
						return err
					}
					return objects.transfer(ctx, bytes)
				})
			}
		}
		read(shape.Gets*shape.Missing(before, s.Cache), "segments/", int(shape.MiB/shape.Gets*(1<<20)))
		read(shape.MissingVectors(before), "vectors/", pageSize)
		if err := reads.Wait(); err != nil {
			return err
		}
		_, err := store.BatchGet(ctx, candidates)
		return err
	}
	begun := time.Now()
	var requests sync.WaitGroup
	one := func() {
		at, measured := time.Now(), time.Since(begun) > s.WarmUp
		var failed error
		err := chance.take(ctx, gatewayLatency)
		if err == nil {
			err = invoke(ctx, requestCompute+shape.Compute, func(ctx context.Context, questions *atomic.Int64) { failed = search(ctx, questions) })
		}
		searched.Add(1)
		mu.Lock()
		defer mu.Unlock()
		switch {
		case !measured:
		case err != nil:
			r.Refused++
		case failed != nil:
			r.Failed++
		default:
			r.Times = append(r.Times, time.Since(at))
		}
	}
	var before Used
	var listBefore float64
	var getsBefore, searchedBefore int64
	warm := false
	for time.Since(begun) < s.WarmUp+s.For {
		if !warm && time.Since(begun) >= s.WarmUp {
			warm, before, getsBefore, searchedBefore = true, store.Used(), gets.Load(), searched.Load()
			_, listBefore = store.Hottest(table.Index)
		}
		requests.Go(one)
		if err := pause.For(ctx, time.Duration(chance.exponential()/s.PerSecond*float64(time.Second))); err != nil {
			return r, err
		}
	}
	after := store.Used()
	_, list := store.Hottest(table.Index)
	done := float64(max(searched.Load()-searchedBefore, 1))
	r.Gets, r.Units = float64(gets.Load()-getsBefore)/done, (after.ReadUnits-before.ReadUnits)/done
	r.ListUnits = (list - listBefore) / s.For.Seconds()
	requests.Wait()
	r.Throttled, r.Slowed, r.MostAtOnce = store.Used().Throttled, objects.Used().Slowed, account.Most()
	slices.Sort(r.Times)
	return r, nil
}

// status returns the outcome as a client would see it, for tables.
func (r BigTeamResult) status() string {
	if r.Refused+r.Failed == 0 {
		return "all done"
	}
	return fmt.Sprintf("%d with %d, %d with %d", r.Refused, http.StatusTooManyRequests, r.Failed, http.StatusServiceUnavailable)
}
