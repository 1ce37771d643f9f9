package main

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
)

// ranking names the metrics of every engine.
var ranking = []string{nDCG10, mrr10, recall100, r1, r5, oneOf5}

// engineOrder is the order in which engines are shown.
var engineOrder = []string{own, words, "vectors", "FTS5", "Bleve tf-idf", "Bleve bm25"}

// shown returns the names of the engines that have values, in order.
func shown[V any](of map[string]V) []string {
	names := slices.DeleteFunc(slices.Clone(engineOrder), func(name string) bool {
		_, ok := of[name]
		return !ok
	})
	for _, name := range slices.Sorted(maps.Keys(of)) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

func (s *set) print(now, before map[string]values) {
	fmt.Printf("\n%s: %d documents, %d questions\n\n", s.name, len(s.docs), len(s.queries))
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "\t"+strings.Join(ranking, "\t")+"\tp50 ms\tp99 ms\tdocent's nDCG@10 above")
	for _, name := range shown(now) {
		v := now[name]
		fmt.Fprint(w, name)
		for _, m := range ranking {
			fmt.Fprintf(w, "\t%.4f", mean(v[m]))
		}
		times := slices.Sorted(slices.Values(v[took]))
		fmt.Fprintf(w, "\t%.2f\t%.2f\t", times[len(times)/2], times[len(times)*99/100])
		if name != own {
			fmt.Fprint(w, difference(v[nDCG10], now[own][nDCG10]))
		}
		fmt.Fprintln(w)
	}
	for _, m := range slices.Sorted(maps.Keys(now[own])) {
		if m == took || slices.Contains(ranking, m) && before[own] == nil {
			continue
		}
		fmt.Fprintf(w, "%s\t%.4f", m, mean(now[own][m]))
		if byWords := now[words][m]; byWords != nil && !slices.Contains(ranking, m) {
			fmt.Fprintf(w, "\tby words %.4f", mean(byWords))
		}
		if old := before[own]; old != nil {
			fmt.Fprintf(w, "\twas %.4f\t%s", mean(old[m]), difference(old[m], now[own][m]))
		}
		fmt.Fprintln(w)
	}
	w.Flush()
}

// otherWords begins the names of the sets of questions in other words than the pages.
const otherWords = "other-"

// summarise prints nDCG@10 by set and engine, and the questions in other words of all sets together.
func (r run) summarise() {
	if len(r) == 0 {
		return
	}
	names, pooled := r.engines(), map[string]values{}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "\n"+nDCG10+"\t"+strings.Join(names, "\t"))
	for _, set := range slices.Sorted(maps.Keys(r)) {
		fmt.Fprint(w, set)
		for _, name := range names {
			fmt.Fprintf(w, "\t%.4f", mean(r[set][name][nDCG10]))
			if strings.HasPrefix(set, otherWords) {
				if pooled[name] == nil {
					pooled[name] = values{}
				}
				for _, m := range []string{nDCG10, r1, oneOf5} {
					pooled[name][m] = append(pooled[name][m], r[set][name][m]...)
				}
			}
		}
		fmt.Fprintln(w)
	}
	for _, m := range []string{nDCG10, r1, oneOf5} {
		if len(pooled) == 0 {
			break
		}
		fmt.Fprintf(w, "in other words, %s", m)
		for _, name := range names {
			fmt.Fprintf(w, "\t%.4f", mean(pooled[name][m]))
		}
		fmt.Fprintln(w)
	}
	w.Flush()
}

// engines returns the names of the engines of a run.
func (r run) engines() []string {
	all := map[string]values{}
	for _, set := range r {
		maps.Copy(all, set)
	}
	return shown(all)
}
