package search_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"docent/shared/search"
)

// plainScores ranks short documents by the formulas of the README, written as
// plainly as possible, from the terms alone.
func plainScores(docs []search.Document, question string, k1, b, weight, missing, named, titled float64) map[uuid.UUID]float64 {
	terms := func(text string) (kept []string) {
		for _, t := range search.Terms(docs[0].Space, text) {
			if t != "" {
				kept = append(kept, t)
			}
		}
		return kept
	}
	n, total := float64(len(docs)), 0.0
	df := map[string]float64{}
	frequency := make([]map[string]float64, len(docs))
	length := make([]float64, len(docs))
	for i, d := range docs {
		frequency[i] = map[string]float64{}
		for _, t := range append(terms(d.Title), append(terms(d.Title), terms(d.Body)...)...) {
			frequency[i][t]++
			length[i]++
		}
		for t := range frequency[i] {
			df[t]++
		}
		total += length[i]
	}
	idf := func(t string) float64 { return math.Log(1 + (n-df[t]+0.5)/(df[t]+0.5)) }
	asked := terms(question)
	scores := map[uuid.UUID]float64{}
	for i, d := range docs {
		norm := k1 * (1 - b + b*length[i]/max(total/n, 1))
		score := 0.0
		for _, t := range asked {
			score += idf(t) * (k1 + 1) * frequency[i][t] / (frequency[i][t] + norm)
		}
		if score == 0 {
			continue
		}
		text := append(search.Terms(d.Space, d.Title), search.Terms(d.Space, d.Body)...)
		for j := 1; j < len(asked); j++ {
			x, y := asked[j-1], asked[j]
			if x == y || df[x] == 0 || df[y] == 0 {
				continue
			}
			var o, u float64
			for p, s := range text {
				for q, t := range text {
					if s == x && t == y && q-p >= -7 && q-p <= 7 {
						u++
						if q-p == 1 || q-p == 2 {
							o++
						}
					}
				}
			}
			score += weight * (k1 + 1) * (idf(x) + idf(y)) / 2 * (0.67*o/(o+norm) + 0.33*u/(u+norm))
		}
		sum, covered := 0.0, 0.0
		for i, t := range asked {
			if slices.Contains(asked[:i], t) {
				continue
			}
			sum += idf(t)
			if slices.Contains(text, t) {
				covered += idf(t)
			}
			if slices.Contains(search.Terms(d.Space, d.Title), t) {
				score += named * (k1 + 1) * idf(t)
			}
			f, title := 0.0, terms(d.Title)
			for _, u := range title {
				if u == t {
					f++
				}
			}
			if f > 0 {
				score += titled * (k1 + 1) * idf(t) * f / (f + k1*(1-b+b*float64(len(title))/6))
			}
		}
		scores[d.ID] = score * (1 - missing*(1-covered/sum))
	}
	return scores
}

func TestScoresFollowTheFormulas(t *testing.T) {
	t.Parallel()
	words := strings.Fields("zebra lion grass water stone runTime parse north south the of")
	text := rapid.Custom(func(rt *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 1, 30).Draw(rt, "words"), " ")
	})
	cases := []struct {
		name                                  string
		space                                 search.Space
		k1, b, weight, missing, named, titled float64
	}{
		{"prose", search.Messages, 0.9, 0.4, 0.5, 0.2, 0.1, 0},
		{"code", search.Issues, 1.2, 0.75, 0.25, 0, 0, 0.25},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(rt *rapid.T) {
				docs := make([]search.Document, rapid.IntRange(1, 30).Draw(rt, "documents"))
				for i := range docs {
					docs[i] = search.Document{ID: uuid.UUID{byte(i)}, Space: c.space, Body: text.Draw(rt, "body"),
						Title: text.Draw(rt, "title")}
				}
				question := text.Draw(rt, "question")
				want := plainScores(docs, question, c.k1, c.b, c.weight, c.missing, c.named, c.titled)
				runs, _, err := search.RankAll(c.space, docs, []string{question}, 1000, 1000)
				if err != nil {
					rt.Fatal(err)
				}
				if len(runs[0]) != len(want) {
					rt.Fatalf("%d documents, want %d", len(runs[0]), len(want))
				}
				for _, r := range runs[0] {
					if math.Abs(r.Score-want[r.Document]) > 1e-4*(1+r.Score) {
						rt.Fatalf("document %v scores %f, want %f", r.Document[0], r.Score, want[r.Document])
					}
				}
			})
		})
	}
}

func TestBestKeepsTheBest(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		docs := make([]search.Document, rapid.IntRange(1, 60).Draw(rt, "documents"))
		for i := range docs {
			docs[i] = search.Document{ID: uuid.UUID{byte(rapid.IntRange(0, 255).Draw(rt, "id")), byte(i)}, Space: search.Documentation,
				Body: strings.Repeat("zebra ", rapid.IntRange(0, 3).Draw(rt, "zebras")) + "lion"}
		}
		depth := rapid.IntRange(1, 70).Draw(rt, "depth")
		all, _, err := search.RankAll(search.Documentation, docs, []string{"zebra"}, 1000, 0)
		if err != nil {
			rt.Fatal(err)
		}
		some, _, err := search.RankAll(search.Documentation, docs, []string{"zebra"}, depth, 0)
		if err != nil {
			rt.Fatal(err)
		}
		if len(some[0]) != min(depth, len(all[0])) {
			rt.Fatalf("%d of %d to a depth of %d", len(some[0]), len(all[0]), depth)
		}
		for i, r := range some[0] {
			if r != all[0][i] {
				rt.Fatalf("place %d is %+v, want %+v", i, r, all[0][i])
			}
			if i > 0 && (r.Score > some[0][i-1].Score || r.Score == some[0][i-1].Score && string(r.Document[:]) < string(some[0][i-1].Document[:])) {
				rt.Fatalf("place %d before %d", i-1, i)
			}
		}
	})
}
