package main

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"slices"
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
			if topic == *id(f.name)+"Errors" {
				topic = "…Errors"
			}
		}
		for _, queue := range []string{"Questions", "Documents", "Syncs", "Rebuilds", "Embeddings", "Deliveries", "Extractions"} {
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
			t.Errorf("%s watches %s, which shared/app/metrics.go does not write", name, metric)
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
	if watched < 4 {
		t.Errorf("%d metrics of Docent are watched", watched)
	}
}

// TestFailuresOfAModelAreCountedByDocent checks the alarm of both providers: metrics of Bedrock do not count a call that it throttles.
func TestFailuresOfAModelAreCountedByDocent(t *testing.T) {
	t.Parallel()
	for _, m := range []template{whole(t), compatible(t)} {
		a := m.of("AWS::CloudWatch::Alarm")["AlarmModelErrors"]
		if a.at("Namespace") != namespace || a.at("MetricName") != "ModelFailures" || a.at("Threshold") != 0.05 {
			t.Errorf("%s: %v", m.stack, a.Properties)
		}
	}
}

// TestAnUnreachableEmbeddingModelRaisesAnAlarm checks the alarm of both providers: it rings within an hour, and not for an outage of some minutes.
// A model in the process has none, which would cost.
func TestAnUnreachableEmbeddingModelRaisesAnAlarm(t *testing.T) {
	t.Parallel()
	for _, m := range []template{whole(t), compatible(t)} {
		a := m.of("AWS::CloudWatch::Alarm")["AlarmEmbeddingFailures"]
		for property, want := range map[string]any{"Namespace": namespace, "MetricName": "EmbeddingFailures", "Statistic": "Average", "Threshold": 0.5,
			"Period": 300.0, "EvaluationPeriods": 12.0, "DatapointsToAlarm": 4.0, "TreatMissingData": "ignore"} {
			if got := a.at(property); got != want {
				t.Errorf("%s: %s is %v, want %v", m.stack, property, got, want)
			}
		}
		if len(list(a.at("Dimensions"))) != 1 || a.at("Dimensions", 0, "Value") != m.stack {
			t.Errorf("%s: it watches %v", m.stack, a.at("Dimensions"))
		}
	}
	if _, ok := plain(t).of("AWS::CloudWatch::Alarm")["AlarmEmbeddingFailures"]; ok {
		t.Error("a model in the process has an alarm")
	}
}

func TestAlarmsTellTheAddressThatIsGiven(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		m     template
		tells string
	}{{plain(t), ""}, {whole(t), "${Alarms}, " + topicARN}} {
		c.m.each(t, "AWS::CloudWatch::Alarm", func(t *testing.T, name string, r resource) {
			for _, state := range []string{"AlarmActions", "OKActions"} {
				if got := words(list(r.at(state))); got != c.tells {
					t.Errorf("%s of %s: it tells %q, want %q", state, name, got, c.tells)
				}
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

// watchedMetrics counts the metrics that alarms watch: AWS charges for each.
func watchedMetrics(t *testing.T, m template) int {
	t.Helper()
	watched := 0
	m.each(t, "AWS::CloudWatch::Alarm", func(_ *testing.T, _ string, r resource) {
		of := 0
		for _, m := range list(r.at("Metrics")) {
			if (resource{Properties: m.(map[string]any)}).at("MetricStat") != nil {
				of++
			}
		}
		watched += max(of, 1)
	})
	if len(m.of("AWS::CloudWatch::CompositeAlarm")) > 0 {
		t.Error("a composite alarm costs as much as five metrics and is not counted")
	}
	return watched
}

// TestTheGuideCountsWhatAlarmsCost checks that the README and make cost count each metric that an alarm watches.
func TestTheGuideCountsWhatAlarmsCost(t *testing.T) {
	t.Parallel()
	guide, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	watched := watchedMetrics(t, plain(t))
	row := fmt.Sprintf("| alarms: %d metrics at 0.10 (`-c alarms=false`: 0) | %.2f |", watched, 0.1*float64(watched))
	if !strings.Contains(string(guide), row) {
		t.Errorf("README.md has no row %q", row)
	}
	text, err := os.ReadFile("../scripts/cost/load.json")
	if err != nil {
		t.Fatal(err)
	}
	var load struct {
		Always struct{ Alarms, Queues int }
	}
	if err := json.Unmarshal(text, &load); err != nil || load.Always.Alarms != watched || load.Always.Queues != len(plain(t).of("AWS::SQS::Queue"))/2 {
		t.Errorf("scripts/cost/load.json counts %+v; the stack has %d metrics of alarms (%v)", load.Always, watched, err)
	}
}

// TestTheCostCountsTheMemoryOfFunctions compares scripts/cost/load.json with the stack: a function's time is charged by its memory.
func TestTheCostCountsTheMemoryOfFunctions(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../scripts/cost/load.json")
	if err != nil {
		t.Fatal(err)
	}
	type work struct {
		Operation string
		MemoryMB  int
	}
	var load struct {
		Requests, Workers []work
		Always            struct{ SweepMemoryMB int }
	}
	if err := json.Unmarshal(text, &load); err != nil {
		t.Fatal(err)
	}
	by := map[string]string{"answer": "answers", "collection": "collections", "document": "documents", "documents": "documents", "context/search": "context"}
	if want := specOf("sweeping").memory; load.Always.SweepMemoryMB != want {
		t.Errorf("sweeping is counted with %d MB, and has %d", load.Always.SweepMemoryMB, want)
	}
	for i, w := range slices.Concat(load.Requests, load.Workers) {
		words := strings.Fields(strings.ReplaceAll(w.Operation, ",", ""))
		name := words[0] // of a worker, which is a function
		if i < len(load.Requests) {
			name = by[words[1]]
		}
		if name == "" {
			t.Errorf("which function serves %s?", w.Operation)
		} else if want := specOf(name).memory; w.MemoryMB != want {
			t.Errorf("%s is counted with %d MB; %s has %d", w.Operation, w.MemoryMB, name, want)
		}
	}
}

// TestEveryFailingWorkerRaisesAnAlarm checks that each function is watched: those of the API by the gateway's failures, a worker by
// the age of its messages or by its errors.
func TestEveryFailingWorkerRaisesAnAlarm(t *testing.T) {
	t.Parallel()
	errors := map[string]bool{}
	plain(t).each(t, "AWS::CloudWatch::Alarm", func(_ *testing.T, name string, r resource) {
		if r.at("MetricName") == "Errors" && r.at("Threshold") == 0.0 {
			errors[target(r.at("Dimensions", 0, "Value"))] = true
		}
	})
	for _, f := range functions {
		if want := !f.serves() && !ageIsWatched(f); errors[*id(f.name)] != want {
			t.Errorf("%s has an alarm of its errors: %t, want %t", f.name, errors[*id(f.name)], want)
		}
	}
	for name, want := range map[string]bool{"answering": true, "indexing": true, "delivering": true, "extracting": true, "syncing": false, "embedding": false, "sweeping": false} {
		if ageIsWatched(specOf(name)) != want {
			t.Errorf("the age of the messages of %s is watched: %t", name, !want)
		}
	}
}

// TestDashboardsAreFree counts the metrics of each dashboard: AWS gives an account three dashboards of at most 50.
func TestDashboardsAreFree(t *testing.T) {
	t.Parallel()
	for _, m := range []template{plain(t), whole(t)} {
		boards := m.of("AWS::CloudWatch::Dashboard")
		if len(boards) == 0 || len(boards) > 3 {
			t.Errorf("%d dashboards", len(boards))
		}
		for name, r := range boards {
			var body struct {
				Widgets []struct{ Properties struct{ Metrics []any } }
			}
			text := words(r.at("DashboardBody"))
			if err := json.Unmarshal([]byte(text), &body); err != nil {
				t.Fatalf("%s: %v in %s", name, err, text)
			}
			count := 0
			for _, w := range body.Widgets {
				count += len(w.Properties.Metrics)
			}
			if count == 0 || count > 50 {
				t.Errorf("%s has %d metrics", name, count)
			}
			t.Log(name, count)
		}
	}
}

// TestWithoutMetricsNothingRingsForEver checks the alarm on missing metrics, in a stack whose log level omits them.
func TestWithoutMetricsNothingRingsForEver(t *testing.T) {
	t.Parallel()
	for want, m := range map[string]template{"breaching": plain(t), "notBreaching": careful(t)} {
		if got := m.of("AWS::CloudWatch::Alarm")["AlarmPending"].at("TreatMissingData"); got != want {
			t.Errorf("missing data is %v, want %s", got, want)
		}
	}
}
