package question_test

import (
	"slices"
	"testing"

	"docent/shared/source/question"
)

func TestParts(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"How do I roll back?":                              {"How do I roll back?"},
		"How do I roll back? Who approves it?":             {"How do I roll back?", "Who approves it?"},
		"How do I roll back; what breaks":                  {"How do I roll back", "what breaks"},
		"How do I roll back and who approves the release?": {"How do I roll back", "who approves the release?"},
		"salt and pepper":                                  {"salt and pepper"},
		"What is the difference between REST and gRPC?":    {"REST", "gRPC"},
		"Kafka vs. SQS":                                    {"Kafka", "SQS"},
		"How do I roll back? Why?":                         {"How do I roll back? Why?"},
		"alpha? beta? gamma? delta? epsilon? zeta?":        {"alpha?", "beta?", "gamma?", "delta? epsilon? zeta?"},
		"the difference between the and a":                 {"the difference between the and a"},
		"":                                                 nil,
		"???":                                              {"???"},
		"What does `a?b` mean? What is at https://x.example/?q=1;r=2?": {"What does `a?b` mean?", "What is at https://x.example/?q=1;r=2?"},
		"泵怎么启动？最高温度是多少？":                                               {"泵怎么启动？", "最高温度是多少？"},
		"كيف أشغل المضخة؟ ما هو الجهد؟":                                {"كيف أشغل المضخة؟", "ما هو الجهد؟"},
		"where is the config or how can I find the deployment logs?":   {"where is the config", "how can I find the deployment logs?"},
	} {
		if got := question.Parts(text); !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func FuzzParts(f *testing.F) {
	f.Add("How do I roll back? Who approves it; X vs Y")
	f.Fuzz(func(t *testing.T, text string) {
		if got := question.Parts(text); len(got) > 4 {
			t.Errorf("%d parts", len(got))
		}
	})
}
