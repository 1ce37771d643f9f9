// Package tabletest is the contract suite of table.Store, which every engine passes. The names
// of its cases are the guarantees.
package tabletest

import (
	"testing"
	"time"

	"docent/shared/clocktest"
	"docent/shared/table"

	"github.com/google/uuid"
)

// Open returns a store with the tables of table.Names and the clock now. It may return stores
// on the same tables, because each case uses its own partitions.
type Open func(t *testing.T, now func() time.Time) table.Store

// Options skip cases that an emulator cannot pass. They are never set for table/bolt or
// DynamoDB itself.
type Options struct {
	NoTransactions bool // a Write of several operations does not work
	NoConcurrency  bool // requests in parallel disturb each other, as moto's transactions do
	NoOldItem      bool // a failed condition does not return the existing item
	NoFullItems    bool // items below MaxItemBytes are refused
	NoCapacity     bool // the reported capacity differs from DynamoDB's
}

// Run runs every case that options do not skip.
func Run(t *testing.T, open Open, options Options) {
	for _, group := range []struct {
		name  string
		cases []testCase
	}{
		{"item", itemCases},
		{"condition", conditionCases},
		{"count", countCases},
		{"query", queryCases},
		{"cursor", cursorCases},
		{"batch", batchCases},
		{"write", writeCases},
		{"race", raceCases},
		{"context", contextCases},
		{"size", sizeCases},
		{"value", valueCases},
		{"expiry", expiryCases},
		{"cost", costCases},
	} {
		t.Run(group.name, func(t *testing.T) {
			for _, c := range group.cases {
				t.Run(c.name, func(t *testing.T) { c.run(t, open, options) })
			}
		})
	}
}

// needs are the abilities of an engine that a case needs.
type needs int

const (
	transactions needs = 1 << iota
	concurrency
	fullItems
	capacity
)

type testCase struct {
	name  string
	needs needs
	check func(*testing.T, *env)
}

func (c testCase) run(t *testing.T, open Open, o Options) {
	for _, gap := range []struct {
		lacking bool
		needs   needs
		what    string
	}{
		{o.NoTransactions, transactions, "transactions"},
		{o.NoConcurrency, concurrency, "concurrent requests"},
		{o.NoFullItems, fullItems, "items of 400 KB"},
		{o.NoCapacity, capacity, "true capacity"},
	} {
		if gap.lacking && c.needs&gap.needs != 0 {
			t.Skip("this endpoint lacks " + gap.what)
		}
	}
	if !o.NoConcurrency {
		t.Parallel()
	}
	clock := clocktest.New(time.Now().UTC().Truncate(time.Second))
	c.check(t, &env{
		store:     open(t, clock.Now),
		clock:     clock,
		options:   o,
		partition: uuid.NewString(),
	})
}

// env is the environment of one case.
type env struct {
	store     table.Store
	clock     *clocktest.Clock
	options   Options
	partition string // no other case has it
}
