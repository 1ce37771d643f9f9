package blob_test

import (
	"errors"
	"math"
	"regexp"
	"strings"
	"testing"

	"docent/shared/blob"
)

// one element: the allowed characters, but neither "." nor "..".
var grammar = regexp.MustCompile(`\A(?:[A-Za-z0-9_-]|\.[A-Za-z0-9_-]|\.\.[A-Za-z0-9._-])[A-Za-z0-9._-]*` +
	`(?:/(?:[A-Za-z0-9_-]|\.[A-Za-z0-9_-]|\.\.[A-Za-z0-9._-])[A-Za-z0-9._-]*)*\z`)

var names = []struct {
	name  string
	valid bool
}{
	{"a", true},
	{"segments/0b1c/A_z-9.bin", true},
	{".hidden/..x/...", true},
	{strings.Repeat("n", 512), true},
	{strings.Repeat("n", 513), false},
	{"", false},
	{"/a", false},
	{"a/", false},
	{"a//b", false},
	{".", false},
	{"..", false},
	{"a/../b", false},
	{"a/./b", false},
	{"a/..", false},
	{"a b", false},
	{"a\x00", false},
	{"a\\b", false},
	{"é", false},
	{"a=", false},
	{"\xff", false},
}

func TestCheckName(t *testing.T) {
	t.Parallel()
	for _, c := range names {
		err := blob.CheckName(c.name)
		if (err == nil) != c.valid || err != nil && !errors.Is(err, blob.ErrInvalid) {
			t.Errorf("CheckName(%.20q) = %v, want valid %v", c.name, err, c.valid)
		}
	}
}

func TestCheckPrefix(t *testing.T) {
	t.Parallel()
	for prefix, valid := range map[string]bool{
		"": true, "a": true, "a/": true, "a/.": true, "..": true,
		"/": false, "a//": false, "../": false, "a/./b": false, "é": false, strings.Repeat("p", 513): false,
	} {
		if err := blob.CheckPrefix(prefix); (err == nil) != valid || err != nil && !errors.Is(err, blob.ErrInvalid) {
			t.Errorf("CheckPrefix(%.20q) = %v, want valid %v", prefix, err, valid)
		}
	}
}

func TestCheckRange(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		offset, length, size int64
		valid                bool
	}{
		{0, 0, 0, true}, {0, 10, 10, true}, {10, 0, 10, true}, {9, 1, 10, true},
		{-1, 1, 10, false}, {0, -1, 10, false}, {0, 11, 10, false}, {9, 2, 10, false}, {11, 0, 10, false},
		{math.MaxInt64, math.MaxInt64, 10, false}, {1, math.MaxInt64, math.MaxInt64, false},
	} {
		err := blob.CheckRange(c.offset, c.length, c.size)
		if (err == nil) != c.valid || err != nil && !errors.Is(err, blob.ErrInvalid) {
			t.Errorf("CheckRange(%d, %d, %d) = %v, want valid %v", c.offset, c.length, c.size, err, c.valid)
		}
	}
}

func FuzzCheckName(f *testing.F) {
	for _, c := range names {
		f.Add(c.name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		want := len(name) <= blob.MaxNameBytes && grammar.MatchString(name)
		err := blob.CheckName(name)
		if (err == nil) != want {
			t.Fatalf("CheckName(%q) = %v, the grammar says %v", name, err, want)
		}
		if err != nil {
			return
		}
		for i := range len(name) + 1 {
			if err := blob.CheckPrefix(name[:i]); err != nil {
				t.Fatalf("CheckPrefix(%q), of the valid name %q: %v", name[:i], name, err)
			}
		}
	})
}
