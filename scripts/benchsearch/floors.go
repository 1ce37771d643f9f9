package main

import "fmt"

// floors are the minimum values of docent, by set: with its model, and by words. A change that goes below one must
// say so in its commit message, or must not be made.
var (
	floors = map[string]map[string]float64{
		"squad": {nDCG10: 0.921, mrr10: 0.9, recall100: 0.997, r1: 0.85, r5: 0.963,
			firstHas: 0.885, allHas: 0.953, boldHas: 0.775, missing: 0.975},
		"cosqa":          {nDCG10: 0.58, mrr10: 0.51, recall100: 0.97},
		"gitbugs-hadoop": {nDCG10: 0.63, mrr10: 0.57, recall100: 0.91},
	}
	floorsByWords = map[string]map[string]float64{
		"squad": {nDCG10: 0.905, mrr10: 0.885, recall100: 0.994, r1: 0.835, r5: 0.948,
			firstHas: 0.86, allHas: 0.94, boldHas: 0.76, missing: 0.955},
		"cosqa":          {nDCG10: 0.415, mrr10: 0.36, recall100: 0.82},
		"gitbugs-hadoop": {nDCG10: 0.61, mrr10: 0.55, recall100: 0.92},
	}
)

// missedFloors returns what is below its floor in the values of a set, which are by engine. Without a model, docent
// is measured by words.
func missedFloors(set string, now map[string]values) (missed []string) {
	of := map[string]map[string]map[string]float64{own: floors, words: floorsByWords}
	if now[words] == nil {
		of = map[string]map[string]map[string]float64{own: floorsByWords}
	}
	for engine, floors := range of {
		for metric, floor := range floors[set] {
			if got := mean(now[engine][metric]); got < floor {
				missed = append(missed, fmt.Sprintf("%s, %s: %s %.4f, not %.4f", set, engine, metric, got, floor))
			}
		}
	}
	return missed
}
