package evaluate_test

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"docent/cmd/docent/internal/evaluate"
)

func TestBadLinesAreNamed(t *testing.T) {
	t.Parallel()
	const good = `{"question":"q","expected":"https://x.test/"}` + "\n"
	for name, c := range map[string]struct{ line, want string }{
		"not JSON":          {`{"question":`, "line 3: is not JSON"},
		"two objects":       {`{"question":"q","expected":"a"}{}`, "line 3: is not JSON"},
		"a list":            {`[]`, "line 3: must be an object"},
		"no question":       {`{"expected":"a"}`, "line 3: question is missing"},
		"an empty question": {`{"question":" ","expected":"a"}`, "line 3: question is empty"},
		"a long question":   {`{"question":"` + strings.Repeat("é", 10_001) + `","expected":"a"}`, "line 3: question is longer than 10000 characters"},
		"a number":          {`{"question":7,"expected":"a"}`, "line 3: question is of the wrong type"},
		"nothing expected":  {`{"question":"q"}`, "line 3: expected is missing"},
		"an empty list":     {`{"question":"q","expected":[]}`, "line 3: expected is missing"},
		"an empty URI":      {`{"question":"q","expected":["a",""]}`, "line 3: expected has an empty URI"},
		"an object":         {`{"question":"q","expected":{}}`, "line 3: "},
		"a gold number":     {`{"question":"q","expected":"a","answer":[1]}`, "line 3: "},
		"an empty gold":     {`{"question":"q","expected":"a","answer":""}`, "line 3: answer has an empty text"},
		"no UTF-8":          {"{\"question\":\"\xff\",\"expected\":\"a\"}", "line 3: is not UTF-8"},
		"a long line":       {strings.Repeat(" ", 1<<20) + "x", "line 3: is longer than 1 MiB"},
	} {
		got, err := evaluate.Read(strings.NewReader(good + "\n" + c.line + "\n" + good))
		if err == nil || !strings.HasPrefix(err.Error(), c.want) || got != nil {
			t.Errorf("%s: %v, %v, want %s", name, got, err, c.want)
		}
	}
	if _, err := evaluate.Read(strings.NewReader("\n \n")); err == nil {
		t.Error("a file without questions is read")
	}
}

func TestQuestionsAreRead(t *testing.T) {
	t.Parallel()
	got, err := evaluate.Read(strings.NewReader("\ufeff" + `{"question":"q","expected":"a"}` + "\r\n\n" +
		`{"question":"r","expected":["b","c","b"],"answer":"x","note":1}` + "\n" + `{"question":"s","expected":"a","answer":["x","y"]}`))
	want := []evaluate.Question{{Text: "q", Expected: []string{"a"}, Line: 1}, {Text: "r", Expected: []string{"b", "c"}, Gold: []string{"x"}, Line: 3},
		{Text: "s", Expected: []string{"a"}, Gold: []string{"x", "y"}, Line: 4}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestResultsByHand(t *testing.T) {
	t.Parallel()
	many := make([]string, 12)
	for i := range many {
		many[i] = fmt.Sprint(i)
	}
	for name, c := range map[string]struct {
		expected, found                  []string
		rank                             int
		recall1, recall5, recall10, gain float64
	}{
		"first":            {[]string{"0"}, many, 1, 1, 1, 1, 1},
		"sixth":            {[]string{"5"}, many, 6, 0, 0, 1, 1 / math.Log2(7)},
		"eleventh":         {[]string{"10"}, many, 0, 0, 0, 0, 0},
		"found nothing":    {[]string{"0"}, nil, 0, 0, 0, 0, 0},
		"two of two":       {[]string{"0", "2"}, many, 1, 0.5, 1, 1, (1 + 0.5) / (1 + 1/math.Log2(3))},
		"one of two":       {[]string{"x", "1"}, many, 2, 0, 0.5, 0.5, 1 / math.Log2(3) / (1 + 1/math.Log2(3))},
		"a document twice": {[]string{"b"}, []string{"a", "a", "b"}, 2, 0, 1, 1, 1 / math.Log2(3)},
	} {
		r := evaluate.Judge(evaluate.Question{Expected: c.expected}, c.found)
		for metric, want := range map[string]float64{evaluate.Recall1: c.recall1, evaluate.Recall5: c.recall5, evaluate.Recall10: c.recall10, evaluate.NDCG10: c.gain} {
			if got, ok := r.Values[metric]; !ok || math.Abs(got-want) > 1e-9 || r.Rank != c.rank {
				t.Errorf("%s: %s %v, want %v; rank %d", name, metric, got, want, r.Rank)
			}
		}
	}
}

func TestAnswersAreJudged(t *testing.T) {
	t.Parallel()
	gold := evaluate.Question{Gold: []string{"30 days", "a month"}}
	for name, c := range map[string]struct {
		q             evaluate.Question
		text          string
		sources       int
		answered, has float64 // has -1: not judged
	}{
		"gold across quoted lines": {gold, "> Logs are kept for **30\n> days**.", 1, 1, 1},
		"another wording":          {gold, "Kept A  Month.", 2, 1, 1},
		"wrong":                    {gold, "Kept for a year.", 1, 1, 0},
		"nothing found":            {gold, "Nothing answers how 30 days are counted.", 0, 0, 0},
		"without gold":             {evaluate.Question{}, "Something.", 1, 1, -1},
	} {
		r := evaluate.Judge(c.q, nil)
		r.JudgeAnswer(c.q, c.text, c.sources)
		has, judged := r.Values[evaluate.GoldInAnswer]
		if r.Values[evaluate.Answered] != c.answered || judged != (c.has >= 0) || judged && has != c.has {
			t.Errorf("%s: %v", name, r.Values)
		}
	}
}

func TestReportsAreComparedByQuestion(t *testing.T) {
	t.Parallel()
	result := func(question string, recall float64) evaluate.Result {
		return evaluate.Result{Question: question, Values: map[string]float64{evaluate.Recall1: recall}}
	}
	before := evaluate.Summarize([]evaluate.Result{result("a", 0), result("c", 0), result("gone", 1), result("twice", 0), result("twice", 1)})
	now := evaluate.Summarize([]evaluate.Result{result("new", 1), result("c", 1), result("a", 1), result("twice", 0), result("twice", 0)})
	changes, paired := evaluate.Compare(before, now)
	want := map[string]evaluate.Change{evaluate.Recall1: {Before: 0.25, Now: 0.5, Difference: 0.25, Better: 2, Worse: 1}}
	if paired != 4 || !reflect.DeepEqual(changes, want) {
		t.Errorf("%d questions, %+v", paired, changes)
	}
	if _, paired := evaluate.Compare(evaluate.Summarize(nil), now); paired != 0 {
		t.Errorf("%d questions of an empty report", paired)
	}
}
