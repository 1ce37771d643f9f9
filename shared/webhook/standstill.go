package webhook

import "time"

// standstill is a time in Unix milliseconds in which a delivery was due, its endpoint did not rest, and yet no worker ran: docent serve
// was stopped, or a backup was restored. No endpoint is to blame for it, and no delivery gets older by it.
type standstill struct{ from, until int64 }

// longestDelay is how long messages and the sweeper may delay a turn while workers run.
const longestDelay = 15 * time.Minute

func standstillOf(state map[string]int64) standstill {
	return standstill{state[stillFromField], state[stillUntilField]}
}

// since returns how much of the time between t and now is not part of s.
func (s standstill) since(t, now time.Time) time.Duration {
	from, until := max(s.from, t.UnixMilli()), min(s.until, now.UnixMilli())
	return now.Sub(t) - time.Duration(max(until-from, 0))*time.Millisecond
}

// notice checks whether t begins its round after a standstill. all are the deliveries of the round, those that are due
// longest first. It remembers the longest standstill as long as a delivery may have waited through it.
func (t *turn) notice(all []Delivery, now time.Time) {
	if t.late = 0; len(all) == 0 {
		return
	}
	due := fromMillis(max(all[0].NextAttemptAt.UnixMilli(), t.state[pausedField]))
	late := now.Sub(due)
	if late <= longestDelay {
		return
	}
	t.late = late
	if last := t.still; late.Milliseconds() >= last.until-last.from || last.until < now.Add(-expireAfter).UnixMilli() {
		t.still = standstill{due.UnixMilli(), now.UnixMilli()}
	}
}
