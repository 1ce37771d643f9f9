package local

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"docent/shared/queue"
	"docent/shared/table"
)

// Partitions of the table, each under the queue's name:
//
//	{queue}/due     sort {time, 20 digits}#{id}   every message that is not done, by when it can be received
//	{queue}/body    sort {id}#{part}              parts of bodies over inlineBytes
//	{queue}/dead    sort {id}                     dead letters
//
// A message in flight stays in the due partition, at the end of its visibility
// timeout: that it comes again after a crash needs nobody to put it back.
const (
	due  = "due"
	body = "body"
	dead = "dead"
)

// Sizes of stored bodies.
const (
	inlineBytes = 4 << 10   // up to here a body lives in its record, which is written anew at each delivery
	partBytes   = 256 << 10 // fits an item of the store
	maxParts    = queue.MaxBytes / partBytes
)

// Number fields of a record. Its Version steps with every change, so that the
// receipt of an earlier delivery never fits a later one.
const (
	fieldReceives = "receives"
	fieldParts    = "parts"
	fieldInFlight = "inFlight" // 1 from delivery until Retry
	fieldSent     = "sent"     // Unix nanoseconds
	fieldDied     = "died"     // Unix nanoseconds
)

var errUnreadable = errors.New("unreadable queue record")

// record is one message as it is stored.
type record struct {
	id       string
	due      time.Time // of a message that is not dead
	version  int64
	receives int
	parts    int // 0: body holds it all
	inFlight bool
	sent     time.Time
	died     time.Time // of a dead letter
	body     []byte
	raw      *table.Item // set when it can not be read: the item as it stands
}

// unreadable stands for an item that decode refuses. It is due at once.
func unreadable(item table.Item) record {
	return record{id: item.Sort, version: item.Version, raw: &item}
}

// decode reads an item of the due partition.
func decode(item table.Item) (record, error) {
	at, id, err := parseSort(item.Sort)
	if err != nil {
		return record{}, err
	}
	return decodeFields(item, record{id: id, due: at})
}

// decodeDead reads an item of the dead partition.
func decodeDead(item table.Item) (record, error) {
	return decodeFields(item, record{id: item.Sort, died: time.Unix(0, item.Numbers[fieldDied])})
}

func decodeFields(item table.Item, r record) (record, error) {
	receives, parts := item.Numbers[fieldReceives], item.Numbers[fieldParts]
	if item.Version < 1 || receives < 0 || receives > queue.MaxReceives || parts < 0 || parts > maxParts {
		return record{}, fmt.Errorf("%w: version %d, %d receives, %d parts", errUnreadable, item.Version, receives, parts)
	}
	if (len(item.Body) == 0) != (parts > 0) {
		return record{}, fmt.Errorf("%w: body of %d bytes beside %d parts", errUnreadable, len(item.Body), parts)
	}
	r.version, r.receives, r.parts = item.Version, int(receives), int(parts)
	r.inFlight = item.Numbers[fieldInFlight] == 1
	r.sent = time.Unix(0, item.Numbers[fieldSent])
	r.body = item.Body
	return r, nil
}

// fields returns the item of r under k.
func (r record) fields(k table.Key) table.Item {
	item := table.Item{Key: k, Version: r.version, Body: r.body, Numbers: map[string]int64{
		fieldReceives: int64(r.receives),
		fieldParts:    int64(r.parts),
		fieldSent:     r.sent.UnixNano(),
	}}
	if r.inFlight {
		item.Numbers[fieldInFlight] = 1
	}
	if !r.died.IsZero() {
		item.Numbers[fieldDied] = r.died.UnixNano()
	}
	return item
}

func sortOf(at time.Time, id string) string { return table.Padded(at.UnixNano()) + "#" + id }

func parseSort(sort string) (at time.Time, id string, err error) {
	digits, id, found := strings.Cut(sort, "#")
	nanos, bad := strconv.ParseInt(digits, 10, 64)
	if !found || id == "" || bad != nil || nanos < 0 || table.Padded(nanos) != digits {
		return time.Time{}, "", fmt.Errorf("%w: sort key %q", errUnreadable, sort)
	}
	return time.Unix(0, nanos), id, nil
}

// A receipt is "{version}#{parts}#{sort key}" of the record as delivered.
func receiptOf(r record) string {
	return fmt.Sprintf("%d#%d#%s", r.version, r.parts, sortOf(r.due, r.id))
}

// parseReceipt returns the id, due, version and parts of the delivered record.
func parseReceipt(receipt string) (record, error) {
	version, rest, _ := strings.Cut(receipt, "#")
	parts, sort, _ := strings.Cut(rest, "#")
	v, badVersion := strconv.ParseInt(version, 10, 64)
	n, badParts := strconv.Atoi(parts)
	at, id, badSort := parseSort(sort)
	r := record{id: id, due: at, version: v, parts: n}
	badKey := table.Key{Table: Table, Partition: due, Sort: sort}.Check()
	if badKey != nil || badVersion != nil || badParts != nil || badSort != nil || v < 1 || n < 0 || n > maxParts || receiptOf(r) != receipt {
		return record{}, fmt.Errorf("%w: malformed receipt", queue.ErrInvalid)
	}
	return r, nil
}
