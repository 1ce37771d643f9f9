package protocol

import "sync"

// forms has the comparable forms of long texts that filters have compared, so that a filter of hundreds
// of comparisons makes the form of a text once. It is safe for concurrent use.
type forms struct {
	mu    sync.Mutex
	known map[string]string
	bytes int // of the texts in known
}

const (
	shortText  = 64        // bytes; the form of such a text is made as fast as it is found
	knownBytes = 512 << 10 // of texts whose forms are kept: several resources of the maximum size
)

// of returns the comparable form of a value of a.
func (f *forms) of(a *Attribute, text string) string {
	if len(text) <= shortText || a.comparesAsIs() {
		return a.comparable(text)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	form, ok := f.known[text]
	if ok {
		return form
	}
	if f.known == nil || f.bytes+len(text) > knownBytes {
		f.known, f.bytes = map[string]string{}, 0
	}
	form = a.comparable(text)
	f.known[text] = form
	f.bytes += len(text)
	return form
}
