package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTheBillListsWhatIsLinked writes the bill of this test's own program.
func TestTheBillListsWhatIsLinked(t *testing.T) {
	t.Parallel()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "bill.cdx.json")
	if err := run([]string{program, file}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var b bill
	if err := json.Unmarshal(text, &b); err != nil {
		t.Fatal(err)
	}
	if b.Format != "CycloneDX" || b.SpecVersion != "1.6" || b.Metadata.Component.Name != "docent" {
		t.Errorf("%s %s of %q", b.Format, b.SpecVersion, b.Metadata.Component.Name)
	}
	refs := map[string]bool{b.Metadata.Component.Ref: true}
	for _, c := range b.Components {
		if refs[c.Ref] || !strings.HasPrefix(c.PURL, "pkg:golang/"+c.Name) {
			t.Errorf("%s is there twice, or its purl is %s", c.Ref, c.PURL)
		}
		refs[c.Ref] = true
	}
	for _, d := range b.Dependencies {
		for _, ref := range append(d.DependsOn, d.Ref) {
			if !refs[ref] {
				t.Errorf("%s is no component", ref)
			}
		}
	}
	if len(b.Components) == 0 || b.Components[0].Name != "std" {
		t.Errorf("the standard library is not listed first: %v", b.Components)
	}
	if err := run([]string{program, file}); err != nil {
		t.Fatal(err)
	}
	if again, err := os.ReadFile(file); err != nil || !bytes.Equal(text, again) {
		t.Errorf("the bill differs the second time, %v", err)
	}
}

func TestWhatIsNoGoProgramHasNoBill(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{}, {"main.go"}, {"main.go", filepath.Join(t.TempDir(), "bill")}} {
		if err := run(args); err == nil {
			t.Errorf("%q: no error", args)
		}
	}
}
