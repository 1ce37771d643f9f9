// Package faulttest wraps table, blob and queue so that a test can make any one of their
// calls fail, in each way in which a real one fails.
package faulttest

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"docent/shared/table"
)

// Mode is a way in which a call fails.
type Mode string

// The modes. Lose, Duplicate and Delay affect sent messages only.
const (
	FailBefore Mode = "fails before its effect"
	FailAfter  Mode = "fails after its effect"
	TimeOut    Mode = "times out without effect"
	Throttle   Mode = "is throttled"
	Lose       Mode = "loses its message"
	Duplicate  Mode = "sends its message twice"
	Delay      Mode = "delays its message"
)

// The modes that end a process: no later call has an effect.
const (
	EndBefore Mode = "is the last before it has its effect"
	EndAfter  Mode = "is the last that has its effect"
)

// modes lists every mode of a single call.
var modes = []Mode{FailBefore, FailAfter, TimeOut, Throttle, Lose, Duplicate, Delay}

// Plan says which call fails, and how. The zero Plan lets all calls pass.
type Plan struct {
	mu    sync.Mutex
	armed bool
	mode  Mode
	at    int
	calls int
	hit   string
	seen  []string
}

// Arm makes one later call fail: number at, where the next call has number 1.
func (p *Plan) Arm(mode Mode, at int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.armed, p.mode, p.at, p.calls, p.hit, p.seen = true, mode, at, 0, "", nil
}

// Watch lets all calls pass and records their names, which Seen returns.
func (p *Plan) Watch() { p.Arm("", 0) }

// Seen returns the names of the calls since Watch or Arm, in order.
func (p *Plan) Seen() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.seen)
}

// ModesOf lists the modes that differ for a call of that name. A failed read has no effect in
// any mode, so reads need fewer.
func ModesOf(name string) []Mode {
	switch name {
	case "Get", "BatchGet", "Query", "blob.Get", "blob.GetRange", "blob.List", "Embed":
		return []Mode{FailBefore}
	case "Send":
		return modes
	default:
		return []Mode{FailBefore, FailAfter, TimeOut, Throttle}
	}
}

// Disarm lets all calls pass and returns the call that failed, empty if there were fewer
// calls than planned.
func (p *Plan) Disarm() (hit string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.armed = false
	return p.hit
}

// next counts the call of the given name and returns its fault, empty for none.
func (p *Plan) next(name string, args ...any) Mode {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.armed {
		return ""
	}
	p.seen = append(p.seen, name)
	p.calls++
	if ends := p.mode == EndBefore || p.mode == EndAfter; ends && p.calls > p.at && p.at > 0 {
		return EndBefore
	}
	if p.calls != p.at {
		return ""
	}
	p.hit = fmt.Sprint(append([]any{name, " "}, args...)...)
	return p.mode
}

// run makes one call under the plan.
func (p *Plan) run(do func() error, name string, args ...any) error {
	switch mode := p.next(name, args...); mode {
	case FailBefore, EndBefore:
		return fmt.Errorf("%s: %w", name, table.ErrUnavailable)
	case TimeOut:
		return fmt.Errorf("%s: %w", name, context.DeadlineExceeded)
	case Throttle:
		return fmt.Errorf("%s: %w", name, table.ErrThrottled)
	case FailAfter, EndAfter:
		if err := do(); err != nil {
			return err
		}
		return fmt.Errorf("%s: answer lost: %w", name, table.ErrUnavailable)
	default:
		return do()
	}
}
