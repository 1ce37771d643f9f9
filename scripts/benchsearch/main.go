// Command benchsearch measures search and answers on labelled questions and compares them with
// SQLite's FTS5 and Bleve in the same run. It is a separate module, so that these
// stay out of the product.
//
//	go -C scripts/benchsearch run -mod=mod . -sets FOLDER [-only squad,cosqa] [-save now.json] [-against before.json] [-http] [-alone] [-passages N,N] [-model FOLDER] [-picture FILE]
//	make bench-search DOCENT_EVAL=FOLDER ARGS='-save FILE -against FILE'
//
// With -write FOLDER it measures nothing: for each set it writes FOLDER/SET/items.jsonl for docent source
// import and FOLDER/SET/questions.jsonl for docent eval, so that a running server can be measured on the same questions.
//
// Paths are absolute, or from scripts/benchsearch. Docent is measured with its model, which docent model fetch brings,
// and by words alone; "vectors" is the model alone.
// The folder holds one set a folder: corpus.jsonl, queries.jsonl, qrels.tsv, and
// optionally qa.jsonl and groups.tsv; fetchsets.py makes some from public repositories. The command exits with 1 if
// a floor is missed.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"docent/shared/embed"
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
	folder, only, save, against, spaces, model, picture, passages string
	write                                                         string
	http, alone                                                   bool
}

func main() {
	var o options
	flag.StringVar(&o.folder, "sets", os.Getenv("DOCENT_EVAL"), "folder of the sets (also DOCENT_EVAL)")
	flag.StringVar(&o.only, "only", "", "names of sets, separated by commas; empty: all")
	flag.StringVar(&o.save, "save", "", "file to save the run in, for later comparison")
	flag.StringVar(&o.against, "against", "", "file of an earlier run")
	flag.StringVar(&o.spaces, "spaces", "cosqa=code,cosqa-others=code,gitbugs-hadoop=issues,seamonkey=issues", "sets that are not documentation")
	flag.StringVar(&o.write, "write", "", "folder to write the sets to, for docent source import and docent eval, instead of measuring")
	flag.BoolVar(&o.http, "http", false, "ask the questions with gold answers through the HTTP API as well")
	flag.BoolVar(&o.alone, "alone", false, "measure docent alone, to try a change quickly")
	flag.StringVar(&o.passages, "passages", "10000,50000,150000", "sizes of generated collections on which the engines are timed; 0: none")
	flag.StringVar(&o.model, "model", "", "folder of the model; empty: the one that docent model fetch fills; none: words alone")
	flag.StringVar(&o.picture, "picture", "", "file to draw the run in, as SVG, if every engine was measured on every set")
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
	if o.write != "" {
		return writeSets(o.write, o.only, all)
	}
	before, err := readRun(o.against)
	if err != nil {
		return err
	}
	var model embed.Engine
	if o.model != "none" {
		if model, err = openModel(o.model); err != nil {
			return err
		}
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
		if now[s.name], err = s.measure(ctx, folder, model, o.alone); err != nil {
			return fmt.Errorf("measure %s: %w", s.name, err)
		}
		s.print(now[s.name], before[s.name])
		missed = append(missed, missedFloors(s.name, now[s.name])...)
		if o.http && len(s.answers) > 0 {
			if err := overHTTP(ctx, s, folder); err != nil {
				return fmt.Errorf("ask %s over HTTP: %w", s.name, err)
			}
		}
	}
	if err := now.save(o.save); err != nil {
		return err
	}
	now.summarise()
	times, err := speeds(ctx, o.passages, folder, model, naturalQuestions(all), o.alone)
	if err != nil {
		return fmt.Errorf("time the engines: %w", err)
	}
	if o.only != "" || o.alone {
		o.picture = ""
	}
	if err := draw(o.picture, now, times); err != nil {
		return fmt.Errorf("draw the run: %w", err)
	}
	if len(missed) > 0 {
		return fmt.Errorf("below the floor: %s", strings.Join(missed, "; "))
	}
	return nil
}

// naturalQuestions returns the questions of all sets that are documentation, or of all if none is.
func naturalQuestions(all []*set) []string {
	var questions, others []string
	for _, s := range all {
		for _, q := range s.queries {
			if s.space == "" || s.space == search.Documentation {
				questions = append(questions, q.Text)
			}
			others = append(others, q.Text)
		}
	}
	if len(questions) == 0 {
		return others
	}
	return questions
}

// The names of Docent's engines.
const (
	own   = "docent"
	words = "docent, words"
)

// engines returns the engines to measure, docent first, each with the set's documents.
func (s *set) engines(ctx context.Context, folder string, model embed.Engine, alone bool) ([]engine, error) {
	all, err := s.ours(ctx, folder, model)
	if err != nil || alone {
		return all, err
	}
	others, err := s.others(ctx, folder)
	return append(all, others...), err
}

// ours returns docent with the set's documents, and docent by words. Without a model, docent goes by words alone.
func (s *set) ours(ctx context.Context, folder string, model embed.Engine) ([]engine, error) {
	first, err := openDocent(ctx, s, folder, model)
	if err != nil {
		return nil, err
	}
	if model == nil {
		return []engine{first}, nil
	}
	return []engine{first, first.byWords()}, nil
}

// others returns the other engines with the set's documents.
func (s *set) others(ctx context.Context, folder string) ([]engine, error) {
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
	return []engine{lite, tfidf, bm25}, nil
}

// measure runs every engine, or docent alone, over the set.
func (s *set) measure(ctx context.Context, folder string, model embed.Engine, alone bool) (map[string]values, error) {
	engines, err := s.engines(ctx, folder, model, alone)
	if err != nil {
		return nil, err
	}
	if model != nil && !alone {
		near, err := openVectors(ctx, s, model)
		if err != nil {
			return nil, err
		}
		engines = append(engines, near)
	}
	out := map[string]values{}
	for _, e := range engines {
		v, err := s.ask(ctx, e)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", e.name(), err)
		}
		if d, ok := e.(*docent); ok {
			if err := d.answers(ctx, v); err != nil {
				return nil, err
			}
		}
		out[e.name()] = v
	}
	for _, e := range slices.Backward(engines) {
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
