package filter_test

import (
	"encoding/json"
	"testing"

	"pgregory.net/rapid"

	"docent/shared/filter"
)

// TestMayMatchIsFalseOnlyWithoutAMatch compares both decisions for random filters and documents, and checks that
// MayMatch decides as Match does if a filter names no fact.
func TestMayMatchIsFalseOnlyWithoutAMatch(t *testing.T) {
	t.Parallel()
	matches, refusals := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		text, err := json.Marshal(drawFilter(t, filter.MaxDepth))
		if err != nil {
			t.Fatal(err)
		}
		f, err := filter.Parse(text)
		if err != nil {
			return // more conditions than a filter may have
		}
		a := filter.Attributes{Metadata: drawMetadata(t), Facts: drawFacts(t)}
		match, may := f.Match(a), f.MayMatch(a.Metadata)
		if match && !may {
			t.Fatalf("%s matches %v %+v, but MayMatch is false", f, a.Metadata, a.Facts)
		}
		if !f.NamesFact() && match != may {
			t.Fatalf("%s names no fact: Match %t, MayMatch %t of %v", f, match, may, a.Metadata)
		}
		again, err := filter.Parse([]byte(f.String()))
		if err != nil || again.Match(a) != match || again.MayMatch(a.Metadata) != may {
			t.Fatalf("%s is read as %v, which decides otherwise: %v", f, again, err)
		}
		if match {
			matches++
		} else if !may {
			refusals++
		}
	})
	if matches == 0 || refusals == 0 {
		t.Errorf("%d matches and %d refusals: the random filters test nothing", matches, refusals)
	}
}

// TestMetadataKeepsItsText checks that metadata is the same after it was stored.
func TestMetadataKeepsItsText(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := drawMetadata(t)
		var again filter.Metadata
		if err := json.Unmarshal([]byte(m.JSON()), &again); err != nil || !again.Equal(m) || again.JSON() != m.JSON() {
			t.Fatalf("%s is read as %s: %v", m.JSON(), again.JSON(), err)
		}
	})
}
