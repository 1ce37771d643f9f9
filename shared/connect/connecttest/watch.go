package connecttest

import (
	"net/http"
	"sync"
)

// Watch is the part of a provider's stand-in that remembers the requests, and lets a test reply in its place. It is safe for
// concurrent use.
type Watch struct {
	mu       sync.Mutex
	requests []string
	before   func(path string, w http.ResponseWriter) (answered bool)
}

// Before sets a function that is called before each reply and may reply itself; nil:
// none.
func (o *Watch) Before(f func(path string, w http.ResponseWriter) (answered bool)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.before = f
}

// Requests returns the requests since the last call.
func (o *Watch) Requests() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	out := o.requests
	o.requests = nil
	return out
}

// Saw remembers a request, and reports whether the function of Before has replied to its path.
// The stand-in then holds no lock that the function may need. number is for Note.
func (o *Watch) Saw(request, path string, w http.ResponseWriter) (number int, answered bool) {
	o.mu.Lock()
	before := o.before
	o.requests = append(o.requests, request)
	number = len(o.requests) - 1
	o.mu.Unlock()
	return number, before != nil && before(path, w)
}

// Note adds a text to a request, unless Requests has returned it.
func (o *Watch) Note(number int, text string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if number < len(o.requests) {
		o.requests[number] += text
	}
}
