package audit

import (
	"context"
	"fmt"

	"docent/shared/table"
)

// slots reads the slots of a team upwards, bucket by bucket, past the gaps.
type slots struct {
	log    *Log
	teamID string
	gaps   gaps
	from   int64 // the next number to read
	last   int64 // the last number to read
	size   int   // slots per query; 0: a page of the store
	batch  []slot
}

// peek returns the lowest slot from n to last, or nil.
func (s *slots) peek(ctx context.Context, n int64) (*slot, error) {
	for {
		for len(s.batch) > 0 && s.batch[0].number < n {
			s.batch = s.batch[1:]
		}
		if len(s.batch) > 0 {
			if s.batch[0].number > s.last {
				return nil, nil
			}
			return &s.batch[0], nil
		}
		if s.from = s.gaps.skip(max(s.from, n)); s.from > s.last {
			return nil, nil
		}
		if err := s.fill(ctx); err != nil {
			return nil, err
		}
	}
}

// fill reads slots starting at s.from, within one bucket.
func (s *slots) fill(ctx context.Context) error {
	bucket := bucketOf(s.from)
	end := (bucket+1)*bucketSize - 1
	q := table.Query{Table: table.Events, Partition: bucketPartition(s.teamID, bucket),
		From: table.Padded(s.from), To: table.Padded(end), Limit: s.size}
	for {
		page, err := s.log.Table.Query(ctx, q)
		if err != nil {
			return fmt.Errorf("read events: %w", err)
		}
		for _, item := range page.Items {
			one, err := slotFrom(item)
			if err != nil {
				return err
			}
			s.batch = append(s.batch, one)
		}
		switch {
		case page.Cursor == "":
			s.from = end + 1
			return nil
		case len(page.Items) > 0:
			s.from = s.batch[len(s.batch)-1].number + 1
			return nil
		}
		q.Cursor = page.Cursor // everything on the page has expired, and is still stored
	}
}

// rereadFrom discards the slots starting at n.
func (s *slots) rereadFrom(n int64) { s.from, s.batch = n, nil }
