package main

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestDrawWritesWellFormedXML(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "run.svg")
	now := run{"a & b": {own: {nDCG10: {1, 0.5}}, "FTS5": {nDCG10: {0.25}}}}
	times := timing{10: {own: {0.1, 1}, "FTS5": {2, 30}}, 1000: {own: {0.2, 2}, "FTS5": {20, 300}}}
	if err := draw(path, now, times); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	d := xml.NewDecoder(strings.NewReader(string(data)))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	for _, part := range []string{"a &amp; b", "docent: 0.750", ">1000<"} {
		if !strings.Contains(string(data), part) {
			t.Errorf("the picture lacks %q", part)
		}
	}
}

func TestNoPictureWithoutAName(t *testing.T) {
	t.Parallel()
	if err := draw("", nil, nil); err != nil {
		t.Error(err)
	}
}
