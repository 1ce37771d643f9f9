package answer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"docent/shared/memory"
	"docent/shared/table"
)

// Get returns an answer that the asker may read.
func (s *Service) Get(ctx context.Context, teamID string, asker Asker, questionID string) (Answer, error) {
	a, err := s.stored(ctx, teamID, asker, questionID)
	if err != nil {
		return Answer{}, err
	}
	err = s.withhold(ctx, teamID, asker, &a)
	return a, err
}

// stored is Get of the answer as it is stored, also if it is withheld from the asker.
func (s *Service) stored(ctx context.Context, teamID string, asker Asker, questionID string) (Answer, error) {
	if !ValidID(questionID) {
		return Answer{}, Missing()
	}
	item, err := s.Table.Get(ctx, answerKey(questionID))
	if errors.Is(err, table.ErrNotFound) {
		return Answer{}, Missing()
	}
	if err != nil {
		return Answer{}, fmt.Errorf("read answer: %w", err)
	}
	a, err := fromItem(item)
	if err != nil {
		return Answer{}, err
	}
	if a.State == deleted || !asker.mayRead(teamID, a) {
		return Answer{}, Missing()
	}
	return a, nil
}

// Await is Get that waits until the answer has left Processing, at most for patience.
func (s *Service) Await(ctx context.Context, teamID string, asker Asker, questionID string, patience time.Duration) (Answer, error) {
	end := s.Now().Add(patience)
	for {
		a, err := s.Get(ctx, teamID, asker, questionID)
		if err != nil || a.State != Processing || !s.Now().Before(end) {
			return a, err
		}
		memory.Yield(ctx)
		if err := s.Wait(ctx); err != nil {
			return a, nil // the caller's time is up: the state is still Processing
		}
	}
}

// pageBytes bounds the answers of one page, well below the largest reply of a function.
// A page with long answers is shorter.
const pageBytes = 2 << 20

// List returns the window w of the answers that the asker may read, newest first.
func (s *Service) List(ctx context.Context, teamID string, asker Asker, w table.Window) (table.Slice[Answer], error) {
	out, err := s.listStored(ctx, teamID, asker, w)
	if err != nil {
		return table.Slice[Answer]{}, err
	}
	answers := make([]*Answer, len(out.Entries))
	for i := range out.Entries {
		answers[i] = &out.Entries[i].Value
	}
	return out, s.withhold(ctx, teamID, asker, answers...)
}

// listStored is List of the answers as they are stored, also those that are withheld from the asker.
func (s *Service) listStored(ctx context.Context, teamID string, asker Asker, w table.Window) (table.Slice[Answer], error) {
	partition := teamList(teamID)
	if asker.UserID != "" {
		partition = userList(teamID, asker.UserID)
	}
	entries, err := table.ReadWindow(ctx, s.Table, table.Answers, partition, w, func(item table.Item) (table.Key, bool, error) {
		_, id, _ := strings.Cut(item.Sort, "#")
		return answerKey(id), within(entrySources(item), asker.Sources), nil
	})
	if err != nil {
		return table.Slice[Answer]{}, fmt.Errorf("list answers: %w", err)
	}
	keys := make([]table.Key, len(entries.Entries))
	for i, e := range entries.Entries {
		keys[i] = e.Value
	}
	items, err := s.Table.BatchGet(ctx, keys)
	if err != nil {
		return table.Slice[Answer]{}, fmt.Errorf("read answers: %w", err)
	}
	found := make(map[table.Key]table.Item, len(items))
	for _, item := range items {
		found[item.Key] = item
	}
	out := table.Slice[Answer]{Prev: entries.Prev, Next: entries.Next, First: entries.First, Last: entries.Last}
	for _, e := range entries.Entries {
		a, err := fromItem(found[e.Value])
		if err != nil {
			return table.Slice[Answer]{}, err
		}
		// An answer deleted since its entry was read is empty and only marks its place.
		out.Entries = append(out.Entries, table.Entry[Answer]{Position: e.Position, Value: a})
	}
	out.Trim(w, pageBytes, func(a Answer) int { return len(a.Question) + 2*len(a.Markdown) })
	out.Entries = slices.DeleteFunc(out.Entries, func(e table.Entry[Answer]) bool {
		return !asker.mayRead(teamID, e.Value) || e.Value.State == deleted
	})
	return out, nil
}
