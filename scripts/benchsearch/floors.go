package main

import "fmt"

// floors are the minimum values of docent, by set. A change that goes below one must say so in its commit message,
// or must not be made.
var floors = map[string]map[string]float64{
	"squad": {nDCG10: 0.905, mrr10: 0.885, recall100: 0.994, r1: 0.835, r5: 0.948,
		firstHas: 0.86, allHas: 0.94, boldHas: 0.76, missing: 0.955},
	"cosqa":          {nDCG10: 0.415, mrr10: 0.36, recall100: 0.82},
	"gitbugs-hadoop": {nDCG10: 0.61, mrr10: 0.55, recall100: 0.92},
}

func missedFloors(set string, v values) (missed []string) {
	for metric, floor := range floors[set] {
		if got := mean(v[metric]); got < floor {
			missed = append(missed, fmt.Sprintf("%s %s %.4f, not %.4f", set, metric, got, floor))
		}
	}
	return missed
}
