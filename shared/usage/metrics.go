package usage

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Metrics has the sums of the counts. JSON omits zero values.
type Metrics struct {
	Requests         int64  `json:"requests,omitempty" doc:"Calls: the sum of ok, refused and error."`
	OK               int64  `json:"ok,omitempty"`
	Refused          int64  `json:"refused,omitempty" doc:"Calls answered with 4xx."`
	Error            int64  `json:"error,omitempty" doc:"Calls answered with 5xx."`
	Accepted         int64  `json:"accepted,omitempty" doc:"Questions accepted."`
	Replayed         int64  `json:"replayed,omitempty" doc:"Repeats of accepted questions."`
	Rejected         int64  `json:"rejected,omitempty" doc:"Questions beyond the day's quota."`
	Polled           int64  `json:"polled,omitempty" doc:"Reads of answers."`
	Completed        int64  `json:"completed,omitempty" doc:"Questions answered."`
	Failed           int64  `json:"failed,omitempty" doc:"Questions that could not be answered."`
	NoAnswer         int64  `json:"noAnswer,omitempty" doc:"Questions whose answer says that nothing was found."`
	Created          int64  `json:"created,omitempty"`
	Replaced         int64  `json:"replaced,omitempty"`
	Unchanged        int64  `json:"unchanged,omitempty"`
	Deleted          int64  `json:"deleted,omitempty"`
	Empty            int64  `json:"empty,omitempty" doc:"Context calls that found nothing."`
	Bytes            int64  `json:"bytes,omitempty"`
	References       int64  `json:"references,omitempty" doc:"References in answers."`
	Sources          int64  `json:"sources,omitempty" doc:"Sources in the results of context calls."`
	InputTokens      int64  `json:"inputTokens,omitempty" doc:"Tokens of the model that writes answers, as its server counts them."`
	OutputTokens     int64  `json:"outputTokens,omitempty"`
	EstimatedCostUSD string `json:"estimatedCostUsd,omitempty" doc:"A decimal number."`
	LatencyMsP50     int64  `json:"latencyMsP50,omitempty" doc:"The latency of calls; for answers, from the question to the end of the answer."`
	LatencyMsP95     int64  `json:"latencyMsP95,omitempty"`
}

// names returns the names and fields of the sums, in the same order.
func (m *Metrics) names() ([]string, []*int64) {
	return []string{OK, Refused, Error, Accepted, Replayed, Rejected, Polled, Completed, Failed, NoAnswer,
			Created, Replaced, Unchanged, Deleted, Empty, Bytes, References, Sources, InputTokens, OutputTokens},
		[]*int64{&m.OK, &m.Refused, &m.Error, &m.Accepted, &m.Replayed, &m.Rejected, &m.Polled, &m.Completed, &m.Failed, &m.NoAnswer,
			&m.Created, &m.Replaced, &m.Unchanged, &m.Deleted, &m.Empty, &m.Bytes, &m.References, &m.Sources, &m.InputTokens, &m.OutputTokens}
}

// sum adds up rows.
type sum struct {
	numbers map[string]int64
	latency [buckets]int64
	users   map[string]bool
}

func newSum() *sum { return &sum{numbers: map[string]int64{}, users: map[string]bool{}} }

// add adds a row. For answers it adds the latency of the whole question, otherwise the latency
// of the request.
func (s *sum) add(r row) {
	prefix := "l"
	if r.feature == Answers {
		prefix = "e"
	}
	for name, n := range r.numbers {
		if bucket, ok := strings.CutPrefix(name, prefix); ok {
			if i, err := strconv.Atoi(bucket); err == nil {
				if i >= 0 && i < buckets {
					s.latency[i] += n
				}
				continue
			}
		}
		s.numbers[name] += n
	}
	if r.user != "" {
		s.users[r.user] = true
	}
}

func (s *sum) metrics() Metrics {
	var m Metrics
	names, values := m.names()
	for i, name := range names {
		*values[i] = s.numbers[name]
	}
	m.Requests = m.OK + m.Refused + m.Error
	if micro := s.numbers[CostMicroUSD]; micro != 0 {
		m.EstimatedCostUSD = dollars(micro)
	}
	m.LatencyMsP50, m.LatencyMsP95 = s.percentile(0.50), s.percentile(0.95)
	return m
}

// dollars formats millionths of a dollar without trailing zeros.
func dollars(micro int64) string {
	text := fmt.Sprintf("%d.%06d", micro/1e6, micro%1e6)
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}

// percentile returns the latency below which the share p of the calls is, interpolated within
// its bucket; 0 without calls.
func (s *sum) percentile(p float64) int64 {
	var total int64
	for _, n := range s.latency {
		total += n
	}
	if total == 0 {
		return 0
	}
	rank := p * float64(total)
	below := 0.0
	for i, n := range s.latency {
		if n > 0 && below+float64(n) >= rank {
			low := math.Exp2(float64(i))
			return int64(math.Round(low + low*(rank-below)/float64(n)))
		}
		below += float64(n)
	}
	return int64(math.Exp2(buckets))
}
