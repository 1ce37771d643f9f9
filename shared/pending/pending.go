// Package pending passes work from a write to a queue without losing any. The write
// that causes the work stores a pending item in the same transaction, then the
// queue message is sent, and the worker removes the item in the transaction that
// finishes the work. Sweep sends again what is pending for longer than a minute, so
// a crash between write and send, a lost message or an outage of the queue only
// delays the work. On one machine the queues end with the process: Resume sends
// everything to the new ones.
package pending

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"time"

	"docent/shared/queue"
	"docent/shared/table"
)

// shards spreads pending items over partitions "pending/0" to "pending/7", so that
// one partition's write rate does not limit new work.
const shards = 8

// partition returns the partition of a shard. Rebuilds of vectors and files have their own: a release that
// knows no vectors or files could not finish them, and would send them again without end.
func partition(k Kind, meaning bool, shard uint32) string {
	if k == ExtractDocument {
		return fmt.Sprintf("pending-files/%d", shard)
	}
	if k == RebuildIndex && meaning {
		return fmt.Sprintf("pending-meaning/%d", shard)
	}
	return fmt.Sprintf("pending/%d", shard)
}

// Partitions returns the partitions of the pending items in the named table.
func Partitions(tableName string) []string {
	var names []string
	for shard := range uint32(shards) {
		names = append(names, partition("", false, shard))
		if tableName == RebuildIndex.Table() {
			names = append(names, partition(RebuildIndex, true, shard))
		}
		if tableName == ExtractDocument.Table() {
			names = append(names, partition(ExtractDocument, false, shard))
		}
	}
	return names
}

// partitionKeys has the partitions of all pending items.
var partitionKeys = func() map[table.Key]bool {
	keys := map[table.Key]bool{}
	for _, name := range table.Names {
		for _, partition := range Partitions(name) {
			keys[table.Key{Table: name, Partition: partition}] = true
		}
	}
	return keys
}()

// IsPending reports whether k is the key of a pending item.
func IsPending(k table.Key) bool {
	return partitionKeys[table.Key{Table: k.Table, Partition: k.Partition}]
}

// Kind is the kind of work.
type Kind string

// The kinds of work.
const (
	AnswerQuestion   Kind = "answer-question"   // ID is the question
	IndexDocument    Kind = "index-document"    // ID is the document, Version its new version
	ExtractDocument  Kind = "extract-document"  // ID is the document, Version that of a file whose text is to be read
	RemoveDocument   Kind = "remove-document"   // ID is the document, Old its last version
	RemoveChunks     Kind = "remove-chunks"     // ID is the document, Old a version that may never have become current; At may be in the future
	RemoveCollection Kind = "remove-collection" // ID is the collection
	SyncSource       Kind = "sync-source"       // ID is the data source, At when it is due, possibly in the future
	RebuildIndex     Kind = "rebuild-index"     // ID is a source and a space of it, "source#space"; At when it was planned
	AnnounceEvents   Kind = "announce-events"   // Notices are what happened, for webhook endpoints; ID is that of the first
	DeliverWebhooks  Kind = "deliver-webhooks"  // ID is a webhook endpoint for which deliveries wait, At 0
)

// Table returns the table of the pending items of k, which is that of their records.
func (k Kind) Table() string {
	switch k {
	case AnswerQuestion:
		return table.Answers
	case SyncSource:
		return table.Collections
	case RebuildIndex:
		return table.Index
	case AnnounceEvents, DeliverWebhooks:
		return table.Events
	default:
		return table.Documents
	}
}

// Version is a document version that work refers to.
type Version struct {
	Version    int64  `json:"version"`
	Collection string `json:"collection,omitempty"` // or connected source
	Space      string `json:"space,omitempty"`      // empty: documentation
	Chunks     int    `json:"chunks,omitempty"`     // body chunks to remove
	Passages   int    `json:"passages,omitempty"`   // passages that went stale
	Original   string `json:"original,omitempty"`   // object of the file to remove; a program that does not know it leaves it
}

// Work is one piece of work. It is also the queue message, so it has ids but no
// content.
type Work struct {
	Kind      Kind     `json:"kind"`
	TeamID    string   `json:"teamId"`
	ID        string   `json:"id"`
	Version   int64    `json:"version,omitempty"`
	Old       *Version `json:"old,omitempty"`
	At        int64    `json:"at"`                  // Unix milliseconds of the causing write
	RequestID string   `json:"requestId,omitempty"` // of the causing request, for the log
	// Meaning says that IndexDocument is done by words, and that vectors are still to be made.
	// A program that knows no vectors indexes the document again.
	Meaning bool     `json:"meaning,omitempty"`
	Notices []Notice `json:"notices,omitempty"` // of AnnounceEvents
}

// Key returns the key of the pending item of w.
func (w Work) Key() table.Key {
	h := fnv.New32a()
	h.Write([]byte(w.ID))
	return table.Key{
		Table:     w.Kind.Table(),
		Partition: partition(w.Kind, w.Meaning, h.Sum32()%shards),
		Sort:      fmt.Sprintf("%013d#%s#%s#%d", w.At, w.Kind, w.ID, w.Version),
	}
}

// Promise returns the operation that stores the pending item of w. It belongs in the
// Write that causes the work.
func (w Work) Promise() table.Put {
	return table.Put{Item: table.Item{Key: w.Key(), Body: w.Message()}}
}

// Complete returns the operation that removes the pending item of w. It belongs in the
// Write that finishes the work, and fails if another worker was first.
func (w Work) Complete() table.Delete {
	return table.Delete{Key: w.Key(), If: table.Exists()}
}

// meaningVersion is the version of a pending item that waits for vectors. Before, it has none.
const meaningVersion = 1

// AwaitMeaning returns the operation that makes w wait for vectors. It belongs in the Write that
// makes a document findable by its words, and fails if another worker was first.
func (w Work) AwaitMeaning() table.Put {
	put := w.ForMeaning().Promise()
	put.Item.Version, put.If = meaningVersion, table.VersionIs(0)
	return put
}

// ForMeaning returns the work that is left of w when its document is findable by words.
func (w Work) ForMeaning() Work {
	w.Old, w.Meaning = nil, true
	return w
}

// AwaitsMeaning reports whether the pending item of a document waits for vectors.
func AwaitsMeaning(item table.Item) bool { return item.Version == meaningVersion }

// leftField is the number of documents that a pending rebuild still has to index.
const leftField = "left"

// PromiseLeft returns Promise for work that has left documents to do.
func (w Work) PromiseLeft(left int64) table.Put {
	put := w.Promise()
	put.Item.Numbers = map[string]int64{leftField: left}
	return put
}

// Extend returns the operation that keeps the sweeper from sending w again before
// until, and records how many documents are left. It belongs in each Write that saves
// the progress of w, and fails if w has ended.
func (w Work) Extend(left int64, until time.Time) table.Add {
	return table.Add{Key: w.Key(), If: table.Exists(),
		Numbers: map[string]int64{leftField: left, sendsField: 1, nextField: until.UnixMilli()}}
}

// Message returns the body of the queue message.
func (w Work) Message() []byte {
	body, err := json.Marshal(w)
	if err != nil {
		panic(err) // every Work can be encoded
	}
	return body
}

// Outgoing returns the queue message of w, received after delay. Its group is the team, so that one
// team's work does not hold up the others'.
func (w Work) Outgoing(delay time.Duration) queue.Outgoing {
	return queue.Outgoing{Body: w.Message(), Delay: delay, Group: w.TeamID}
}

// Since returns w.At as a time.
func (w Work) Since() time.Time { return time.UnixMilli(w.At) }

// maxMessage bounds a message before it is parsed; a real one is below 1 KB, or 30 KB with
// notices.
const maxMessage = 64 << 10

// Decode decodes a queue message. It ignores unknown members, because a later version
// may have sent them before it was rolled back. It returns an error for anything else
// that Message cannot return.
func Decode(body []byte) (Work, error) {
	if len(body) > maxMessage {
		return Work{}, fmt.Errorf("decode work: %d bytes", len(body))
	}
	var w Work
	if err := json.Unmarshal(body, &w); err != nil {
		return Work{}, fmt.Errorf("decode work: %w", err)
	}
	switch w.Kind {
	case AnswerQuestion, IndexDocument, ExtractDocument, RemoveDocument, RemoveChunks, RemoveCollection, SyncSource, RebuildIndex, AnnounceEvents, DeliverWebhooks:
	default:
		return Work{}, fmt.Errorf("decode work: unknown kind %q", w.Kind)
	}
	if w.TeamID == "" || w.ID == "" || w.At < 0 {
		return Work{}, fmt.Errorf("decode work: incomplete")
	}
	if (w.Kind == RemoveDocument || w.Kind == RemoveChunks) && w.Old == nil {
		return Work{}, fmt.Errorf("decode work: no old version")
	}
	if w.Kind == AnnounceEvents && len(w.Notices) == 0 {
		return Work{}, fmt.Errorf("decode work: no notices")
	}
	return w, nil
}
