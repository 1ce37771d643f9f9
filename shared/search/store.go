package search

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"docent/shared/blob"
	"docent/shared/embed"
	"docent/shared/search/segment"
	"docent/shared/search/sieve"
	"docent/shared/search/text"
	"docent/shared/table"
)

// The keys of the index table:
//
//	{team}                  sort {source}#{space}#{level, 2 digits}#{segment}  a record of a segment of postings
//	{team}/meaning          sort {source}#{space}#{level, 2 digits}#{segment}  a record of a segment of vectors
//	{team}/stale            sort {source}#{space}                              passages replaced or deleted since the last merge of the whole family
//	{team}/rebuild          sort {source}#{space}                              the progress of the family's rebuild, if there is one
//	{team}/rebuild-meaning  sort {source}#{space}                              the same for a family of vectors
//	pending/{0..7}          sort {pending.Work}                                rebuilds to be made
//	cleanup                 sort {due, ms, 20 digits}#{id}                     blobs that no record names any more
//	cleanup                 sort "orphans"                                     the time of the last search for blobs without a record, and its place while it is not finished
//
// A segment's blob is segments/{team}/{segment}, and vectors/{team}/{segment} for vectors, so that
// a program that knows no vectors leaves them alone. Segment ids are in order of time.
const (
	cleanupPartition = "cleanup"
	orphansSort      = "orphans"
	blobPrefix       = "segments/"
	vectorPrefix     = "vectors/"
	meaningPartition = "/meaning" // after the team
	openAtOnce       = 16         // segments read at the same time
	rangedFrom       = 8 << 20    // bytes of a segment that is read by range
	inOrderFrom      = 1 << 20    // bytes of a segment that a merge reads in parts
	mostShared       = 256 << 20  // of CacheBytes, that a share for analysed passages and for what queries may find is taken of
	analysesDivisor  = 4          // the share of analysed passages
)

// record is a segment record.
type record struct {
	source  string
	space   Space
	meaning bool // the segment has vectors, not postings
	level   int
	id      string
	blob    string      // the segment's file; its name is derived from the key, because every question reads the list of records
	version int64       // of the item, which changes when the segment is marked
	wanted  embed.Model // that the index uses now; not stored
	content recordContent
}

type recordContent struct {
	Bytes     int           `json:"bytes"`
	Passages  int           `json:"passages"`
	Documents int           `json:"documents"`
	Lengths   uint64        `json:"lengths"`
	Analysis  int           `json:"analysis"`
	Format    int           `json:"format"`
	Model     string        `json:"model,omitempty"`   // of the vectors
	Numbers   int           `json:"numbers,omitempty"` // of a vector
	Mark      rebuildReason `json:"mark,omitempty"`    // a reason to rebuild it that its other fields do not show
}

// readable reports whether this program can read the segment. A segment of an older analysis is
// still searched, with its own statistics, until it is rebuilt. Vectors of another model are not.
func (r record) readable() bool {
	if r.meaning {
		return !r.newer() && r.outdated() == "" || r.content.Mark == reasonAsked && r.isOf(r.wanted)
	}
	return r.content.Analysis <= text.AnalysisVersion && (r.content.Format == segment.FormatVersion || r.content.Format == segment.SetsFormat) && r.content.Mark != reasonDamaged
}

// isOf reports whether the vectors of the segment are of a model. One model can make vectors of several sizes.
func (r record) isOf(m embed.Model) bool {
	return r.content.Model == m.Name && r.content.Numbers == m.Size
}

// family is what the segments have in common that are merged: the source and space of
// their documents, and whether they have postings or vectors.
type family struct {
	source  string
	space   Space
	meaning bool
}

func (r record) family() family { return family{r.source, r.space, r.meaning} }

// partition returns the partition of the family's segment records.
func (f family) partition(teamID string) string {
	if f.meaning {
		return teamID + meaningPartition
	}
	return teamID
}

func (f family) prefix() string { return f.source + "#" + string(f.space) + "#" }

// check rejects a source or space that cannot be part of a key.
func (f family) check() error {
	if f.source == "" || strings.ContainsAny(f.source, "#\x00") || !slices.Contains(Spaces, f.space) {
		return fmt.Errorf("no family of segments: source %q, space %q", f.source, f.space)
	}
	return nil
}

func (r record) key(teamID string) table.Key {
	return table.Key{Table: table.Index, Partition: r.family().partition(teamID), Sort: fmt.Sprintf("%s%02d#%s", r.family().prefix(), r.level, r.id)}
}

func (r record) put(teamID string) (table.Put, error) {
	body, err := json.Marshal(r.content)
	return table.Put{Item: table.Item{Key: r.key(teamID), Version: 1, Body: body}, If: table.Absent()}, err
}

// blobName returns the name of the blob of a segment of f.
func (f family) blobName(teamID, segment string) string {
	if f.meaning {
		return vectorPrefix + teamID + "/" + segment
	}
	return blobPrefix + teamID + "/" + segment
}

func recordFrom(item table.Item) (record, error) {
	var r record
	parts := strings.Split(item.Sort, "#")
	if len(parts) != 4 {
		return r, fmt.Errorf("segment record %q: damaged key", item.Sort)
	}
	teamID, meaning := strings.CutSuffix(item.Partition, meaningPartition)
	r.source, r.space, r.meaning, r.id, r.version = parts[0], Space(parts[1]), meaning, parts[3], item.Version
	r.blob = r.family().blobName(teamID, r.id)
	var err error
	if r.level, err = strconv.Atoi(parts[2]); err != nil {
		return r, fmt.Errorf("segment record %q: %w", item.Sort, err)
	}
	if err := json.Unmarshal(item.Body, &r.content); err != nil {
		r.content = recordContent{Mark: reasonDamaged} // the key has all that a rebuild needs
	}
	return r, nil
}

// records lists the segment records of a team whose keys start with prefix: those of
// postings, then those of vectors.
func (ix *Index) records(ctx context.Context, teamID, prefix string) ([]record, error) {
	var words, vectors []record
	g, gctx := errgroup.WithContext(ctx)
	g.Go(func() (err error) {
		words, err = ix.recordsIn(gctx, teamID, prefix)
		return err
	})
	g.Go(func() (err error) {
		vectors, err = ix.recordsIn(gctx, teamID+meaningPartition, prefix)
		return err
	})
	err := g.Wait()
	return append(words, vectors...), err
}

// recordsOf lists the segment records of a family.
func (ix *Index) recordsOf(ctx context.Context, teamID string, f family) ([]record, error) {
	return ix.recordsIn(ctx, f.partition(teamID), f.prefix())
}

// recordsIn lists the segment records of a partition whose keys start with prefix. One that is damaged is as if its segment were.
func (ix *Index) recordsIn(ctx context.Context, partition, prefix string) ([]record, error) {
	var all []record
	for item, err := range table.All(ctx, ix.Table, table.Query{Table: table.Index, Partition: partition, Prefix: prefix}) {
		items := []table.Item{item}
		if damaged := table.AsDamaged(err); damaged != nil {
			items = items[:0]
			for _, k := range damaged.Keys {
				items = append(items, table.Item{Key: k})
			}
		} else if err != nil {
			return nil, fmt.Errorf("read the segment list: %w", err)
		}
		for _, item := range items {
			r, err := recordFrom(item)
			if err != nil {
				return nil, err
			}
			r.wanted = ix.Model
			all = append(all, r)
		}
	}
	return all, nil
}

func (ix *Index) init() {
	ix.once.Do(func() {
		bytes := ix.CacheBytes
		if bytes == 0 {
			bytes = DefaultCacheBytes
		}
		ix.cache = segment.NewCache(bytes, ix.PartsBytes)
		others := min(bytes, mostShared)
		ix.analyses = sieve.New[analysisKey, analysed](others / analysesDivisor)
		ix.admitted = sieve.New[admittedKey, *segment.Admitted](others / admittedDivisor)
	})
}

// Cached returns the bytes of memory in use of CacheBytes and PartsBytes.
func (ix *Index) Cached() int64 {
	ix.init()
	return ix.cache.Cost()
}

func (ix *Index) fault(ctx context.Context, err error) {
	if ix.OnFault != nil {
		ix.OnFault(ctx, err)
	}
}

// open returns the segments of records, in their order, for a query that ends with ctx.
// It reads those that are not in memory. A segment that is missing or damaged is nil,
// with its error in faults; err is any other failure.
func (ix *Index) open(ctx context.Context, records []record) (open []*segment.Segment, faults []error, err error) {
	ix.init()
	open, faults = make([]*segment.Segment, len(records)), make([]error, len(records))
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(openAtOnce)
	for i, r := range records {
		if open[i] = ix.cache.Segment(ctx, r.blob); open[i] != nil {
			continue
		}
		g.Go(func() error {
			read := ix.read
			if r.content.Bytes > ix.wholeBytes() {
				read = ix.readRanged
			}
			s, err := read(gctx, r)
			if errors.Is(err, blob.ErrNotFound) || errors.Is(err, segment.ErrDamaged) {
				faults[i] = err
				return nil
			}
			if err == nil {
				open[i] = s.View(ctx)
			}
			return err
		})
	}
	return open, faults, g.Wait()
}

// wholeBytes returns the maximum size of a segment that a query reads whole.
func (ix *Index) wholeBytes() int {
	if ix.rangedFrom > 0 {
		return ix.rangedFrom
	}
	return rangedFrom
}

// read reads a whole segment from its blob. The cache keeps it only if a query would read it
// whole, so that a check does not evict everything else.
func (ix *Index) read(ctx context.Context, r record) (*segment.Segment, error) {
	ix.init()
	data, err := ix.Blobs.Get(ctx, r.blob)
	if err != nil {
		return nil, fmt.Errorf("read segment %s: %w", r.id, err)
	}
	s, err := segment.Open(data)
	if err = r.matches(s, err); err != nil {
		return nil, err
	}
	if len(data) <= ix.wholeBytes() {
		ix.cache.Put(r.blob, s)
	}
	return s, nil
}

// readToMerge opens a segment for one merge, so that it takes little memory if it is large. The cache does not keep a large one.
func (ix *Index) readToMerge(ctx context.Context, r record) (*segment.Segment, error) {
	if r.content.Bytes <= min(inOrderFrom, ix.wholeBytes()) {
		return ix.read(ctx, r)
	}
	s, err := segment.OpenInOrder(ctx, ix.Blobs, r.blob, int64(r.content.Bytes))
	if err = r.matches(s, err); err != nil {
		return nil, err
	}
	return s, nil
}

// readRanged opens a segment that is read by range, and keeps it in the cache.
func (ix *Index) readRanged(ctx context.Context, r record) (*segment.Segment, error) {
	ix.init()
	s, err := segment.OpenRanged(ctx, ix.Blobs, r.blob, int64(r.content.Bytes), ix.cache)
	if err = r.matches(s, err); err != nil {
		return nil, err
	}
	ix.cache.Put(r.blob, s)
	return s, nil
}

// matches wraps the error of opening the segment, and checks that it is the segment of
// r.
func (r record) matches(s *segment.Segment, err error) error {
	if err == nil && (s.Profile != profileOf(r.space).id || int(s.Analysis) != r.content.Analysis || s.Passages != r.content.Passages ||
		s.Numbers != r.content.Numbers) {
		err = segment.Damaged("it does not match its record")
	}
	if err != nil {
		return fmt.Errorf("open segment %s: %w", r.id, err)
	}
	return nil
}

// cleanup returns the operation that schedules the removal of blobs.
func (ix *Index) cleanup(due time.Time, blobs []string) (table.Put, error) {
	body, err := json.Marshal(blobs)
	return table.Put{Item: table.Item{Key: table.Key{Table: table.Index, Partition: cleanupPartition,
		Sort: table.Padded(due.UnixMilli()) + "#" + ix.NewID()}, Version: 1, Body: body}}, err
}
