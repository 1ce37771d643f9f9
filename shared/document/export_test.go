package document

import (
	"time"

	"docent/shared/search/text"
	"docent/shared/table"
)

// Stored converts a record to an item and back.
func Stored(teamID string, e Entry, version int64, body string) (Entry, int64, func(body string) bool) {
	r := recordFrom(newRecord(e, version, body, text.Cut(body)).item(teamID))
	return r.Entry, r.version, r.sameBody
}

// StoredChunks converts the chunks of a body to items and back.
func StoredChunks(teamID, id string, version int64, body string) (items []table.Item, bodies []string, passages [][]text.Passage, err error) {
	for n, c := range text.Cut(body) {
		item, err := chunkItem(teamID, id, version, n, body, c)
		if err != nil {
			return nil, nil, nil, err
		}
		text, own, err := wholeChunk(item)
		if err != nil {
			return nil, nil, nil, err
		}
		items, bodies, passages = append(items, item), append(bodies, text), append(passages, own)
	}
	return items, bodies, passages, nil
}

// NextVersion exports nextVersion.
func NextVersion(now time.Time, random uint16, before int64) int64 {
	return nextVersion(now, random, before)
}

// MillisOf exports millisOf.
func MillisOf(version int64) int64 { return millisOf(version) }

// ListKeys exports listKeys.
func ListKeys(teamID string, e Entry) []table.Key { return listKeys(teamID, e) }

// ChunkKeys is chunkKeys.
func ChunkKeys(teamID, id string, version int64, chunks int) []table.Key {
	return chunkKeys(teamID, id, version, chunks)
}

// PassagesFrom is passagesFrom.
func PassagesFrom(stored string) ([]text.Passage, error) { return passagesFrom(stored) }

// ReadPassages reads passages without encoding/json.
func ReadPassages(stored string) ([]text.Passage, bool) {
	r := passageReader{left: stored}
	return r.passages()
}

// DropsMark reports whether a damaged mark of a removal is being dropped.
func (s *Service) DropsMark() bool {
	free := s.dropsMark.TryLock()
	if free {
		s.dropsMark.Unlock()
	}
	return !free
}
