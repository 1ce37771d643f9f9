package evaluate

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

// The metrics, in the order in which they are shown.
const (
	Recall1      = "recall@1"
	Recall5      = "recall@5"
	Recall10     = "recall@10"
	NDCG10       = "nDCG@10"
	Answered     = "answered"
	GoldInAnswer = "gold in answer"
)

// Metrics lists them.
func Metrics() []string { return []string{Recall1, Recall5, Recall10, NDCG10, Answered, GoldInAnswer} }

// Depth is how many documents a question is judged by.
const Depth = 10

// Result is the outcome of one question.
type Result struct {
	Question string             `json:"question"`
	Expected []string           `json:"expected"`
	Rank     int                `json:"rank"` // of the first expected document; 0: not among the first ten
	Values   map[string]float64 `json:"values"`
	SearchMS int64              `json:"searchMs"`
	AnswerMS int64              `json:"answerMs,omitempty"`
}

// Report is the outcome of a file.
type Report struct {
	Questions int                `json:"questions"`
	Metrics   map[string]float64 `json:"metrics"` // means over the questions that have a value
	Results   []Result           `json:"results"` // in the order of the file
}

// Judge returns the result of a question whose search found these URIs, best first.
func Judge(q Question, found []string) Result {
	r := Result{Question: q.Text, Expected: q.Expected, Values: map[string]float64{}}
	var distinct []string
	for _, uri := range found {
		if !slices.Contains(distinct, uri) && len(distinct) < Depth {
			distinct = append(distinct, uri)
		}
	}
	gain, ideal := 0.0, 0.0
	for i, uri := range distinct {
		if !slices.Contains(q.Expected, uri) {
			continue
		}
		if r.Rank == 0 {
			r.Rank = i + 1
		}
		gain += 1 / math.Log2(float64(i)+2)
		for metric, depth := range map[string]int{Recall1: 1, Recall5: 5, Recall10: 10} {
			if i < depth {
				r.Values[metric] += 1 / float64(len(q.Expected))
			}
		}
	}
	for i := range min(Depth, len(q.Expected)) {
		ideal += 1 / math.Log2(float64(i)+2)
	}
	for _, metric := range []string{Recall1, Recall5, Recall10} {
		r.Values[metric] += 0 // not found
	}
	r.Values[NDCG10] = gain / ideal
	return r
}

// JudgeAnswer adds the scores of the answer. An answer without sources says that nothing was found.
func (r *Result) JudgeAnswer(q Question, markdown string, sources int) {
	r.Values[Answered] = 0
	if sources > 0 {
		r.Values[Answered] = 1
	}
	if len(q.Gold) == 0 {
		return
	}
	text := fold(markdown)
	r.Values[GoldInAnswer] = 0
	if sources > 0 && slices.ContainsFunc(q.Gold, func(gold string) bool { return strings.Contains(text, fold(gold)) }) {
		r.Values[GoldInAnswer] = 1
	}
}

// markdown is what an answer adds to the text that it quotes.
var markdown = strings.NewReplacer(`\<`, "<", `\\`, `\`, `\(`, "(", `\[`, "[", `\:`, ":", "&#96;", "`", "**", "", "\n>", "\n")

// fold returns text in lower case, without Markdown of quotations, with white space collapsed.
func fold(text string) string {
	return strings.Join(strings.Fields(strings.ToLower(markdown.Replace(text))), " ")
}

// Summarize returns the report of results.
func Summarize(results []Result) Report {
	r := Report{Questions: len(results), Metrics: map[string]float64{}, Results: results}
	for _, metric := range Metrics() {
		sum, n := 0.0, 0
		for _, one := range results {
			if v, ok := one.Values[metric]; ok {
				sum += v
				n++
			}
		}
		if n > 0 {
			r.Metrics[metric] = sum / float64(n)
		}
	}
	return r
}

// Slowest returns the n results that took longest, slowest first.
func (r Report) Slowest(n int) []Result {
	sorted := slices.Clone(r.Results)
	slices.SortStableFunc(sorted, func(a, b Result) int { return int(b.took() - a.took()) })
	return sorted[:min(n, len(sorted))]
}

func (r Result) took() int64 { return r.SearchMS + r.AnswerMS }

// ReadReport reads a report that was written as JSON.
func ReadReport(file io.Reader) (Report, error) {
	var r Report
	if err := json.NewDecoder(file).Decode(&r); err != nil {
		return r, fmt.Errorf("is not a report of docent eval --json: %w", err)
	}
	if r.Questions == 0 || len(r.Results) != r.Questions {
		return r, fmt.Errorf("is not a report of docent eval --json")
	}
	return r, nil
}

// Change is the difference of a metric between two reports, over the questions that are in both.
type Change struct {
	Before     float64 `json:"before"`
	Now        float64 `json:"now"`
	Difference float64 `json:"difference"`
	Better     int     `json:"better"` // questions
	Worse      int     `json:"worse"`
}

// Compare pairs the results of two reports by question and expected documents, and returns the change of each
// metric that both have, and how many questions are in both.
func Compare(before, now Report) (changes map[string]Change, paired int) {
	key := func(r Result) string { return r.Question + "\x00" + strings.Join(r.Expected, "\x00") }
	earlier := map[string][]Result{}
	for _, r := range before.Results {
		earlier[key(r)] = append(earlier[key(r)], r)
	}
	changes, counts := map[string]Change{}, map[string]int{}
	for _, r := range now.Results {
		same := earlier[key(r)]
		if len(same) == 0 {
			continue
		}
		was := same[0]
		earlier[key(r)] = same[1:] // a question may be in a file twice
		paired++
		for _, metric := range Metrics() {
			a, ok := was.Values[metric]
			b, also := r.Values[metric]
			if !ok || !also {
				continue
			}
			c := changes[metric]
			c.Before, c.Now = c.Before+a, c.Now+b
			switch {
			case b > a:
				c.Better++
			case b < a:
				c.Worse++
			}
			changes[metric] = c
			counts[metric]++
		}
	}
	for metric, c := range changes {
		c.Before, c.Now = c.Before/float64(counts[metric]), c.Now/float64(counts[metric])
		c.Difference = c.Now - c.Before
		changes[metric] = c
	}
	return changes, paired
}
