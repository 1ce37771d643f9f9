package app

import (
	"cmp"
	"log/slog"
	"slices"
	"time"

	"docent/shared/answer"
	"docent/shared/httpapi"
	"docent/shared/llm"
	"docent/shared/pending"
	"docent/shared/queue"
)

// namespace holds Docent's metrics in CloudWatch.
const namespace = "Docent"

// metric is a number of a log line. Its value is a number or, for several
// values at once, a list of at most 100 numbers.
type metric struct {
	Name  string
	Unit  string
	value any
}

// dimension distinguishes metrics of the same name. CloudWatch charges for each value, so ids
// of teams, keys or documents are never used.
type dimension struct{ name, value string }

// embedded returns the attributes by which CloudWatch reads metrics from a JSON log line
// (embedded metric format). Each metric is stored twice: by all dimensions, and by the
// first two, service and function.
func embedded(at time.Time, dimensions []dimension, metrics ...metric) []slog.Attr {
	var names []string
	var attributes []slog.Attr
	for _, d := range dimensions {
		names = append(names, d.name)
		attributes = append(attributes, slog.String(d.name, d.value))
	}
	for _, m := range metrics {
		attributes = append(attributes, slog.Any(m.Name, m.value))
	}
	sets := [][]string{names}
	if len(names) > 2 {
		sets = append(sets, names[:2])
	}
	return append(attributes, slog.Any("_aws", map[string]any{
		"Timestamp":         at.UnixMilli(),
		"CloudWatchMetrics": []any{map[string]any{"Namespace": namespace, "Dimensions": sets, "Metrics": metrics}},
	}))
}

// served returns the metrics of one request.
func (f *functions) served(function string) func(httpapi.Served) []slog.Attr {
	return func(s httpapi.Served) []slog.Attr {
		return embedded(s.Arrived, []dimension{{"service", f.service}, {"function", function},
			{"operation", cmp.Or(s.Route, "none")}, {"outcome", cmp.Or(s.Code, "ok")}},
			metric{"Requests", "Count", 1}, metric{"Latency", "Milliseconds", milliseconds(s.Took)})
	}
}

// delivered returns the metrics of one batch that began at begun.
func (f *functions) delivered(function string, begun time.Time, batch []queue.Message, failed int) []slog.Attr {
	metrics := []metric{{"Messages", "Count", len(batch)}, {"FailedMessages", "Count", failed},
		{"BatchTime", "Milliseconds", milliseconds(f.now().Sub(begun))}}
	var ages []float64
	for _, m := range batch {
		if w, err := pending.Decode(m.Body); err == nil && w.Kind != pending.RebuildIndex { // which takes hours, in turns
			ages = append(ages, seconds(begun.Sub(w.Since())))
		}
	}
	if len(ages) > 0 {
		metrics = append(metrics, metric{"QueueAge", "Seconds", slices.Max(ages)})
	}
	return embedded(begun, []dimension{{"service", f.service}, {"function", function}}, metrics...)
}

// ended returns the metrics of one finished question.
func (f *functions) ended(a answer.Answer) []slog.Attr {
	metrics := []metric{{"Answers", "Count", 1}, {"AnswerTime", "Seconds", seconds(f.now().Sub(a.AskedAt))}}
	var model []slog.Attr
	if a.Model != nil {
		model = []slog.Attr{slog.String("model", a.Model.Outcome)}
		failures := 0
		if slices.Contains(modelFailures, llm.Outcome(a.Model.Outcome)) {
			failures = 1
		}
		metrics = append(metrics, metric{"InputTokens", "Count", a.Model.InputTokens}, metric{"OutputTokens", "Count", a.Model.OutputTokens},
			metric{"ModelFailures", "Count", failures})
	}
	return append(model, embedded(f.now(), []dimension{{"service", f.service}, {"function", "answering"}, {"state", string(a.State)}}, metrics...)...)
}

// modelFailures are the outcomes caused by the model's server.
var modelFailures = []llm.Outcome{llm.Throttled, llm.OutOfTime, llm.Errored}

// swept returns the metrics of one sweep.
func (f *functions) swept(begun time.Time, r pending.Result, failed bool) []slog.Attr {
	failures := 0
	if failed {
		failures = 1
	}
	metrics := []metric{{"SentAgain", "Count", r.Sent}, {"GivenUp", "Count", r.GivenUp},
		{"OldestPending", "Seconds", seconds(r.Oldest)}, {"FailedSweeps", "Count", failures}}
	if r.Left > 0 { // a metric is charged only for hours in which it is written
		metrics = append(metrics, metric{"DocumentsToRebuild", "Count", r.Left})
	}
	return embedded(begun, []dimension{{"service", f.service}, {"function", "sweeping"}}, metrics...)
}

func milliseconds(d time.Duration) float64 { return float64(max(d, 0).Microseconds()) / 1000 }

func seconds(d time.Duration) float64 { return float64(max(d, 0).Milliseconds()) / 1000 }
