package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strconv"
	"strings"
	"testing"
)

func TestAlarmsAreExplained(t *testing.T) {
	t.Parallel()
	guide, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	plain(t).each(t, "AWS::CloudWatch::Alarm", func(t *testing.T, name string, r resource) {
		about, _ := r.at("AlarmDescription").(string)
		_, topic, _ := strings.Cut(about, "alarms, ")
		topic = strings.TrimSuffix(topic, ".")
		for _, f := range functions { // the README explains those of functions together
			if rest, ok := strings.CutPrefix(topic, *id(f.name)); ok && (rest == "Errors" || rest == "Throttles" || rest == "Duration") {
				topic = "…" + rest
			}
		}
		if rest, ok := strings.CutPrefix(topic, "Throttled"); ok && rest != "" {
			topic = "Throttled…"
		}
		for _, queue := range []string{"Questions", "Documents", "Syncs", "Rebuilds", "Embeddings"} {
			if rest, ok := strings.CutPrefix(topic, queue); ok && (rest == "Age" || rest == "DeadLetters") {
				topic = "…" + rest
			}
		}
		if !strings.Contains(string(guide), "`"+topic+"`") {
			t.Errorf("%s: README.md does not explain `%s`", name, topic)
		}
	})
}

// TestAlarmsWatchWhatIsWritten compares the metrics of Docent that alarms and the dashboard use with those in its
// log lines.
func TestAlarmsWatchWhatIsWritten(t *testing.T) {
	t.Parallel()
	written := map[string]bool{refusedKeys: true}
	file, err := parser.ParseFile(token.NewFileSet(), "../shared/app/metrics.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
			if text, err := strconv.Unquote(l.Value); err == nil {
				written[text] = true
			}
		}
		return true
	})
	if !written[namespace] {
		t.Errorf("nothing is written to the namespace %s", namespace)
	}
	watched := 0
	see := func(name string, v any) {
		m := resource{Properties: v.(map[string]any)}
		if m.at("Namespace") != namespace {
			return
		}
		watched++
		if metric, _ := m.at("MetricName").(string); !written[metric] {
			t.Errorf("%s watches %s, which nothing writes", name, metric)
		}
	}
	for _, m := range []template{whole(t), compatible(t)} {
		m.each(t, "AWS::CloudWatch::Alarm", func(_ *testing.T, name string, r resource) {
			see(name, r.Properties)
			for _, m := range list(r.at("Metrics")) {
				if stat := (resource{Properties: m.(map[string]any)}).at("MetricStat", "Metric"); stat != nil {
					see(name, stat)
				}
			}
		})
	}
	if watched < 5 {
		t.Errorf("%d metrics of Docent are watched", watched)
	}
}

func TestAlarmsTellTheAddressThatIsGiven(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		m     template
		tells string
	}{{plain(t), ""}, {whole(t), "${Alarms}"}} {
		c.m.each(t, "AWS::CloudWatch::Alarm", func(t *testing.T, name string, r resource) {
			if got := words(list(r.at("AlarmActions"))); got != c.tells {
				t.Errorf("%s tells %q, want %q", name, got, c.tells)
			}
		})
	}
	if n := len(plain(t).of("AWS::SNS::Topic")); n != 0 {
		t.Errorf("%d topics without an address", n)
	}
	whole(t).each(t, "AWS::SNS::Subscription", func(t *testing.T, name string, r resource) {
		if r.at("Protocol") != "email" || r.at("Endpoint") != "ops@example.com" {
			t.Errorf("%s: %v", name, r.Properties)
		}
	})
}

func TestEveryDeadLetterQueueHasAnAlarm(t *testing.T) {
	t.Parallel()
	watched := map[string]bool{}
	m := plain(t)
	m.each(t, "AWS::CloudWatch::Alarm", func(_ *testing.T, _ string, r resource) {
		for _, d := range list(r.at("Dimensions")) {
			if d := d.(map[string]any); d["Name"] == "QueueName" && r.at("MetricName") == "ApproximateNumberOfMessagesVisible" && r.at("Threshold") == 0.0 {
				watched[target(d["Value"])] = true
			}
		}
	})
	for name := range m.of("AWS::SQS::Queue") {
		if strings.HasSuffix(name, "DeadLetters") && !watched[name] {
			t.Errorf("no alarm watches the dead letters of %s", name)
		}
	}
}

// TestTheGuideCountsWhatAlarmsCost checks that the README counts the cost of each metric that an alarm watches.
func TestTheGuideCountsWhatAlarmsCost(t *testing.T) {
	t.Parallel()
	guide, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	watched := 0
	plain(t).each(t, "AWS::CloudWatch::Alarm", func(_ *testing.T, _ string, r resource) {
		of := 0
		for _, m := range list(r.at("Metrics")) {
			if (resource{Properties: m.(map[string]any)}).at("MetricStat") != nil {
				of++
			}
		}
		watched += max(of, 1)
	})
	row := fmt.Sprintf("| alarms: %d metrics at 0.10 (`-c alarms=false`: 0) | %.2f |", watched, 0.1*float64(watched))
	if !strings.Contains(string(guide), row) {
		t.Errorf("README.md has no row %q", row)
	}
}
