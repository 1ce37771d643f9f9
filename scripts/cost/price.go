package main

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// prices are the prices of one region at one time.
type prices struct {
	Region, AsOf, Currency, Note string
	PerMillion                   struct {
		GatewayRequests, FunctionRequests, ReadUnits, WriteUnits, MessageRequests, ObjectReads, ObjectWrites, Traces float64
	}
	PerGigabyte                                               struct{ TableMonth, RecoveryMonth, ObjectMonth, Logs, Transfer float64 }
	TitanMillionTokens                                        float64 // of Titan Text Embeddings V2 on Amazon Bedrock
	FunctionGigabyteSecond, KeyMonth, AlarmMonth, MetricMonth float64
}

// work is an operation and how often it happens in a month; the other fields are per operation.
type work struct {
	Operation    string
	Count        float64
	MemoryMB     float64
	Messages     float64 // that it sends, or receives and deletes
	ObjectReads  float64
	ObjectWrites float64
}

// load is the load of a month.
type load struct {
	About    string
	Requests []work // through the gateway
	Workers  []work
	Assumed  struct {
		UsageUnitsARequest      float64 // write units of counting a call
		MillisecondsARoundTrip  float64
		MillisecondsOfComputing float64
		TableGigabytes          float64
		ObjectGigabytes         float64
		LogBytesARequest        float64
		ReplyBytesARequest      float64
		TracedPart              float64
		Metrics                 float64 // that Docent's requests and workers write
	}
	// Embedding is what search by meaning takes: processor time of a function with the model in its process, and
	// the tokens that a service charges.
	Embedding struct {
		ProcessorMillisecondsAPassage, ProcessorMillisecondsAQuestion, TokensAPassage, TokensAQuestion float64
	}
	// Always is what an unused installation does.
	Always struct {
		Sweeps, SweepMemoryMB, SweepMilliseconds, SweepReadUnits float64
		QueuePolls                                               float64 // of all queues, by their event source mappings
		Alarms, Metrics                                          float64 // metrics that alarms watch, and metrics that sweeping writes
	}
}

// line is a line of the bill.
type line struct {
	what, how string
	dollars   float64
}

// price calculates the bill of l.
func price(l load, p prices, counted map[string]operationCost) ([]line, error) {
	var requests, invocations, seconds, reads, writes, messages, gets, puts float64
	add := func(w work, viaGateway bool) error {
		c, ok := counted[w.Operation]
		if !ok {
			return fmt.Errorf("nothing is counted of %q", w.Operation)
		}
		invocations += w.Count
		seconds += w.Count * w.MemoryMB / 1024 * (float64(c.RoundTrips)*l.Assumed.MillisecondsARoundTrip + l.Assumed.MillisecondsOfComputing) / 1000
		reads += w.Count * c.ReadUnits
		writes += w.Count * c.WriteUnits
		messages += w.Count * w.Messages
		gets += w.Count * w.ObjectReads
		puts += w.Count * w.ObjectWrites
		if viaGateway {
			requests += w.Count
			writes += w.Count * l.Assumed.UsageUnitsARequest
		}
		return nil
	}
	for _, w := range l.Requests {
		if err := add(w, true); err != nil {
			return nil, err
		}
	}
	for _, w := range l.Workers {
		if err := add(w, false); err != nil {
			return nil, err
		}
	}
	a := l.Always
	invocations += a.Sweeps
	seconds += a.Sweeps * a.SweepMemoryMB / 1024 * a.SweepMilliseconds / 1000
	reads += a.Sweeps * a.SweepReadUnits
	messages += a.QueuePolls
	metrics := a.Metrics
	if requests > 0 { // a metric is charged for the hours in which it is written
		metrics += l.Assumed.Metrics
	}
	logs := (invocations * l.Assumed.LogBytesARequest) / 1e9
	replies := requests * l.Assumed.ReplyBytesARequest / 1e9
	million := func(n, price float64) float64 { return n / 1e6 * price }
	tables, objects := l.Assumed.TableGigabytes, l.Assumed.ObjectGigabytes
	return []line{
		{"gateway", fmt.Sprintf("%.2f million requests", requests/1e6), million(requests, p.PerMillion.GatewayRequests)},
		{"functions, invocations", fmt.Sprintf("%.2f million", invocations/1e6), million(invocations, p.PerMillion.FunctionRequests)},
		{"functions, time", fmt.Sprintf("%.0f GB-seconds", seconds), seconds * p.FunctionGigabyteSecond},
		{"tables, reads", fmt.Sprintf("%.1f million units", reads/1e6), million(reads, p.PerMillion.ReadUnits)},
		{"tables, writes", fmt.Sprintf("%.1f million units", writes/1e6), million(writes, p.PerMillion.WriteUnits)},
		{"tables, storage and recovery", fmt.Sprintf("%.0f GB", tables), tables * (p.PerGigabyte.TableMonth + p.PerGigabyte.RecoveryMonth)},
		{"queues", fmt.Sprintf("%.2f million calls", messages/1e6), million(messages, p.PerMillion.MessageRequests)},
		{"bucket", fmt.Sprintf("%.0f GB, %.2f million calls", objects, (gets+puts)/1e6),
			objects*p.PerGigabyte.ObjectMonth + million(gets, p.PerMillion.ObjectReads) + million(puts, p.PerMillion.ObjectWrites)},
		{"logs", fmt.Sprintf("%.2f GB", logs), logs * p.PerGigabyte.Logs},
		{"traces", fmt.Sprintf("%.0f %% of requests", 100*l.Assumed.TracedPart), million(requests*l.Assumed.TracedPart, p.PerMillion.Traces)},
		{"replies to the internet", fmt.Sprintf("%.1f GB", replies), replies * p.PerGigabyte.Transfer},
		{"alarms and metrics", fmt.Sprintf("%.0f and %.0f", a.Alarms, metrics), a.Alarms*p.AlarmMonth + metrics*p.MetricMonth},
		{"key", "1", p.KeyMonth},
	}, nil
}

// wholeProcessor is the memory, in GB, of a function that has one whole processor. Less memory has as much less of it, so
// that a second of a processor costs the same with any memory.
const wholeProcessor = 1769.0 / 1024

// embedded is the cost of embedding a million passages and a million questions of one kind of engine.
type embedded struct{ passages, questions float64 }

// priceEmbedding returns the cost of the model in the function's process and of Titan on Bedrock. It has no
// requests, tables and objects: the bill has those.
func priceEmbedding(l load, p prices) (local, titan embedded) {
	e := l.Embedding
	million := func(milliseconds float64) float64 {
		return 1e6 * milliseconds / 1000 * wholeProcessor * p.FunctionGigabyteSecond
	}
	return embedded{million(e.ProcessorMillisecondsAPassage), million(e.ProcessorMillisecondsAQuestion)},
		embedded{e.TokensAPassage * p.TitanMillionTokens, e.TokensAQuestion * p.TitanMillionTokens}
}

// show prints both bills side by side.
func show(out io.Writer, l load, p prices, busy, idle []line) error {
	fmt.Fprintf(out, "%s\nPrices of %s as of %s, in %s. %s\n\n", l.About, p.Region, p.AsOf, p.Currency, p.Note)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(w, "\tper month\tthis load\tno requests\t\n")
	var sum, least float64
	for i, b := range busy {
		fmt.Fprintf(w, "%s\t%s\t%.2f\t%.2f\t\n", b.what, b.how, b.dollars, idle[i].dollars)
		sum += b.dollars
		least += idle[i].dollars
	}
	fmt.Fprintf(w, "together\t\t%.2f\t%.2f\t\n", sum, least)
	if err := w.Flush(); err != nil {
		return err
	}
	local, titan := priceEmbedding(l, p)
	_, err := fmt.Fprintf(out, "\nEmbedding, in addition: a million passages %.2f in the functions (%.2f by Titan on Bedrock), a million questions %.2f (%.2f).\n",
		local.passages, titan.passages, local.questions, titan.questions)
	return err
}
