package app

import (
	"cmp"
	"log/slog"
	"maps"
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

// metric is a number of a log line that CloudWatch keeps as a metric. Each costs money in every hour in which it is written:
// what AWS's own metrics of functions and queues say is a field only. Its value is a number or, for several values at
// once, a list of at most 100 numbers.
type metric struct {
	Name  string
	Unit  string
	value any
}

// fields are numbers of a log line that CloudWatch does not keep as metrics.
type fields map[string]any

// dimension distinguishes metrics of the same name. CloudWatch charges for each value, so ids
// of teams, keys or documents are never used.
type dimension struct{ name, value string }

// embedded returns the attributes by which CloudWatch reads metrics from a JSON log line
// (embedded metric format), by all dimensions.
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
	return append(attributes, slog.Any("_aws", map[string]any{
		"Timestamp":         at.UnixMilli(),
		"CloudWatchMetrics": []any{map[string]any{"Namespace": namespace, "Dimensions": [][]string{names}, "Metrics": metrics}},
	}))
}

// attributes returns the fields in the order of their names.
func (f fields) attributes() (all []slog.Attr) {
	for _, name := range slices.Sorted(maps.Keys(f)) {
		all = append(all, slog.Any(name, f[name]))
	}
	return all
}

// maybeSlow are the routes outside of answers that may take many seconds while nothing is wrong: a model writes the reply, another's server
// is asked for it, or the request has hundreds of operations.
var maybeSlow = []string{
	"POST /context/research", "POST /mcp", // a model
	"POST /context/get",                                        // a page of the web
	"POST /data-sources", "PATCH /data-sources/{dataSourceId}", // the provider, which tries the settings
	"PUT /team/saml-metadata/url", "PUT /team/openid-provider", "GET /sso/{teamId}", "GET /sso/{teamId}/callback", // the identity provider
	"POST /oauth/consent", "POST /oauth/decision", // the description of a program
	"POST /data-sources/{dataSourceId}/items", "POST /scim/v2/Bulk", // many operations
}

// served returns the fields of one request, and its latency as a metric of the installation. The latency of answers is left
// out, because a client may ask to wait for up to 20 seconds, and so is that of what else may be slow.
func (f *functions) served(function string) func(httpapi.Served) []slog.Attr {
	return func(s httpapi.Served) []slog.Attr {
		line := fields{"function": function, "operation": cmp.Or(s.Route, "none"), "outcome": cmp.Or(s.Code, "ok")}
		if function == "answers" || slices.Contains(maybeSlow, s.Route) {
			line["Latency"] = milliseconds(s.Took)
			return f.line(s.Arrived, line)
		}
		return f.line(s.Arrived, line, metric{"Latency", "Milliseconds", milliseconds(s.Took)})
	}
}

// delivered returns the fields of one batch that began at begun.
func (f *functions) delivered(function string, begun time.Time, batch []queue.Message, failed int) []slog.Attr {
	line := fields{"function": function, "Messages": len(batch), "FailedMessages": failed, "BatchTime": milliseconds(f.now().Sub(begun))}
	var ages []float64
	for _, m := range batch {
		if w, err := pending.Decode(m.Body); err == nil && w.Kind != pending.RebuildIndex { // which takes hours, in turns
			ages = append(ages, seconds(begun.Sub(w.Since())))
		}
	}
	if len(ages) > 0 {
		line["QueueAge"] = slices.Max(ages)
	}
	return f.line(begun, line)
}

// line returns the attributes of the line of one request or batch: its fields, and metrics of the whole installation, with that of the
// embedding model if it was called.
func (f *functions) line(at time.Time, line fields, metrics ...metric) []slog.Attr {
	if metrics = append(metrics, f.embedding.metrics()...); len(metrics) == 0 {
		line["service"] = f.service
		return line.attributes()
	}
	return append(line.attributes(), embedded(at, []dimension{{"service", f.service}}, metrics...)...)
}

// metrics returns the part of the calls since the last one that failed, as a metric, or nothing if there were no calls.
func (c *embeddingCalls) metrics() []metric {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	all, failed := c.all, c.failed
	c.all, c.failed = 0, 0
	if all == 0 {
		return nil
	}
	return []metric{{"EmbeddingFailures", "None", float64(failed) / float64(all)}}
}

// ended returns the fields and metrics of one finished question.
func (f *functions) ended(a answer.Answer) []slog.Attr {
	line := fields{"state": string(a.State)}
	metrics := []metric{{"AnswerTime", "Seconds", seconds(f.now().Sub(a.AskedAt))}}
	if a.Model != nil {
		line["model"] = a.Model.Outcome
		failures := 0
		if slices.Contains(modelFailures, llm.Outcome(a.Model.Outcome)) {
			failures = 1
		}
		metrics = append(metrics, metric{"InputTokens", "Count", a.Model.InputTokens}, metric{"OutputTokens", "Count", a.Model.OutputTokens},
			metric{"ModelFailures", "Count", failures})
	}
	return append(line.attributes(), embedded(f.now(), []dimension{{"service", f.service}, {"function", "answering"}}, metrics...)...)
}

// modelFailures are the outcomes caused by the model's server.
var modelFailures = []llm.Outcome{llm.Throttled, llm.OutOfTime, llm.Errored}

// swept returns the fields and metrics of one sweep.
func (f *functions) swept(begun time.Time, r pending.Result, failed bool) []slog.Attr {
	failures := 0
	if failed {
		failures = 1
	}
	line := fields{"SentAgain": r.Sent, "GivenUp": r.GivenUp, "FailedSweeps": failures}
	metrics := []metric{{"OldestPending", "Seconds", seconds(r.Oldest)}}
	if r.Left > 0 { // a metric is charged only for hours in which it is written
		metrics = append(metrics, metric{"DocumentsToRebuild", "Count", r.Left})
	}
	return append(line.attributes(), embedded(begun, []dimension{{"service", f.service}, {"function", "sweeping"}}, metrics...)...)
}

func milliseconds(d time.Duration) float64 { return float64(max(d, 0).Microseconds()) / 1000 }

func seconds(d time.Duration) float64 { return float64(max(d, 0).Milliseconds()) / 1000 }
