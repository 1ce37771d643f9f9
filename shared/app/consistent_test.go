package app

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"docent/shared/table"
)

// consistent fails the test unless all stored data is consistent, with no remains of deleted
// data: no pending work, no message, no chunk, list entry or segment without its owner, and no
// wrong count.
func (h *home) consistent(t *testing.T) {
	t.Helper()
	collections := map[string]bool{}
	var counted int64
	for _, item := range h.items(t, table.Collections) {
		switch item.Partition {
		case h.team.ID:
			collections[item.Sort] = true
		case h.team.ID + "/count":
			counted = item.Numbers["n"]
		}
	}
	if int(counted) != len(collections) {
		t.Errorf("%d collections are counted, %d are there", counted, len(collections))
	}
	h.consistentDocuments(t, collections)
	h.consistentAnswers(t)
	h.clock.Advance(visibility) // nothing is in flight either
	left, err := waiting(t.Context(), h.asked, h.changed, h.embedded)
	if err != nil || len(left) > 0 || len(h.dead) > 0 {
		t.Errorf("messages are left: %q, %v; dead letters %q", left, err, h.dead)
	}
	report, err := h.services.index.Check(t.Context(), h.team.ID)
	if err != nil || len(report.Damaged) > 0 {
		t.Errorf("index check: %+v, %v", report, err)
	}
	if !maps.Equal(report.Current, report.Embedded) {
		t.Errorf("found by words: %v; by meaning: %v", report.Current, report.Embedded)
	}
}

func (h *home) items(t *testing.T, tableName string) []table.Item {
	t.Helper()
	items, err := h.store.Items(t.Context(), tableName)
	if err != nil {
		t.Fatal(err)
	}
	return items
}

// consistentDocuments checks the documents table against itself.
func (h *home) consistentDocuments(t *testing.T, collections map[string]bool) {
	t.Helper()
	type list struct{ partition, id string }
	records, lists, chunks := map[string]table.Item{}, map[list]bool{}, map[string]int64{}
	for _, item := range h.items(t, table.Documents) {
		parts := strings.Split(item.Partition, "/")
		switch {
		case parts[0] == "pending":
			t.Errorf("still pending: %s", item.Body)
		case item.Sort == "record":
			records[parts[1]] = item
		case item.Sort == "ruled": // who might read its earlier texts, and where it was moved, stay
		case item.Sort == "failure":
			t.Errorf("indexing failed: %v", item.Strings)
		case parts[1] == "list":
			lists[list{item.Partition, item.Strings["id"]}] = true
		default:
			chunks[parts[1]+"/"+parts[2]]++
		}
	}
	for id, r := range records {
		if !collections[r.Strings["collection"]] {
			t.Errorf("document %s is in collection %s, which is gone", id, r.Strings["collection"])
		}
		for _, partition := range []string{h.team.ID + "/list", h.team.ID + "/list/" + r.Strings["collection"]} {
			if !lists[list{partition, id}] {
				t.Errorf("document %s is not in the list %s", id, partition)
			}
			delete(lists, list{partition, id})
		}
		version := id + "/" + fmt.Sprintf("%016x", r.Version)
		if chunks[version] != r.Numbers["chunks"] {
			t.Errorf("document %s has %d of its %d chunks", id, chunks[version], r.Numbers["chunks"])
		}
		delete(chunks, version)
	}
	if len(lists) > 0 || len(chunks) > 0 {
		t.Errorf("left behind: list entries %v, chunks %v", lists, chunks)
	}
}

// consistentAnswers checks the answers table against itself and the day's count.
func (h *home) consistentAnswers(t *testing.T) {
	t.Helper()
	asked, listed := 0, map[string]int{}
	for _, item := range h.items(t, table.Answers) {
		switch {
		case strings.HasPrefix(item.Partition, "pending/"):
			t.Errorf("still pending: %s", item.Body)
		case item.Sort == "answer":
			asked++
			switch item.Strings["state"] {
			case "complete":
				listed[item.Partition] += 2 // the team's list and the user's
			case "deleted":
				if len(item.Body) > 0 {
					t.Errorf("a deleted answer still holds %q", item.Body)
				}
			default:
				t.Errorf("question %s is %s", item.Partition, item.Strings["state"])
			}
		default:
			_, id, _ := strings.Cut(item.Sort, "#")
			listed[id]--
		}
	}
	for id, missing := range listed {
		if missing != 0 {
			t.Errorf("question %s: %d list entries too few", id, missing)
		}
	}
	var counted int64
	for _, item := range h.items(t, table.Usage) {
		if strings.HasPrefix(item.Sort, "answers-day#") {
			counted += item.Numbers["used"]
		}
	}
	if int(counted) != asked {
		t.Errorf("%d questions are counted, %d were accepted", counted, asked)
	}
}
