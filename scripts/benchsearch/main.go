// Command benchsearch measures search and answers on labelled questions and compares them with
// SQLite's FTS5 and Bleve in the same run. It is a separate module, so that these
// stay out of the product.
//
//	go -C scripts/benchsearch run -mod=mod . -sets FOLDER [-only squad,cosqa] [-save now.json] [-against before.json] [-http] [-alone] [-passages N]
//	make bench-search DOCENT_EVAL=FOLDER ARGS='-save FILE -against FILE'
//
// Paths are absolute, or from scripts/benchsearch.
// The folder holds one set a folder: corpus.jsonl, queries.jsonl, qrels.tsv, and
// optionally qa.jsonl and groups.tsv. It exits with 1 if a floor is missed.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"docent/shared/search"
)

// engine ranks the documents of one set.
type engine interface {
	name() string
	// rank returns the ids of up to limit documents, best first.
	rank(ctx context.Context, question string, limit int) ([]string, error)
	close() error
}

// run has the values of one run, by set and engine.
type run map[string]map[string]values

type options struct {
	folder, only, save, against, spaces string
	http, alone                         bool
	passages                            int
}

func main() {
	var o options
	flag.StringVar(&o.folder, "sets", os.Getenv("DOCENT_EVAL"), "folder of the sets (also DOCENT_EVAL)")
	flag.StringVar(&o.only, "only", "", "names of sets, separated by commas; empty: all")
	flag.StringVar(&o.save, "save", "", "file to save the run in, for later comparison")
	flag.StringVar(&o.against, "against", "", "file of an earlier run")
	flag.StringVar(&o.spaces, "spaces", "cosqa=code,gitbugs-hadoop=issues", "sets that are not documentation")
	flag.BoolVar(&o.http, "http", false, "ask the questions with gold answers through the HTTP API as well")
	flag.BoolVar(&o.alone, "alone", false, "measure docent alone, to try a change quickly")
	flag.IntVar(&o.passages, "passages", 150_000, "size of a generated collection on which the engines are timed; 0: none")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := measure(ctx, o)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "benchsearch:", err)
		os.Exit(1)
	}
}

func measure(ctx context.Context, o options) (err error) {
	if o.folder == "" {
		return errors.New("name the folder of the sets: -sets FOLDER or DOCENT_EVAL")
	}
	spaces := map[string]search.Space{}
	for _, pair := range strings.Split(o.spaces, ",") {
		if name, space, ok := strings.Cut(pair, "="); ok {
			spaces[name] = search.Space(space)
		}
	}
	all, err := sets(o.folder, spaces)
	if err != nil {
		return err
	}
	before, err := readRun(o.against)
	if err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "docent-benchsearch-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	now, missed := run{}, []string(nil)
	for _, s := range all {
		if o.only != "" && !slices.Contains(strings.Split(o.only, ","), s.name) {
			continue
		}
		if now[s.name], err = s.measure(ctx, folder, o.alone); err != nil {
			return fmt.Errorf("measure %s: %w", s.name, err)
		}
		s.print(now[s.name], before[s.name])
		missed = append(missed, missedFloors(s.name, now[s.name]["docent"])...)
		if o.http && len(s.answers) > 0 {
			if err := overHTTP(ctx, s, folder); err != nil {
				return fmt.Errorf("ask %s over HTTP: %w", s.name, err)
			}
		}
	}
	if err := now.save(o.save); err != nil {
		return err
	}
	if o.passages > 0 {
		if err := speed(ctx, o.passages, folder); err != nil {
			return fmt.Errorf("time the engines: %w", err)
		}
	}
	if len(missed) > 0 {
		return fmt.Errorf("below the floor: %s", strings.Join(missed, "; "))
	}
	return nil
}

// engines returns the engines to measure, docent first, each with the set's documents.
func (s *set) engines(ctx context.Context, folder string, alone bool) ([]engine, error) {
	own, err := openDocent(ctx, s, folder)
	if err != nil {
		return nil, err
	}
	if alone {
		return []engine{own}, nil
	}
	lite, err := openFTS5(ctx, s, folder)
	if err != nil {
		return nil, err
	}
	tfidf, err := openBleve(s, folder, "tf-idf")
	if err != nil {
		return nil, err
	}
	bm25, err := openBleve(s, folder, "bm25")
	if err != nil {
		return nil, err
	}
	return []engine{own, lite, tfidf, bm25}, nil
}

// measure runs every engine, or docent alone, over the set.
func (s *set) measure(ctx context.Context, folder string, alone bool) (map[string]values, error) {
	engines, err := s.engines(ctx, folder, alone)
	if err != nil {
		return nil, err
	}
	own := engines[0].(*docent)
	out := map[string]values{}
	for _, e := range engines {
		if out[e.name()], err = s.ask(ctx, e); err != nil {
			return nil, fmt.Errorf("%s: %w", e.name(), err)
		}
	}
	if err := own.answers(ctx, out[own.name()]); err != nil {
		return nil, err
	}
	for _, e := range engines {
		err = errors.Join(err, e.close())
	}
	return out, err
}

// took is the metric for the time of a query for ten documents, in milliseconds.
const took = "ms"

// ask ranks the documents for every question. A document with the question's own id is the question itself and is
// skipped.
func (s *set) ask(ctx context.Context, e engine) (values, error) {
	v := values{}
	for _, q := range s.queries {
		ids, err := e.rank(ctx, q.Text, deep)
		if err != nil {
			return nil, err
		}
		v.rank(slices.DeleteFunc(ids, func(id string) bool { return id == q.ID }), s.relevant[q.ID])
	}
	for _, q := range s.queries {
		start := time.Now()
		if _, err := e.rank(ctx, q.Text, 10); err != nil {
			return nil, err
		}
		v.add(took, float64(time.Since(start).Microseconds())/1000)
	}
	return v, nil
}

func (s *set) print(now, before map[string]values) {
	fmt.Printf("\n%s: %d documents, %d questions\n\n", s.name, len(s.docs), len(s.queries))
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	ranking := []string{nDCG10, mrr10, recall100, r1, r5}
	fmt.Fprintln(w, "\t"+strings.Join(ranking, "\t")+"\tp50 ms\tp99 ms\tdocent's nDCG@10 above")
	for _, name := range slices.Sorted(maps.Keys(now)) {
		v := now[name]
		fmt.Fprint(w, name)
		for _, m := range ranking {
			fmt.Fprintf(w, "\t%.4f", mean(v[m]))
		}
		times := slices.Sorted(slices.Values(v[took]))
		fmt.Fprintf(w, "\t%.2f\t%.2f\t", times[len(times)/2], times[len(times)*99/100])
		if name != "docent" {
			fmt.Fprint(w, difference(v[nDCG10], now["docent"][nDCG10]))
		}
		fmt.Fprintln(w)
	}
	own := now["docent"]
	for _, m := range slices.Sorted(maps.Keys(own)) {
		if m == took || slices.Contains(ranking, m) && before["docent"] == nil {
			continue
		}
		fmt.Fprintf(w, "%s\t%.4f", m, mean(own[m]))
		if old := before["docent"]; old != nil {
			fmt.Fprintf(w, "\twas %.4f\t%s", mean(old[m]), difference(old[m], own[m]))
		}
		fmt.Fprintln(w)
	}
	w.Flush()
}

func readRun(path string) (run, error) {
	r := run{}
	if path == "" {
		return r, nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the earlier run: %w", err)
	}
	if err := json.Unmarshal(data, &r); err != nil {
		return nil, fmt.Errorf("read the earlier run: %w", err)
	}
	return r, nil
}

func (r run) save(path string) error {
	if path == "" {
		return nil
	}
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o644)
}
