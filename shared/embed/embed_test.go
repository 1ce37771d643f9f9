package embed_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"docent/shared/embed"
)

func TestCheck(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name  string
		texts []string
		ok    bool
	}{
		{"none", nil, false},
		{"one", []string{"a"}, true},
		{"most", slices.Repeat([]string{"a"}, embed.MaxTexts), true},
		{"too many", slices.Repeat([]string{"a"}, embed.MaxTexts+1), false},
		{"longest", []string{strings.Repeat("a", embed.MaxBytes)}, true},
		{"too long", []string{strings.Repeat("a", embed.MaxBytes+1)}, false},
		{"empty", []string{"a", ""}, false},
		{"white space", []string{"a", " \n\u00a0"}, false},
		{"not UTF-8", []string{"a\xff"}, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			err := embed.Check(c.texts)
			if c.ok && err != nil || !c.ok && !errors.Is(err, embed.ErrInvalid) {
				t.Errorf("Check: %v, want ok %v", err, c.ok)
			}
		})
	}
}

func TestNormalize(t *testing.T) {
	t.Parallel()
	v := embed.Vector{3, 0, -4}
	if !embed.Normalize(v) || math.Abs(embed.Cosine(v, v)-1) > 1e-6 || math.Abs(embed.Cosine(v, embed.Vector{0, 0, -1})-0.8) > 1e-6 {
		t.Errorf("normalized %v", v)
	}
	nan := float32(math.NaN())
	for _, v := range []embed.Vector{nil, {0, 0}, {1, nan}, {1, float32(math.Inf(1))}} {
		if embed.Normalize(v) {
			t.Errorf("%v has no direction", v)
		}
	}
	large := embed.Vector{math.MaxFloat32, math.MaxFloat32}
	if !embed.Normalize(large) || math.Abs(embed.Cosine(large, large)-1) > 1e-6 {
		t.Errorf("normalized %v", large)
	}
}
