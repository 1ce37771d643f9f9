package quota

import (
	"math"
	"time"

	"docent/shared/apierr"
)

// Names of the daily quotas in headers, reports and errors.
const (
	AnswersDay = "answers-day" // questions of a team
	PATDay     = "pat-day"     // calls with one personal key
	SessionDay = "session-day" // calls of one session of the dashboard
)

// The allowances of one Pacific day.
const (
	AnswersPerDay = 1000
	CallsPerDay   = 1000
	// SessionCallsPerDay is far above what a person does in a browser.
	SessionCallsPerDay = 20_000
)

// State is how much of a quota is used.
type State struct {
	Name        string // AnswersDay, PATDay or SessionDay, or of a limit by package rate
	Limit, Used int64
	Window      Window
}

// Answers returns the state of a team's question quota after used questions.
func Answers(w Window, used int64) State {
	return State{Name: AnswersDay, Limit: AnswersPerDay, Used: used, Window: w}
}

// Calls returns the state of a personal key's call quota after used calls.
func Calls(w Window, used int64) State {
	return State{Name: PATDay, Limit: CallsPerDay, Used: used, Window: w}
}

// SessionCalls returns the state of a session's call quota after used calls.
func SessionCalls(w Window, used int64) State {
	return State{Name: SessionDay, Limit: SessionCallsPerDay, Used: used, Window: w}
}

// Remaining returns how much of the quota is not used yet, never less than 0.
func (s State) Remaining() int64 { return max(s.Limit-s.Used, 0) }

// Exhausted returns s with nothing left.
func (s State) Exhausted() State {
	s.Used = s.Limit
	return s
}

// secondsToReset rounds up, so that a client that waits this long is never early, and returns 0
// after the reset.
func (s State) secondsToReset(now time.Time) int64 {
	return max(int64(math.Ceil(s.Window.Reset.Sub(now).Seconds())), 0)
}

// ExceededError is returned for a call that exceeds a quota. It unwraps to an *apierr.Error of
// kind QuotaExceeded with code quota-exceeded.
type ExceededError struct{ State }

// Exceeded returns the error of one step beyond s.
func Exceeded(s State) *ExceededError { return &ExceededError{s.Exhausted()} }

func (e *ExceededError) Error() string { return "quota " + e.Name + " is exceeded" }

// Unwrap returns the error for the client.
func (e *ExceededError) Unwrap() error {
	what := "questions of this team"
	if e.Name == PATDay {
		what = "calls of this personal key"
	}
	if e.Name == SessionDay {
		what = "calls of this session"
	}
	return apierr.New(apierr.QuotaExceeded, apierr.CodeQuotaExceeded,
		"The quota of %d %s for the day %s (Pacific time) is used up.", e.Limit, what, e.Window.Date)
}

// Title returns the title of the problem object.
func (e *ExceededError) Title() string {
	if e.Name != AnswersDay {
		return "Daily call quota exceeded"
	}
	return "Daily question quota exceeded"
}

// RetryAfter returns the value of the Retry-After header: the seconds from now to the reset,
// rounded up.
func (e *ExceededError) RetryAfter(now time.Time) int64 { return e.secondsToReset(now) }
