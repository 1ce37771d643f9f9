package main

import (
	"math"
	"strings"
	"testing"
)

func TestRankingMetrics(t *testing.T) {
	t.Parallel()
	relevant := map[string]bool{"a": true, "b": true}
	cases := []struct {
		name string
		ids  []string
		want map[string]float64
	}{
		{"both first", []string{"a", "b", "c"}, map[string]float64{nDCG10: 1, mrr10: 1, recall100: 1, r1: 1, r5: 1}},
		{"second and sixth", []string{"c", "a", "d", "e", "f", "b"}, map[string]float64{
			nDCG10: (1/math.Log2(3) + 1/math.Log2(7)) / (1 + 1/math.Log2(3)), mrr10: 0.5, recall100: 1, r1: 0, r5: 0.5}},
		{"none", []string{"c"}, map[string]float64{nDCG10: 0, mrr10: 0, recall100: 0, r1: 0, r5: 0}},
		{"nothing found", nil, map[string]float64{nDCG10: 0, mrr10: 0, recall100: 0, r1: 0, r5: 0}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			v := values{}
			v.rank(c.ids, relevant)
			for metric, want := range c.want {
				if len(v[metric]) != 1 || math.Abs(v[metric][0]-want) > 1e-9 {
					t.Errorf("%s is %v, want %f", metric, v[metric], want)
				}
			}
		})
	}
}

func TestAUROC(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		positive, negative []float64
		want               float64
	}{
		{[]float64{3, 4}, []float64{1, 2}, 1}, {[]float64{1}, []float64{1}, 0.5}, {[]float64{1, 3}, []float64{2, 3}, 0.375}, {[]float64{0}, []float64{1}, 0},
	} {
		if got := auroc(c.positive, c.negative); got != c.want {
			t.Errorf("%v over %v is %f, want %f", c.positive, c.negative, got, c.want)
		}
	}
}

func TestDifference(t *testing.T) {
	t.Parallel()
	a, b := make([]float64, 200), make([]float64, 200)
	for i := range a {
		b[i] = 0.25
	}
	if got := difference(a, b); got != "+0.2500 [+0.2500, +0.2500]" {
		t.Error(got)
	}
	b[0] = 1
	if got := difference(a, b); !strings.HasPrefix(got, "+0.2537 [+0.25") {
		t.Error(got)
	}
	if got := difference(a, b[1:]); got != "other questions" {
		t.Error(got)
	}
}

func TestPiecesOfAnAnswer(t *testing.T) {
	t.Parallel()
	got := quoted("*Quoted from 2 documents, not written.*\n\n**a** (1)\n\n> One **two**.\n>\n> - three\n\n**b** (2)\n\n> four\n")
	if len(got) != 2 || got[0] != "One two.\n\n- three" || got[1] != "four" {
		t.Errorf("%q", got)
	}
}
