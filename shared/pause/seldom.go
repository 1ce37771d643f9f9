package pause

import (
	"maps"
	"sync"
	"time"
)

// mostNames bounds the names that a Seldom remembers.
const mostNames = 1000

// Seldom limits how often something is done about each of many names, such as a line of the log. The zero value is ready to use.
// It must not be copied.
type Seldom struct {
	mu   sync.Mutex
	last map[string]time.Time
}

// Due reports whether something is due for a name at now, and notes it: once in each period of length every, and for no more than
// 1,000 names in it.
func (s *Seldom) Due(name string, now time.Time, every time.Duration) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	recent := func(last time.Time) bool { return now.Sub(last).Abs() < every } // a clock may be set back
	if last, ok := s.last[name]; ok && recent(last) {
		return false
	}
	if len(s.last) >= mostNames {
		maps.DeleteFunc(s.last, func(_ string, last time.Time) bool { return !recent(last) })
	}
	if len(s.last) >= mostNames {
		return false
	}
	if s.last == nil {
		s.last = map[string]time.Time{}
	}
	s.last[name] = now
	return true
}
