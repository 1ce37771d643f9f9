package main

import (
	"fmt"
	"strings"
	"testing"
)

func TestHeadersAndPageNumbersOfTheOtherProgramAreNotCounted(t *testing.T) {
	t.Parallel()
	var text, want strings.Builder
	for i := range 5 {
		body := strings.ReplaceAll(strings.Repeat("one of X\n", 12)+"the same on all\n"+strings.Repeat("two of X\n", 4)+"7\n"+strings.Repeat("three of X\n", 8), "X", string(rune('a'+i)))
		fmt.Fprintf(&text, "Annual   report %d\n%s\n  %d\n\f", i, body, i+1)
		if i == 0 {
			want.WriteString("Annual   report 0\n")
		}
		fmt.Fprintf(&want, "%s\n\f", body)
	}
	got := withoutRunning(text.String())
	if a, b := strings.Fields(got), strings.Fields(want.String()); strings.Join(a, " ") != strings.Join(b, " ") {
		t.Errorf("got\n%s\nwant\n%s", got, want.String())
	}
}
