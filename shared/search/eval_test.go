package search_test

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"docent/shared/search"
)

// evalSet is one test collection in the common form: corpus.jsonl, queries.jsonl
// and qrels.tsv, optionally qa.jsonl and groups.tsv, each perhaps with .gz.
type evalSet struct {
	docs     []search.Document
	name     map[uuid.UUID]string
	queries  []struct{ ID, Text string }
	relevant map[string]map[string]bool
	qa       []evalQuestion
	group    map[string]string
}

type evalQuestion struct {
	ID, Text, Doc string
	Answers       []string
	Impossible    bool
}

// openEval reads the set of that name under the folder that DOCENT_EVAL names.
func openEval(t testing.TB, name string, space search.Space) evalSet {
	t.Helper()
	root := os.Getenv("DOCENT_EVAL")
	if root == "" {
		t.Skip("DOCENT_EVAL does not name a folder with the evaluation data")
	}
	dir := filepath.Join(root, name)
	set := evalSet{name: map[uuid.UUID]string{}, relevant: map[string]map[string]bool{}, group: map[string]string{}}
	for _, line := range evalLines(t, dir, "corpus.jsonl", true) {
		var d struct{ ID, Title, Text string }
		evalJSON(t, line, &d)
		id := uuid.NewSHA1(uuid.NameSpaceURL, []byte(d.ID))
		set.name[id] = d.ID
		set.docs = append(set.docs, search.Document{ID: id, Version: 1, Source: name, Space: space, Title: d.Title, Body: d.Text})
	}
	for _, line := range evalLines(t, dir, "queries.jsonl", true) {
		var q struct{ ID, Text string }
		evalJSON(t, line, &q)
		set.queries = append(set.queries, q)
	}
	for _, line := range evalLines(t, dir, "qrels.tsv", true) {
		f := strings.Split(string(line), "\t")
		if set.relevant[f[0]] == nil {
			set.relevant[f[0]] = map[string]bool{}
		}
		set.relevant[f[0]][f[1]] = true
	}
	for _, line := range evalLines(t, dir, "qa.jsonl", false) {
		var q evalQuestion
		evalJSON(t, line, &q)
		set.qa = append(set.qa, q)
	}
	for _, line := range evalLines(t, dir, "groups.tsv", false) {
		f := strings.Split(string(line), "\t")
		set.group[f[0]] = f[1]
	}
	return set
}

func evalJSON(t testing.TB, line []byte, into any) {
	t.Helper()
	if err := json.Unmarshal(line, into); err != nil {
		t.Fatal(err)
	}
}

func evalLines(t testing.TB, dir, name string, required bool) [][]byte {
	t.Helper()
	var r io.Reader
	f, err := os.Open(filepath.Join(dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		if f, err = os.Open(filepath.Join(dir, name+".gz")); errors.Is(err, fs.ErrNotExist) && !required {
			return nil
		}
		if err == nil {
			r, err = gzip.NewReader(bufio.NewReader(f))
		}
	} else {
		r = f
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	data, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Split(bytes.TrimRight(data, "\n"), []byte("\n"))
}

// evalScore is the mean of the ranking metrics over questions.
type evalScore struct{ nDCG, mrr, recall100, r1, r5 float64 }

func (s evalSet) score(t testing.TB, runs [][]search.Ranked, dropSelf bool) evalScore {
	t.Helper()
	var sum evalScore
	for i, q := range s.queries {
		run := slices.Clone(runs[i])
		slices.SortStableFunc(run, func(a, b search.Ranked) int {
			return cmp.Or(cmp.Compare(b.Score, a.Score), bytes.Compare(a.Document[:], b.Document[:]))
		})
		if dropSelf {
			run = slices.DeleteFunc(run, func(r search.Ranked) bool { return s.name[r.Document] == q.ID })
		}
		relevant := s.relevant[q.ID]
		var dcg, ideal, found5, found100 float64
		first := 0
		for rank, r := range run {
			if !relevant[s.name[r.Document]] {
				continue
			}
			if first == 0 {
				first = rank + 1
			}
			if rank < 10 {
				dcg += 1 / math.Log2(float64(rank)+2)
			}
			if rank < 5 {
				found5++
			}
			if rank < 100 {
				found100++
			}
		}
		for rank := range min(10, len(relevant)) {
			ideal += 1 / math.Log2(float64(rank)+2)
		}
		sum.nDCG += dcg / ideal
		if first > 0 && first <= 10 {
			sum.mrr += 1 / float64(first)
		}
		if first == 1 {
			sum.r1++
		}
		sum.r5 += found5 / float64(len(relevant))
		sum.recall100 += found100 / float64(len(relevant))
	}
	n := float64(len(s.queries))
	return evalScore{sum.nDCG / n, sum.mrr / n, sum.recall100 / n, sum.r1 / n, sum.r5 / n}
}

func TestRankingOnLabelledQuestions(t *testing.T) {
	t.Parallel()
	cases := []struct {
		set   string
		space search.Space
		floor evalScore
	}{
		{"squad", search.Documentation, evalScore{0.901, 0.880, 0.994, 0.829, 0.947}},
		{"cosqa", search.Code, evalScore{0.408, 0.353, 0.835, 0.246, 0.490}},
		{"gitbugs-hadoop", search.Issues, evalScore{0.590, 0.540, 0.905, 0.420, 0.679}},
	}
	for _, c := range cases {
		t.Run(c.set, func(t *testing.T) {
			t.Parallel()
			set := openEval(t, c.set, c.space)
			var questions []string
			for _, q := range set.queries {
				questions = append(questions, q.Text)
			}
			runs, size, err := search.RankAll(c.space, set.docs, questions, 1000, 50)
			if err != nil {
				t.Fatal(err)
			}
			got := set.score(t, runs, c.set == "gitbugs-hadoop")
			t.Logf("nDCG@10 %.4f  MRR@10 %.4f  recall@100 %.4f  R@1 %.4f  R@5 %.4f  %.0f bytes a passage", got.nDCG, got.mrr, got.recall100, got.r1, got.r5, size)
			if got.nDCG < c.floor.nDCG || got.mrr < c.floor.mrr || got.recall100 < c.floor.recall100 || got.r1 < c.floor.r1 || got.r5 < c.floor.r5 {
				t.Errorf("below %+v", c.floor)
			}
		})
	}
}
