package quota

import (
	"time"

	"docent/shared/table"
)

// used is the number field of a counter.
const used = "used"

// keep is how long a counter is stored after its day begins, for reports and for clocks that
// differ.
const keep = 3 * 24 * time.Hour

// AnswersKey returns the key of the counter of a team's questions on the day w.
func AnswersKey(teamID string, w Window) table.Key {
	return key(teamID, AnswersDay+"#"+w.Date)
}

// CallsKey returns the key of the counter of a personal key's calls on the day w.
func CallsKey(teamID, keyID string, w Window) table.Key {
	return key(teamID, PATDay+"#"+keyID+"#"+w.Date)
}

func key(teamID, sort string) table.Key {
	return table.Key{Table: table.Usage, Partition: teamID + "/quota", Sort: sort}
}

// Step returns the operation that adds one to the counter k of the day w, on the condition that
// limit is not reached. It can be part of a Write; alone, it makes a single attempt.
func Step(k table.Key, w Window, limit int64) table.Add {
	return table.Add{
		Key: k, By: map[string]int64{used: 1}, Expires: w.Start.Add(keep),
		If: table.Below(used, limit), Once: true,
	}
}

// Used returns the count in a counter's item; 0 for the zero Item.
func Used(item table.Item) int64 { return item.Numbers[used] }
