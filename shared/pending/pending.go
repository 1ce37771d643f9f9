// Package pending hands work over from a write to a queue so that none is lost:
// the write that causes the work puts a pending item in the same transaction,
// the queue message follows, and the worker removes the item in the transaction
// that finishes the work. What stays pending for longer than a minute is sent
// again by Sweep, so a crash between write and send, a lost message or an outage
// of the queue only delays. On one machine the queues end with the process: Resume
// sends everything to the new ones.
package pending

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"time"

	"docent/shared/table"
)

// shards spreads pending items over partitions "pending/0" to "pending/7", so
// that accepting work is not held to one partition's write rate.
const shards = 8

// Kind says what is to be done.
type Kind string

// The kinds of work.
const (
	AnswerQuestion   Kind = "answer-question"   // ID is the question
	IndexDocument    Kind = "index-document"    // ID is the document, Version what became current
	RemoveDocument   Kind = "remove-document"   // ID is the document, Old what was current
	RemoveChunks     Kind = "remove-chunks"     // ID is the document, Old a version that may never have become current
	RemoveCollection Kind = "remove-collection" // ID is the collection
	SyncSource       Kind = "sync-source"       // ID is the data source, At when it is due, which may lie ahead
	RebuildIndex     Kind = "rebuild-index"     // ID is a source and a space of it, "source#space"; At when it was planned
)

// Table is where the pending items of k lie: beside the records they belong to.
func (k Kind) Table() string {
	switch k {
	case AnswerQuestion:
		return table.Answers
	case SyncSource:
		return table.Collections
	case RebuildIndex:
		return table.Index
	default:
		return table.Documents
	}
}

// Version is a document version that work refers to.
type Version struct {
	Version    int64  `json:"version"`
	Collection string `json:"collection,omitempty"` // or another source
	Space      string `json:"space,omitempty"`      // empty: documentation
	Chunks     int    `json:"chunks,omitempty"`     // body chunks to remove
	Passages   int    `json:"passages,omitempty"`   // passages that went stale
}

// Work is one piece of work. It is also the queue message, so it carries ids and
// never text.
type Work struct {
	Kind      Kind     `json:"kind"`
	TeamID    string   `json:"teamId"`
	ID        string   `json:"id"`
	Version   int64    `json:"version,omitempty"`
	Old       *Version `json:"old,omitempty"`
	At        int64    `json:"at"`                  // Unix milliseconds of the causing write
	RequestID string   `json:"requestId,omitempty"` // of the causing request, for the log
}

// Key is where the pending item of w lies.
func (w Work) Key() table.Key {
	h := fnv.New32a()
	h.Write([]byte(w.ID))
	return table.Key{
		Table:     w.Kind.Table(),
		Partition: fmt.Sprintf("pending/%d", h.Sum32()%shards),
		Sort:      fmt.Sprintf("%013d#%s#%s#%d", w.At, w.Kind, w.ID, w.Version),
	}
}

// Promise is the operation that leaves w pending; it belongs in the Write that
// causes the work.
func (w Work) Promise() table.Put {
	return table.Put{Item: table.Item{Key: w.Key(), Body: w.Message()}}
}

// Complete is the operation that ends w; it belongs in the Write that finishes the
// work, and fails when another worker was first.
func (w Work) Complete() table.Delete {
	return table.Delete{Key: w.Key(), If: table.Exists()}
}

// leftField counts, on the pending item of a rebuild, the documents that are left.
const leftField = "left"

// PromiseLeft is Promise for work of which so many documents are left to do.
func (w Work) PromiseLeft(left int64) table.Put {
	put := w.Promise()
	put.Item.Numbers = map[string]int64{leftField: left}
	return put
}

// Extend is the operation by which whoever is at w keeps the sweeper from sending it
// again before until, and records how many documents are left. It belongs in each
// Write that saves how far w is, and fails when w has ended.
func (w Work) Extend(left int64, until time.Time) table.Add {
	return table.Add{Key: w.Key(), If: table.Exists(),
		Numbers: map[string]int64{leftField: left, sendsField: 1, nextField: until.UnixMilli()}}
}

// Message is the body of the queue message.
func (w Work) Message() []byte {
	body, err := json.Marshal(w)
	if err != nil {
		panic(err) // Work has no field that can fail to encode
	}
	return body
}

// Since is when the work was caused.
func (w Work) Since() time.Time { return time.UnixMilli(w.At) }

// maxMessage bounds a message before it is parsed; a real one is below 1 KB.
const maxMessage = 16 << 10

// Decode reads a queue message. Members that it does not know are ignored: a later
// version may have sent them before it was rolled back. Everything else that Message
// cannot have made is refused.
func Decode(body []byte) (Work, error) {
	if len(body) > maxMessage {
		return Work{}, fmt.Errorf("decode work: %d bytes", len(body))
	}
	var w Work
	if err := json.Unmarshal(body, &w); err != nil {
		return Work{}, fmt.Errorf("decode work: %w", err)
	}
	switch w.Kind {
	case AnswerQuestion, IndexDocument, RemoveDocument, RemoveChunks, RemoveCollection, SyncSource, RebuildIndex:
	default:
		return Work{}, fmt.Errorf("decode work: unknown kind %q", w.Kind)
	}
	if w.TeamID == "" || w.ID == "" || w.At < 0 {
		return Work{}, fmt.Errorf("decode work: incomplete")
	}
	if (w.Kind == RemoveDocument || w.Kind == RemoveChunks) && w.Old == nil {
		return Work{}, fmt.Errorf("decode work: no old version")
	}
	return w, nil
}
