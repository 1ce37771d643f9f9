package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
)

// The names of the metrics.
const (
	nDCG10    = "nDCG@10"
	mrr10     = "MRR@10"
	recall100 = "recall@100"
	r1        = "R@1"
	r5        = "R@5"
	oneOf5    = "one of 5" // any relevant document among the first five
	firstHas  = "gold in first block"
	allHas    = "gold in all blocks"
	boldHas   = "gold in bold"
	answered  = "answered"
	missing   = "AUROC knowledge missing"
	fact      = "AUROC fact missing"
	unfounded = "answered anyway"
)

// values has one value per question, by metric.
type values map[string][]float64

// rank adds the ranking metrics of one question; ids are documents, best first.
func (v values) rank(ids []string, relevant map[string]bool) {
	dcg, ideal, found5, found100 := 0.0, 0.0, 0.0, 0.0
	first := 0
	for i, id := range ids {
		if !relevant[id] {
			continue
		}
		if first == 0 {
			first = i + 1
		}
		if i < 10 {
			dcg += 1 / math.Log2(float64(i)+2)
		}
		if i < 5 {
			found5++
		}
		if i < 100 {
			found100++
		}
	}
	for i := range min(10, len(relevant)) {
		ideal += 1 / math.Log2(float64(i)+2)
	}
	all := float64(max(len(relevant), 1))
	v.add(nDCG10, dcg/max(ideal, 1))
	v.add(mrr10, 0)
	if first > 0 && first <= 10 {
		v[mrr10][len(v[mrr10])-1] = 1 / float64(first)
	}
	v.add(recall100, found100/all)
	v.add(r1, holds(first == 1))
	v.add(r5, found5/all)
	v.add(oneOf5, holds(found5 > 0))
}

func (v values) add(metric string, value float64) { v[metric] = append(v[metric], value) }

func holds(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

func mean(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum / float64(max(len(x), 1))
}

// auroc returns the probability that a positive has the higher signal than a negative; ties count one half.
func auroc(positive, negative []float64) float64 {
	sorted := slices.Sorted(slices.Values(negative))
	sum := 0.0
	for _, p := range positive {
		below := sort.SearchFloat64s(sorted, p)
		upTo := sort.Search(len(sorted), func(i int) bool { return sorted[i] > p })
		sum += float64(below) + float64(upTo-below)/2
	}
	return sum / float64(len(positive)) / float64(len(negative))
}

// draws is how many samples the bootstrap draws.
const draws = 10_000

// difference returns the mean difference b - a over the same questions, with its 95 % interval by a paired
// bootstrap, as text.
func difference(a, b []float64) string {
	if len(a) != len(b) || len(a) == 0 {
		return "other questions"
	}
	random := rand.New(rand.NewPCG(1, 2))
	means := make([]float64, draws)
	for i := range means {
		sum := 0.0
		for range a {
			j := random.IntN(len(a))
			sum += b[j] - a[j]
		}
		means[i] = sum / float64(len(a))
	}
	slices.Sort(means)
	return fmt.Sprintf("%+.4f [%+.4f, %+.4f]", mean(b)-mean(a), means[draws*25/1000], means[draws*975/1000])
}
