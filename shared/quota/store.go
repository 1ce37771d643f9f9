package quota

import (
	"time"

	"docent/shared/table"
)

// used is the number field of a counter.
const used = "used"

// keep is how long a counter outlives its day, for reports and for clocks that
// disagree.
const keep = 3 * 24 * time.Hour

// AnswersKey is where a team's questions of the day w are counted.
func AnswersKey(teamID string, w Window) table.Key {
	return key(teamID, AnswersDay+"#"+w.Date)
}

// CallsKey is where the calls of a personal key on the day w are counted.
func CallsKey(teamID, keyID string, w Window) table.Key {
	return key(teamID, PATDay+"#"+keyID+"#"+w.Date)
}

func key(teamID, sort string) table.Key {
	return table.Key{Table: table.Usage, Partition: teamID + "/quota", Sort: sort}
}

// Step is the operation that counts one more under k on the day w, on the
// condition that limit is not reached. It may be one of the operations of a
// Write; called by itself it makes a single attempt.
func Step(k table.Key, w Window, limit int64) table.Add {
	return table.Add{
		Key: k, By: map[string]int64{used: 1}, Expires: w.Start.Add(keep),
		If: table.Below(used, limit), Once: true,
	}
}

// Used is the count in a counter's item; 0 of the zero Item.
func Used(item table.Item) int64 { return item.Numbers[used] }
