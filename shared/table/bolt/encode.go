package bolt

import (
	"cmp"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"maps"
	"slices"
	"strings"
	"time"

	"docent/shared/table"
)

// Buckets: "t/" and the table's name for each table, and the list of expiring items.
var expiryBucket = []byte("expiry")

func bucketName(tableName string) []byte { return []byte("t/" + tableName) }

// rowKey returns the key of an item within its table's bucket.
func rowKey(k table.Key) []byte {
	return append(partitionKey(k.Partition), k.Sort...)
}

// partitionKey returns the prefix of the keys of all items of the partition, and of no others.
func partitionKey(partition string) []byte {
	return appendPartition(make([]byte, 0, len(partition)+1+64), partition)
}

func appendPartition(key []byte, partition string) []byte {
	return append(append(key, partition...), 0)
}

// expiryKey returns a key of the list of expiring items: the second, then the item's key.
func expiryKey(expires time.Time, k table.Key) []byte {
	key := expiryTime(expires)
	key = append(append(key, k.Table...), 0)
	return append(key, rowKey(k)...)
}

// expiryTime encodes seconds so that the order of bytes is the order of time, also before 1970.
func expiryTime(t time.Time) []byte {
	return binary.BigEndian.AppendUint64(nil, uint64(t.Unix())^(1<<63))
}

// readExpiryKey returns the key of the item from a key that expiryKey returned.
func readExpiryKey(key []byte) (table.Key, error) {
	if len(key) > 8 {
		if parts := strings.SplitN(string(key[8:]), "\x00", 3); len(parts) == 3 {
			return table.Key{Table: parts[0], Partition: parts[1], Sort: parts[2]}, nil
		}
	}
	return table.Key{}, errors.New("the list of expiring items is damaged")
}

// A stored item is a format byte, a byte of flags, the version, the expiry if flagged, the
// body, the numbers and the strings. Numbers are varints; a text starts with its length, a list
// with its count.
//
// If flagged, the first of the strings is the checksum of all other bytes of the item and of its key. It
// has the name of the string after it: a program that knows no checksums reads both, and keeps
// the second. When such a program writes the item again, the flag is gone, and so is the checksum.
const (
	itemFormat  = 1
	flagExpires = 1
	flagSum     = 2
)

// sumBytes is the length of a checksum: a CRC-32C.
const sumBytes = 4

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// isSummed reports whether item gets a checksum: what belongs to documents does, because all that reads documents can
// do without one that is damaged. The name of a string has to carry it.
func isSummed(item table.Item) bool { return item.Table == table.Documents && len(item.Strings) > 0 }

// sumOf returns the checksum of an item: of its row, and of its data before and after the place of the checksum.
func sumOf(k table.Key, before, after []byte) uint32 {
	sum := crc32.Update(0, castagnoli, rowKey(k))
	sum = crc32.Update(sum, castagnoli, before)
	return crc32.Update(sum, castagnoli, after)
}

func encode(item table.Item) []byte {
	b := make([]byte, 0, 64+len(item.Body))
	flags, strings := byte(0), sortedNames(item.Strings)
	if !item.Expires.IsZero() {
		flags |= flagExpires
	}
	count := len(strings)
	if isSummed(item) {
		flags, count = flags|flagSum, count+1
	}
	b = append(b, itemFormat, flags)
	b = binary.AppendVarint(b, item.Version)
	if flags&flagExpires != 0 {
		b = binary.AppendVarint(b, item.Expires.Unix())
	}
	b = appendText(b, item.Body)
	b = binary.AppendUvarint(b, uint64(len(item.Numbers)))
	for _, name := range sortedNames(item.Numbers) {
		b = binary.AppendVarint(appendText(b, name), item.Numbers[name])
	}
	b = binary.AppendUvarint(b, uint64(count))
	sum := 0 // where the checksum is
	if flags&flagSum != 0 {
		b = append(appendText(b, strings[0]), sumBytes)
		sum = len(b)
		b = append(b, make([]byte, sumBytes)...)
	}
	for _, name := range strings {
		b = appendText(appendText(b, name), item.Strings[name])
	}
	if flags&flagSum != 0 {
		after := b[sum+sumBytes:]
		binary.BigEndian.PutUint32(b[sum:], sumOf(item.Key, b[:sum], after))
	}
	return b
}

func appendText[T string | []byte](b []byte, text T) []byte {
	return append(binary.AppendUvarint(b, uint64(len(text))), text...)
}

func sortedNames[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

// decode returns the item under k, which shares nothing with data.
func decode(k table.Key, data []byte) (table.Item, error) {
	r := reader{data: data}
	item := table.Item{Key: k}
	if r.byte() != itemFormat {
		return item, &table.DamagedError{Keys: []table.Key{k}}
	}
	flags := r.byte()
	item.Version = r.varint()
	if flags&flagExpires != 0 {
		item.Expires = time.Unix(r.varint(), 0).UTC()
	}
	if body := r.text(); len(body) > 0 {
		item.Body = slices.Clone(body)
	}
	fields := string(r.data) // names and values share one copy
	if n := r.count(); n > 0 {
		item.Numbers = make(map[string]int64, n)
		for range n {
			name := r.textIn(fields)
			item.Numbers[name] = r.varint()
		}
	}
	n := r.count()
	if flags&flagSum != 0 {
		r.text()
		sum := r.text()
		before, after := data[:len(data)-len(r.data)-len(sum)], r.data
		if n--; len(sum) != sumBytes || binary.BigEndian.Uint32(sum) != sumOf(k, before, after) {
			r.fail()
		}
	}
	if n > 0 && !r.bad {
		item.Strings = make(map[string]string, n)
		for range n {
			name := r.textIn(fields)
			item.Strings[name] = r.textIn(fields)
		}
	}
	if r.bad || len(r.data) > 0 {
		return item, &table.DamagedError{Keys: []table.Key{k}}
	}
	return item, nil
}

// reader reads values from the start of data. After a missing one, all values are empty.
type reader struct {
	data []byte
	bad  bool
}

func (r *reader) fail() {
	r.data, r.bad = nil, true
}

func (r *reader) byte() byte {
	if len(r.data) == 0 {
		r.fail()
		return 0
	}
	b := r.data[0]
	r.data = r.data[1:]
	return b
}

func (r *reader) varint() int64 {
	v, n := binary.Varint(r.data)
	if n <= 0 {
		r.fail()
		return 0
	}
	r.data = r.data[n:]
	return v
}

// count reads a length, at most the number of bytes left.
func (r *reader) count() int {
	v, n := binary.Uvarint(r.data)
	if n <= 0 || v > uint64(len(r.data)-n) {
		r.fail()
		return 0
	}
	r.data = r.data[n:]
	return int(v)
}

func (r *reader) text() []byte {
	n := r.count()
	text := r.data[:n]
	r.data = r.data[n:]
	return text
}

// textIn returns the text from a copy of data that ends where data ends.
func (r *reader) textIn(data string) string {
	text := r.text()
	end := len(data) - len(r.data)
	return data[end-len(text) : end]
}
