package search_test

import (
	"slices"
	"sort"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"docent/shared/search"
)

// evalIndex is an index of one labelled set, in one segment.
func evalIndex(t testing.TB, set evalSet, source string) *search.Index {
	t.Helper()
	x, lib, _ := newIndex(t)
	lib.sources = []string{source}
	publish(t, x, lib, set.docs...)
	return x
}

// quotedPieces are the blocks that an answer quotes, in order, without bold.
func quotedPieces(markdown string) []string {
	var pieces []string
	open := false
	for line := range strings.SplitSeq(markdown, "\n") {
		text, quoted := strings.CutPrefix(line, ">")
		if quoted && !open {
			pieces = append(pieces, "")
		}
		if open = quoted; quoted {
			pieces[len(pieces)-1] += strings.TrimPrefix(text, " ") + "\n"
		}
	}
	for i, p := range pieces {
		pieces[i] = strings.TrimSpace(strings.ReplaceAll(p, "**", ""))
	}
	return pieces
}

func fold(s string) string {
	s = strings.NewReplacer(`\<`, "<", `\\`, `\`, "&#96;", "`").Replace(s)
	return strings.Join(strings.Fields(strings.ToLower(s)), " ")
}

func TestGoldAnswersAreQuoted(t *testing.T) {
	t.Parallel()
	set := openEval(t, "squad", search.Documentation)
	x := evalIndex(t, set, "squad")
	var asked, found, first, three, firstChars, allChars, firstFive, bold int
	for _, q := range set.qa {
		if q.Impossible {
			continue
		}
		asked++
		r, err := x.Search(t.Context(), team, search.Query{Text: q.Text})
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range r.Hits[:min(5, len(r.Hits))] {
			if set.name[h.Document] == q.Doc {
				firstFive++
			}
		}
		if r.Found() {
			found++
		}
		r.Passages = 1 // the lowest threshold: what is quoted is measured apart from whether
		answer := search.Quote(q.Text, r).Markdown
		pieces := quotedPieces(answer)
		holds := func(p string) bool {
			return slices.ContainsFunc(q.Answers, func(a string) bool { return strings.Contains(fold(p), fold(a)) })
		}
		if len(pieces) > 0 && holds(pieces[0]) {
			first++
		}
		if slices.ContainsFunc(pieces, holds) {
			three++
		}
		if parts := strings.Split(answer, "**"); len(parts) > 4 && holds(parts[3]) {
			bold++
		}
		for i, p := range pieces {
			n := utf8.RuneCountInString(p)
			allChars += n
			if i == 0 {
				firstChars += n
			}
		}
	}
	n := float64(asked)
	t.Logf("paragraph among five %.4f, gold answer in the first block %.4f, in all %.4f, in bold %.4f; %.0f and %.0f characters; %.3f answered",
		float64(firstFive)/n, float64(first)/n, float64(three)/n, float64(bold)/n, float64(firstChars)/n, float64(allChars)/n, float64(found)/n)
	if float64(firstFive)/n < 0.94 || float64(first)/n < 0.85 || float64(three)/n < 0.93 {
		t.Error("below the floors 0.94, 0.85, 0.93")
	}
}

func TestMissingKnowledgeIsSeen(t *testing.T) {
	t.Parallel()
	set := openEval(t, "squad", search.Documentation)
	var questions []string
	for _, q := range set.qa {
		questions = append(questions, q.Text)
	}
	runs, _, err := search.RankAll(search.Documentation, set.docs, questions, 200, 50)
	if err != nil {
		t.Fatal(err)
	}
	best := func(run []search.Ranked, without string) float64 {
		top := 0.0
		for _, r := range run {
			if without == "" || set.group[set.name[r.Document]] != without {
				top = max(top, r.Normalised)
			}
		}
		return top
	}
	var answerable, missing, impossible []float64
	for i, q := range set.qa {
		if q.Impossible {
			impossible = append(impossible, best(runs[i], ""))
			continue
		}
		answerable = append(answerable, best(runs[i], ""))
		missing = append(missing, best(runs[i], set.group[q.Doc]))
	}
	share := func(signals []float64) float64 {
		n := 0
		for _, s := range signals {
			if s >= search.Threshold(len(set.docs)) {
				n++
			}
		}
		return float64(n) / float64(len(signals))
	}
	knowledge, fact := auroc(answerable, missing), auroc(answerable, impossible)
	t.Logf("AUROC knowledge missing %.4f, fact missing %.4f; answered: %.3f of answerable, %.3f of missing, %.3f of impossible",
		knowledge, fact, share(answerable), share(missing), share(impossible))
	if knowledge < 0.945 || share(answerable) < 0.85 || share(missing) > 0.12 {
		t.Error("below the floors: AUROC 0.945, 0.85 answered, at most 0.12 unfounded")
	}
}

// auroc is the chance that a positive has the higher signal, ties one half.
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

func BenchmarkSearch(b *testing.B) {
	set := openEval(b, "squad", search.Documentation)
	x := evalIndex(b, set, "squad")
	var took []time.Duration
	i := 0
	for b.Loop() {
		start := time.Now()
		if _, err := x.Search(b.Context(), team, search.Query{Text: set.queries[i%len(set.queries)].Text}); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(start))
		i++
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
}
