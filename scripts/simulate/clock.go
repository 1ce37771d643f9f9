// Package simulate runs Docent's own handlers and workers on simulated DynamoDB, SQS, S3 and Lambda, in virtual time: the
// clock of a testing/synctest bubble. The services keep what they are given in memory, and pass the contract suites of
// their engines; their calls take the time, and refuse the load, that AWS publishes (assumptions.go).
//
// `make simulate` runs the scenarios and draws what they measured. The README says what it found.
package simulate

import (
	"context"
	"math"
	"math/rand/v2"
	"sync"
	"time"

	"docent/shared/pause"
)

// Chance draws latencies. It is safe for concurrent use; the zero Chance has none, and no call takes time.
type Chance struct {
	mu     sync.Mutex
	random *rand.Rand
}

// NewChance returns a source whose draws depend on seed only.
func NewChance(seed uint64) *Chance {
	return &Chance{random: rand.New(rand.NewPCG(seed, 0))} //nolint:gosec // the latencies of a simulation are not secret
}

// sigmas is how many standard deviations the 99th percentile of a normal distribution is above its mean.
const sigmas = 2.326

// draw returns the time of one call.
func (c *Chance) draw(l Latency) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.random == nil || l.Median <= 0 {
		return 0
	}
	spread := math.Log(float64(l.P99)/float64(l.Median)) / sigmas
	return time.Duration(float64(l.Median) * math.Exp(spread*c.random.NormFloat64()))
}

// begin makes every call take time from now on, by draws that depend on seed only.
func (c *Chance) begin(seed uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.random = NewChance(seed).random
}

// takesTime reports whether calls take time.
func (c *Chance) takesTime() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.random != nil
}

// upTo returns a time from 0 to d.
func (c *Chance) upTo(d time.Duration) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.random == nil || d <= 0 {
		return 0
	}
	return time.Duration(c.random.Int64N(int64(d)))
}

// take lets the time of one call pass. It returns the error of ctx if that ends first.
func (c *Chance) take(ctx context.Context, l Latency) error {
	if d := c.draw(l); d > 0 {
		return pause.For(ctx, d)
	}
	return ctx.Err()
}

// bucket bounds a rate: units flow in at perSecond and are kept up to most. A call is admitted while there are any,
// and takes what it needs, also more than there are.
type bucket struct {
	perSecond, most float64
	level           float64
	at              time.Time
}

func newBucket(perSecond float64, burst time.Duration, now time.Time) *bucket {
	most := perSecond * burst.Seconds()
	return &bucket{perSecond: perSecond, most: most, level: most, at: now}
}

// admits reports whether a call may begin now.
func (b *bucket) admits(now time.Time) bool {
	b.level = min(b.most, b.level+b.perSecond*now.Sub(b.at).Seconds())
	b.at = now
	return b.level > 0
}

// exponential returns the time between two events that happen once in a unit of time.
func (c *Chance) exponential() float64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.random.ExpFloat64()
}
