package document

import (
	"sync"

	"docent/shared/search"
	"docent/shared/search/sieve"
	"docent/shared/search/text"
)

// chunkCacheBytes bounds the chunks that are kept in memory for searches.
const chunkCacheBytes = 16 << 20

// chunk is the text of a chunk, or of a body in its record, with its passages. A chunk of a version
// never changes. Callers must not change passages.
type chunk struct {
	body     string
	passages []text.Passage
}

// chunkCache keeps the chunks that searches read last. The zero value is empty.
type chunkCache struct {
	once sync.Once
	kept *sieve.Cache[search.Ref, chunk]
}

func (c *chunkCache) cache() *sieve.Cache[search.Ref, chunk] {
	c.once.Do(func() { c.kept = sieve.New[search.Ref, chunk](chunkCacheBytes) })
	return c.kept
}

func (c *chunkCache) get(ref search.Ref) (chunk, bool) { return c.cache().Get(ref) }

func (c *chunkCache) put(ref search.Ref, kept chunk) { c.cache().Put(ref, kept, kept.cost()) }

// cost returns about how many bytes of memory c and its place in the cache take.
func (c chunk) cost() int64 {
	const place, passage = 300, 48
	bytes := place + len(c.body)
	for _, p := range c.passages {
		bytes += passage + len(p.Heading) + len(p.Opening)
	}
	return int64(bytes)
}
