package search

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"docent/shared/blob"
	"docent/shared/table"
)

// The keys of the index table:
//
//	{team}          sort {source}#{space}#{level, 2 digits}#{segment}  a segment record
//	{team}/stale    sort {source}#{space}                              passages replaced or deleted since the family was merged whole
//	cleanup         sort {due, ms, 20 digits}#{id}                     blobs that no record names any more
//	cleanup         sort "orphans"                                     when blobs without a record were last looked for
//
// A segment's blob is segments/{team}/{segment}. Segment ids are in order of time.
const (
	cleanupPartition = "cleanup"
	orphansSort      = "orphans"
	blobPrefix       = "segments/"
	openAtOnce       = 16 // segments read at the same time
)

// record is a segment record.
type record struct {
	source  string
	space   Space
	level   int
	id      string
	content recordContent
}

type recordContent struct {
	Blob      string `json:"blob"`
	Bytes     int    `json:"bytes"`
	Passages  int    `json:"passages"`
	Documents int    `json:"documents"`
	Lengths   uint64 `json:"lengths"`
	Analysis  int    `json:"analysis"`
	Format    int    `json:"format"`
}

// current tells whether this program can read the segment.
func (r record) current() bool {
	return r.content.Analysis == analysisVersion && r.content.Format == formatVersion
}

// older tells whether the segment must be rebuilt. One that a newer program wrote
// is left to that.
func (r record) older() bool {
	return !r.current() && r.content.Analysis <= analysisVersion && r.content.Format <= formatVersion
}

// family is what one segment is of.
type family struct {
	source string
	space  Space
}

func (r record) family() family { return family{r.source, r.space} }

func (f family) prefix() string { return f.source + "#" + string(f.space) + "#" }

// check refuses what can not be a part of a key.
func (f family) check() error {
	if f.source == "" || strings.ContainsAny(f.source, "#\x00") || !slices.Contains(Spaces, f.space) {
		return fmt.Errorf("no family of segments: source %q, space %q", f.source, f.space)
	}
	return nil
}

func (r record) key(teamID string) table.Key {
	return table.Key{Table: table.Index, Partition: teamID, Sort: fmt.Sprintf("%s%02d#%s", r.family().prefix(), r.level, r.id)}
}

func (r record) put(teamID string) (table.Put, error) {
	body, err := json.Marshal(r.content)
	return table.Put{Item: table.Item{Key: r.key(teamID), Version: 1, Body: body}, If: table.Absent()}, err
}

func recordFrom(item table.Item) (record, error) {
	var r record
	parts := strings.Split(item.Sort, "#")
	if len(parts) != 4 {
		return r, fmt.Errorf("segment record %q: damaged key", item.Sort)
	}
	r.source, r.space, r.id = parts[0], Space(parts[1]), parts[3]
	if _, err := fmt.Sscanf(parts[2], "%d", &r.level); err != nil {
		return r, fmt.Errorf("segment record %q: %w", item.Sort, err)
	}
	if err := json.Unmarshal(item.Body, &r.content); err != nil {
		return r, fmt.Errorf("segment record %q: %w", item.Sort, err)
	}
	return r, nil
}

// records lists the segment records of a team whose keys start with prefix.
func (x *Index) records(ctx context.Context, teamID, prefix string) ([]record, error) {
	var all []record
	for item, err := range table.All(ctx, x.Table, table.Query{Table: table.Index, Partition: teamID, Prefix: prefix}) {
		if err != nil {
			return nil, fmt.Errorf("read the segment list: %w", err)
		}
		r, err := recordFrom(item)
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}

// init makes the caches of a new Index.
func (x *Index) init() {
	x.once.Do(func() {
		bytes := x.CacheBytes
		if bytes == 0 {
			bytes = 64 << 20
		}
		x.segments = newLRU[string, *segment](bytes)
		x.analyses = newLRU[analysisKey, analysed](bytes / 4)
	})
}

func (x *Index) fault(ctx context.Context, err error) {
	if x.Fault != nil {
		x.Fault(ctx, err)
	}
}

// open returns the segments of records, in their order, from memory or from
// their blobs. A segment that is missing or damaged is nil, with its error in
// faults; err is any other failure.
func (x *Index) open(ctx context.Context, records []record) (open []*segment, faults []error, err error) {
	x.init()
	open, faults = make([]*segment, len(records)), make([]error, len(records))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(openAtOnce)
	for i, r := range records {
		if s, ok := x.segments.get(r.content.Blob); ok {
			open[i] = s
			continue
		}
		g.Go(func() error {
			s, err := x.read(ctx, r)
			if errors.Is(err, blob.ErrNotFound) || errors.Is(err, errDamaged) {
				faults[i] = err
				return nil
			}
			open[i] = s
			return err
		})
	}
	return open, faults, g.Wait()
}

// read reads a segment from its blob and keeps it.
func (x *Index) read(ctx context.Context, r record) (*segment, error) {
	x.init()
	data, err := x.Blobs.Get(ctx, r.content.Blob)
	if err != nil {
		return nil, fmt.Errorf("read segment %s: %w", r.id, err)
	}
	s, err := openSegment(data)
	if err != nil {
		return nil, fmt.Errorf("open segment %s: %w", r.id, err)
	}
	if s.profile != profileOf(r.space) || s.passages != r.content.Passages {
		return nil, fmt.Errorf("open segment %s: %w", r.id, damaged("it is not the one of its record"))
	}
	x.segments.put(r.content.Blob, s, int64(s.size))
	return s, nil
}

// cleanup is the operation that has blobs removed once they are due.
func (x *Index) cleanup(due time.Time, blobs []string) (table.Put, error) {
	body, err := json.Marshal(blobs)
	return table.Put{Item: table.Item{Key: table.Key{Table: table.Index, Partition: cleanupPartition,
		Sort: table.Padded(due.UnixMilli()) + "#" + x.NewID()}, Version: 1, Body: body}}, err
}
