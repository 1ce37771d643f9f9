package document

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"docent/shared/access"
	"docent/shared/pending"
	"docent/shared/search/text"
	"docent/shared/table"
)

// chunksPerPartition spreads the chunks of a long body over partitions, so that one
// partition's write rate does not limit it.
const chunksPerPartition = 250

func recordKey(teamID, id string) table.Key {
	return table.Key{Table: table.Documents, Partition: teamID + "/" + id, Sort: "record"}
}

func failureKey(teamID, id string) table.Key {
	return table.Key{Table: table.Documents, Partition: teamID + "/" + id, Sort: "failure"}
}

// ruledKey is of the rule that a document had when it was deleted, or of the default rule that a source had. Without a
// rule nothing is left.
func ruledKey(teamID, id string) table.Key {
	return table.Key{Table: table.Documents, Partition: teamID + "/" + id, Sort: "ruled"}
}

func chunkKey(teamID, id string, version int64, n int) table.Key {
	return table.Key{Table: table.Documents, Partition: chunkPartition(teamID, id, version, n), Sort: fmt.Sprintf("%08d", n)}
}

func chunkPartition(teamID, id string, version int64, n int) string {
	return fmt.Sprintf("%s/%s/%016x/%d", teamID, id, version, n/chunksPerPartition)
}

// chunkKeys returns the keys of all chunks. Keys of one partition share its text.
func chunkKeys(teamID, id string, version int64, chunks int) []table.Key {
	keys, partition := make([]table.Key, chunks), ""
	for n := range keys {
		if n%chunksPerPartition == 0 {
			partition = chunkPartition(teamID, id, version, n)
		}
		keys[n] = table.Key{Table: table.Documents, Partition: partition, Sort: fmt.Sprintf("%08d", n)}
	}
	return keys
}

func teamList(teamID string) string { return teamID + "/list" }

func collectionList(teamID, collectionID string) string {
	return teamID + "/list/" + collectionID
}

// sourceKey returns the key of e in the list of its source. An item's key starts with
// its space, so that each space is one range.
func sourceKey(teamID string, e Entry) table.Key {
	k := table.Key{Table: table.Documents, Partition: collectionList(teamID, e.CollectionID),
		Sort: table.Inverted(e.CreatedAt) + "#" + e.ID}
	if e.Facts != nil {
		k.Sort = string(e.Facts.Space) + "#" + k.Sort
	}
	return k
}

// listKeys returns the keys of all list entries of e. Only documents are in the team's
// list.
func listKeys(teamID string, e Entry) []table.Key {
	own := sourceKey(teamID, e)
	if e.Facts != nil {
		return []table.Key{own}
	}
	return []table.Key{{Table: table.Documents, Partition: teamList(teamID), Sort: own.Sort}, own}
}

// record is the stored current version of a document, with the body or, if it is
// stored in chunks, with what reading and comparing it takes.
type record struct {
	Entry
	version  int64
	body     string // if chunks is 0
	hash     string // SHA-256 of the body, if chunks is not 0
	bytes    int    // of the body
	chunks   int    // number of items with the body; 0: it is in the record
	passages int

	extracting bool     // its text is still to be read from its original
	accepted   int64    // the version returned for the put of the file; 0: version
	notes      []string // see Indexing.Notes
}

// newRecord returns the record of a body. That of a file is always stored in chunks, because only they say on which
// page a passage is.
func newRecord(e Entry, version int64, body string, chunks []text.Chunk) record {
	r := record{Entry: e, version: version, bytes: len(body)}
	for _, c := range chunks {
		r.passages += len(c.Passages)
	}
	if len(body) <= text.InlineBytes && e.Original == nil {
		r.body = body
	} else {
		r.chunks, r.hash = len(chunks), hashOf(body)
	}
	return r
}

// hashPart is how many bytes of a body are hashed at a time. The whole would be copied: a hash takes no string.
const hashPart = 32 << 10

// hashOf returns the hash that a record keeps of a body.
func hashOf(body string) string {
	hash, part := sha256.New(), make([]byte, min(len(body), hashPart))
	for len(body) > 0 {
		n := copy(part, body)
		_, _ = hash.Write(part[:n]) // it never fails
		body = body[n:]
	}
	return encodeHash(hash.Sum(nil))
}

// encodeHash returns the stored form of a SHA-256.
func encodeHash(sum []byte) string { return base64.RawStdEncoding.EncodeToString(sum) }

// matched returns the error of match for the version of r. It also accepts that of the put of its file: what the
// writer of the file has seen is still current when the text has been read.
func (r record) matched(match func(int64) error) error {
	err := match(r.version)
	if err != nil && r.accepted != 0 && match(r.accepted) == nil {
		return nil
	}
	return err
}

// sameBody reports whether body is the body of r.
func (r record) sameBody(body string) bool {
	if len(body) != r.bytes {
		return false
	}
	if r.chunks == 0 {
		return body == r.body
	}
	return hashOf(body) == r.hash
}

func (r record) item(teamID string) table.Item {
	item := entryItem(recordKey(teamID, r.ID), r.Entry)
	item.Version, item.Body = r.version, []byte(r.body)
	item.Numbers["bytes"] = int64(r.bytes)
	item.Numbers["chunks"] = int64(r.chunks)
	item.Numbers["passages"] = int64(r.passages)
	if r.hash != "" {
		item.Strings["hash"] = r.hash
	}
	if r.extracting {
		item.Numbers[extractingField] = 1
	}
	if r.accepted != 0 {
		item.Numbers[acceptedField] = r.accepted
	}
	if len(r.notes) > 0 {
		encoded, err := json.Marshal(r.notes)
		if err != nil {
			panic(err) // strings always encode
		}
		item.Strings[notesField] = string(encoded)
	}
	return item
}

// The stored fields of the record of a file.
const (
	extractingField = "extracting" // 1 until its text is read
	acceptedField   = "accepted"
	notesField      = "notes" // a JSON array
)

func recordFrom(item table.Item) record {
	r := record{
		Entry: entryFrom(item), version: item.Version, body: string(item.Body), hash: item.Strings["hash"],
		bytes: int(item.Numbers["bytes"]), chunks: int(item.Numbers["chunks"]), passages: int(item.Numbers["passages"]),
		extracting: item.Numbers[extractingField] != 0, accepted: item.Numbers[acceptedField],
	}
	if encoded, ok := item.Strings[notesField]; ok {
		_ = json.Unmarshal([]byte(encoded), &r.notes) // what cannot be decoded is none; only item writes it
	}
	return r
}

// passageBytes is the number of bytes that a passage adds to the size of a document in the index, next to its text and the title.
const passageBytes = 256

// indexed returns about how many bytes are indexed of r: its text, and its title with each passage.
func (r record) indexed() int { return r.bytes + r.passages*(len(r.Title)+passageBytes) }

// asVersion returns r as pending work refers to it.
func (r record) asVersion() *pending.Version {
	old := &pending.Version{Version: r.version, Collection: r.CollectionID, Chunks: r.chunks, Passages: r.passages}
	if r.Facts != nil {
		old.Space = string(r.Facts.Space)
	}
	if r.Original != nil {
		old.Original = r.Original.Blob
	}
	return old
}

func entryItem(k table.Key, e Entry) table.Item {
	item := table.Item{Key: k,
		Strings: map[string]string{"id": e.ID, "collection": e.CollectionID, "title": e.Title, "uri": e.URI},
		Numbers: map[string]int64{"created": e.CreatedAt.UnixMilli(), "updated": e.UpdatedAt.UnixMilli()}}
	if len(e.Metadata) > 0 {
		item.Strings[metadataField] = e.Metadata.JSON()
	}
	if e.Facts != nil {
		e.Facts.store(item)
	}
	if e.MediaType != "" {
		item.Strings[mediaField] = e.MediaType
	}
	e.Original.store(item)
	storeAccess(item, e.Access)
	return item
}

// metadataField has the metadata as JSON. A document without metadata lacks it.
const metadataField = "metadata"

func entryFrom(item table.Item) Entry {
	fields := Fields{CollectionID: item.Strings["collection"], Title: item.Strings["title"], URI: item.Strings["uri"], MediaType: item.Strings[mediaField]}
	if text, ok := item.Strings[metadataField]; ok {
		_ = json.Unmarshal([]byte(text), &fields.Metadata) // what cannot be decoded is none; only entryItem writes it
	}
	return Entry{ID: item.Strings["id"],
		Fields:    fields,
		CreatedAt: time.UnixMilli(item.Numbers["created"]).UTC(),
		UpdatedAt: time.UnixMilli(item.Numbers["updated"]).UTC(),
		Facts:     factsFrom(item),
		Original:  originalFrom(item),
		Access:    access.Decode(item.Strings[accessField])}
}

func listPuts(teamID string, e Entry) []table.Op {
	var ops []table.Op
	for _, k := range listKeys(teamID, e) {
		ops = append(ops, table.Put{Item: entryItem(k, e)})
	}
	return ops
}

func listDeletes(teamID string, e Entry) []table.Op {
	var ops []table.Op
	for _, k := range listKeys(teamID, e) {
		ops = append(ops, table.Delete{Key: k})
	}
	return ops
}

func chunkItem(teamID, id string, version int64, n int, body string, c text.Chunk) (table.Item, error) {
	passages := make([]text.Passage, len(c.Passages))
	for i, p := range c.Passages {
		p.Start, p.End = p.Start-c.Start, p.End-c.Start
		passages[i] = p
	}
	encoded, err := json.Marshal(passages)
	if err != nil {
		return table.Item{}, fmt.Errorf("encode passages: %w", err)
	}
	return table.Item{Key: chunkKey(teamID, id, version, n), Body: []byte(body[c.Start:c.End]),
		Strings: map[string]string{"passages": string(encoded)}}, nil
}

// wholeChunk returns what chunkItem stored. It returns a *table.DamagedError if the passages cannot be read or are not of the body:
// earlier versions stored no checksums.
func wholeChunk(item table.Item) (body string, passages []text.Passage, err error) {
	if passages, err = wholePassages(item); err != nil {
		return "", nil, err
	}
	return string(item.Body), passages, nil
}

// wholePassages is wholeChunk without a copy of the body.
func wholePassages(item table.Item) ([]text.Passage, error) {
	passages, err := passagesFrom(item.Strings["passages"])
	if err != nil || slices.ContainsFunc(passages, func(p text.Passage) bool { return p.Start < 0 || p.Start > p.End || p.End > len(item.Body) }) {
		return nil, &table.DamagedError{Keys: []table.Key{item.Key}}
	}
	return passages, nil
}

// indexing returns the work of indexing a version.
func indexing(teamID, id string, version int64) pending.Work {
	return pending.Work{Kind: pending.IndexDocument, TeamID: teamID, ID: id, Version: version, At: millisOf(version)}
}

// extraction returns the work of reading the text of the file of a version.
func extraction(teamID, id string, version int64) pending.Work {
	return pending.Work{Kind: pending.ExtractDocument, TeamID: teamID, ID: id, Version: version, At: millisOf(version)}
}

// nextVersion returns a new version above before: 48 bits of Unix milliseconds and 16
// random bits. The bits are random whatever the clock does, because the chunks of two
// writes at the same time must not have the same keys.
func nextVersion(now time.Time, random uint16, before int64) int64 {
	if version := now.UnixMilli()<<16 | int64(random); version > before {
		return version
	}
	return (millisOf(before)+1)<<16 | int64(random)
}

// millisOf returns the Unix milliseconds in a version.
func millisOf(version int64) int64 { return version >> 16 }
