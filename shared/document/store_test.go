package document_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"docent/shared/document"
	"docent/shared/search"
	"docent/shared/table"
)

const teamID = "0b3f1d3e-0000-4000-8000-000000000001"

func drawTime(rt *rapid.T, name string) time.Time {
	return time.UnixMilli(rapid.Int64Range(0, 4e12).Draw(rt, name)).UTC()
}

// drawEntry draws the entry of a document or of an item with some facts missing.
func drawEntry(rt *rapid.T) document.Entry {
	e := document.Entry{ID: uuid.NewString(), Fields: document.Fields{CollectionID: uuid.NewString(),
		Title: rapid.String().Draw(rt, "title"), URI: "https://docs.example/" + rapid.String().Draw(rt, "uri")}, CreatedAt: drawTime(rt, "created"), UpdatedAt: drawTime(rt, "updated")}
	if rapid.Bool().Draw(rt, "of a collection") {
		return e
	}
	texts := rapid.SliceOfN(rapid.String(), 1, 4)
	e.Facts = &document.Facts{Space: rapid.SampledFrom([]search.Space{search.Issues, search.PRs, search.Messages, search.Code}).Draw(rt, "space"),
		Author: rapid.String().Draw(rt, "author"), Project: rapid.String().Draw(rt, "project"), Number: rapid.String().Draw(rt, "number"),
		State: rapid.String().Draw(rt, "state"), Comment: rapid.Bool().Draw(rt, "comment"), Labels: []string{}, Assignees: []string{}}
	if rapid.Bool().Draw(rt, "has lists") {
		e.Facts.Labels, e.Facts.Assignees = texts.Draw(rt, "labels"), texts.Draw(rt, "assignees")
	}
	for _, at := range []*time.Time{&e.Facts.Changed, &e.Facts.Closed, &e.Facts.Merged} {
		if rapid.Bool().Draw(rt, "known") {
			*at = drawTime(rt, "at")
		}
	}
	return e
}

// drawBody draws a body of up to a few chunks.
func drawBody(rt *rapid.T) string {
	words := rapid.SampledFrom([]string{"zebra ", "grass\n\n", "## Water\n\n", "löwe, ", "- stone\n"})
	return strings.Repeat(strings.Join(rapid.SliceOfN(words, 0, 40).Draw(rt, "words"), ""), rapid.IntRange(1, 200).Draw(rt, "times"))
}

func TestRecordIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		e, body, version := drawEntry(rt), drawBody(rt), rapid.Int64Range(1, 1<<62).Draw(rt, "version")
		got, gotVersion, same := document.Stored(teamID, e, version, body)
		if !reflect.DeepEqual(got, e) || gotVersion != version {
			rt.Fatalf("%+v, version %d, want %+v, %d", got, gotVersion, e, version)
		}
		if !same(body) {
			rt.Fatal("its own body differs")
		}
		if other := []byte(body); len(other) > 0 {
			other[rapid.IntRange(0, len(other)-1).Draw(rt, "at")] ^= 1
			if same(string(other)) {
				rt.Fatal("another body of the same length counts as the same")
			}
		}
		if same(body + " ") {
			rt.Fatal("a longer body counts as the same")
		}
	})
}

func TestChunksAreTheBodyUnderKeysOfTheirVersion(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		id, body := uuid.NewString(), drawBody(rt)
		version := rapid.Int64Range(1, 1<<62).Draw(rt, "version")
		items, bodies, passages, err := document.StoredChunks(teamID, id, version, body)
		if err != nil {
			rt.Fatal(err)
		}
		if strings.Join(bodies, "") != body {
			rt.Fatal("the chunks in order are not the body")
		}
		for n, own := range passages {
			at := 0
			for _, p := range own { // within the chunk, without a gap
				if p.Start != at || p.End < p.Start {
					rt.Fatalf("chunk %d: passage from %d to %d after %d", n, p.Start, p.End, at)
				}
				at = p.End
			}
			if at != len(bodies[n]) {
				rt.Fatalf("chunk %d: passages end at %d of %d", n, at, len(bodies[n]))
			}
		}
		later, _, _, err := document.StoredChunks(teamID, id, version+1, body)
		if err != nil {
			rt.Fatal(err)
		}
		for n := range items {
			if slices.ContainsFunc(items[n+1:], func(i table.Item) bool { return i.Key == items[n].Key }) || items[n].Key == later[n].Key {
				rt.Fatalf("chunk %d shares its key with another", n)
			}
		}
	})
}

func TestVersionsAscendWhateverTheClockDoes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		before := int64(0)
		for range 20 {
			now := drawTime(rt, "now")
			bits := rapid.Uint16().Draw(rt, "random")
			version := document.NextVersion(now, bits, before)
			if version <= before {
				rt.Fatalf("version %d after %d", version, before)
			}
			if random := version & (1<<16 - 1); random != int64(bits) { // of two writes at one time, each has a version of its own
				rt.Fatalf("version %d ends with %d, want %d", version, random, bits)
			}
			if before>>16 < now.UnixMilli() && document.MillisOf(version) != now.UnixMilli() {
				rt.Fatalf("version %d has time %d, want %d", version, document.MillisOf(version), now.UnixMilli())
			}
			before = version
		}
	})
}

// Lists are sorted by creation, newest first. An item is in the list of its source, a
// document in those of its collection and its team.
func TestListKeysOrderTheNewestFirst(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		older := drawEntry(rt)
		newer := older
		newer.ID, newer.CreatedAt = uuid.NewString(), older.CreatedAt.Add(time.Duration(rapid.Int64Range(1, 1e9).Draw(rt, "later"))*time.Millisecond)
		a, b := document.ListKeys(teamID, older), document.ListKeys(teamID, newer)
		want := 2
		if older.Facts != nil {
			want = 1
		}
		if len(a) != want || len(b) != want {
			rt.Fatalf("%d and %d lists, want %d", len(a), len(b), want)
		}
		for i := range a {
			if a[i].Partition != b[i].Partition || b[i].Sort >= a[i].Sort {
				rt.Fatalf("%v sorts after %v", b[i], a[i])
			}
			if older.Facts != nil && !strings.HasPrefix(a[i].Sort, string(older.Facts.Space)+"#") {
				rt.Fatalf("%v is not under its space", a[i])
			}
		}
	})
}
