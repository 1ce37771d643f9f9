package source

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// How long a run of a few minutes may spend on requests about single records that fail; some are never answered. Each run
// has time for all that are known to fail, and for one more.
const (
	againTime = time.Minute      // for all that failed before
	firstTime = 90 * time.Second // for what fails for the first time
)

// tries is what a run of a sync knows about single records of a part that fail.
type tries struct {
	known        map[string]bool // uris of what failed before this reading
	fresh        []string        // uris of what has failed for the first time
	failed       map[string]bool // uris of what was tried in vain
	again, first time.Duration   // the time it took
	last         *SyncError      // of the latest in fresh
	answered     bool            // a request has succeeded
	// renew is called before each request with the time that the request may take: many slow ones take longer than a lease. nil:
	// there is no lease.
	renew func(ctx context.Context, most time.Duration) error
}

func newTries(failed []string) *tries {
	t := &tries{known: map[string]bool{}, failed: map[string]bool{}}
	for _, uri := range failed {
		t.known[uri] = true
	}
	return t
}

// spent reports whether the time for records that fail for the first time is used up.
func (t *tries) spent() bool { return t.first >= firstTime }

// Try calls read, which sends one request about the record at uri, and limits its time. A failure has one of three results.
// If the record failed in an earlier reading too, leftOut is set: the connector continues without the record and lists it in
// SyncPage.Failed. If it fails for the first time, err is a *SyncError with the uri: the connector may try the other records
// of the page, to find all that fail, but must not yield the page, and returns err. The next reading leaves out those that
// fail again. If the error concerns other records too, or says when to retry, err has no uri. Once all records that failed
// before have together taken too long, Try leaves out the rest of them without a request.
func (a Access) Try(ctx context.Context, uri string, read func(context.Context) error) (leftOut bool, err error) {
	t := a.tries
	if t == nil {
		t = newTries(a.Failed)
	}
	known := t.known[uri]
	most, spent := firstTime, &t.first
	if known {
		most, spent = againTime, &t.again
	}
	left := most - *spent
	switch {
	case left <= 0 && known:
		return true, nil
	case left <= 0:
		return false, t.last
	}
	if t.renew != nil {
		if err := t.renew(ctx, left); err != nil {
			return false, err
		}
	}
	begun := time.Now()
	timed, cancel := context.WithTimeout(ctx, left)
	defer cancel()
	err = read(timed)
	if err != nil && ctx.Err() == nil && errors.Is(timed.Err(), context.DeadlineExceeded) {
		err = &SyncError{Code: Unreadable, Detail: fmt.Sprintf("The provider did not return %s within %s.", uri, left.Round(time.Second)), Cause: err}
	}
	t.answered = t.answered || err == nil
	var failed *SyncError
	if !errors.As(err, &failed) || !failed.maybeOfOne() {
		return false, err
	}
	*spent += time.Since(begun)
	t.failed[uri] = true
	failed.URI = uri
	if !known {
		if !slices.Contains(t.fresh, uri) {
			t.fresh = append(t.fresh, uri)
		}
		t.last = failed
		return false, err
	}
	return true, nil
}

// IsOfOne reports whether err, of Try, is about a single record.
func IsOfOne(err error) bool {
	var failed *SyncError
	return errors.As(err, &failed) && failed.URI != ""
}
