package quota

import (
	"math"
	"time"

	"docent/shared/apierr"
)

// Names of the daily quotas, as they stand in headers, reports and errors.
const (
	AnswersDay = "answers-day" // questions of a team
	PATDay     = "pat-day"     // calls with one personal key
)

// The allowances of one Pacific day.
const (
	AnswersPerDay = 1000
	CallsPerDay   = 1000
)

// State is how much of one quota is used in its window.
type State struct {
	Name        string // AnswersDay or PATDay
	Limit, Used int64
	Window      Window
}

// Answers is the state of a team's questions after used of them.
func Answers(w Window, used int64) State {
	return State{Name: AnswersDay, Limit: AnswersPerDay, Used: used, Window: w}
}

// Calls is the state of a personal key's calls after used of them.
func Calls(w Window, used int64) State {
	return State{Name: PATDay, Limit: CallsPerDay, Used: used, Window: w}
}

// Remaining is what is left, never negative.
func (s State) Remaining() int64 { return max(s.Limit-s.Used, 0) }

// Exhausted is the state with nothing left.
func (s State) Exhausted() State {
	s.Used = s.Limit
	return s
}

// secondsToReset rounds up, so that a client that waits as told is never early,
// and is 0 from the reset on.
func (s State) secondsToReset(now time.Time) int64 {
	return max(int64(math.Ceil(s.Window.Reset.Sub(now).Seconds())), 0)
}

// ExceededError refuses what a spent quota does not allow. It unwraps to an
// *apierr.Error of kind QuotaSpent with code quota-exceeded.
type ExceededError struct{ State }

// Exceeded is the refusal of one step beyond s.
func Exceeded(s State) *ExceededError { return &ExceededError{s.Exhausted()} }

func (e *ExceededError) Error() string { return "quota " + e.Name + " is spent" }

// Unwrap returns the refusal as the client reads it.
func (e *ExceededError) Unwrap() error {
	what := "questions of this team"
	if e.Name == PATDay {
		what = "calls of this personal key"
	}
	return apierr.New(apierr.QuotaExceeded, apierr.CodeQuotaExceeded,
		"All %d %s for the day %s (Pacific time) are spent.", e.Limit, what, e.Window.Date)
}

// Title is the title of the problem object.
func (e *ExceededError) Title() string {
	if e.Name == PATDay {
		return "Daily call quota exceeded"
	}
	return "Daily question quota exceeded"
}

// RetryAfter is the value of the header of that name: seconds from now to the
// reset, rounded up.
func (e *ExceededError) RetryAfter(now time.Time) int64 { return e.secondsToReset(now) }
