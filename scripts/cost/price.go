package main

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
)

// prices are the prices of one region at one time.
type prices struct {
	Region, AsOf, Currency, Note string
	PerMillion                   struct {
		GatewayRequests, FunctionRequests, ReadUnits, WriteUnits, MessageRequests, ObjectReads, ObjectWrites, Traces float64
		// GroupedMessages is charged in addition for a message with a group.
		GroupedMessages float64
	}
	PerGigabyte                                                               struct{ TableMonth, RecoveryMonth, ObjectMonth, Logs, LogMonth, Transfer float64 }
	TitanMillionTokens                                                        float64 // of Titan Text Embeddings V2 on Amazon Bedrock
	FunctionGigabyteSecond, KeyMonth, AlarmMonth, MetricMonth, DashboardMonth float64
	Free                                                                      allowance
}

// allowance is the use that is free for every account each month, without the offers of an account's first year.
type allowance struct {
	FunctionRequests, FunctionGigabyteSeconds, MessageRequests, TableGigabytes, LogGigabytes, TransferGigabytes float64
	Traces, Alarms, Metrics, Dashboards                                                                         float64
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
		RateUnitsARequest       float64 // write units of settling its tokens (shared/rate)
		MillisecondsARoundTrip  float64
		MillisecondsOfComputing float64
		TableGigabytes          float64
		ObjectGigabytes         float64
		LogBytesARequest        float64 // of a function, with Lambda's own lines
		AccessLogBytesARequest  float64
		LogMonths               float64 // that logs are kept
		ReplyBytesARequest      float64
		TracedPart              float64
		Metrics                 float64 // that Docent's requests and workers write
	}
	// Embedding is the cost of search by meaning: processor time of a function with the model in its process, and
	// the tokens that a service charges.
	Embedding struct {
		ProcessorMillisecondsAPassage, ProcessorMillisecondsAQuestion, TokensAPassage, TokensAQuestion float64
	}
	// Always is the use of an installation without requests.
	Always struct {
		Sweeps, SweepMemoryMB, SweepMilliseconds, SweepReadUnits, SweepWriteUnits float64
		Queues, PollsAQueue                                                       float64 // by event source mappings: five pollers that wait 20 s
		Alarms, Metrics, Dashboards                                               float64 // metrics that alarms watch, and metrics that sweeping writes
	}
}

// line is a line of the bill.
type line struct {
	what, how string
	dollars   float64 // at list prices
	alone     float64 // in an account with nothing else
}

// amounts are what is charged for, in a month.
type amounts struct {
	requests, invocations, seconds float64 // seconds of a function with 1 GB
	reads, writes, messages        float64
	polls                          float64 // of the messages: those that found none
	gets, puts                     float64
}

// add adds work whose cost was counted.
func (a *amounts) add(w work, c operationCost, l load) {
	a.invocations += w.Count
	a.seconds += w.Count * w.MemoryMB / 1024 * (float64(c.RoundTrips)*l.Assumed.MillisecondsARoundTrip + l.Assumed.MillisecondsOfComputing) / 1000
	a.reads += w.Count * c.ReadUnits
	a.writes += w.Count * c.WriteUnits
	a.messages += w.Count * w.Messages
	a.gets += w.Count * w.ObjectReads
	a.puts += w.Count * w.ObjectWrites
}

// amountsOf adds up l. It returns an error for an operation whose cost was not counted.
func amountsOf(l load, counted map[string]operationCost) (amounts, error) {
	var a amounts
	for _, w := range slices.Concat(l.Requests, l.Workers) {
		c, ok := counted[w.Operation]
		if !ok {
			return amounts{}, fmt.Errorf("nothing is counted of %q", w.Operation)
		}
		a.add(w, c, l)
	}
	for _, w := range l.Requests { // through the gateway, which also counts usage and rate
		a.requests += w.Count
		a.writes += w.Count * (l.Assumed.UsageUnitsARequest + l.Assumed.RateUnitsARequest)
	}
	always := l.Always
	a.invocations += always.Sweeps
	a.seconds += always.Sweeps * always.SweepMemoryMB / 1024 * always.SweepMilliseconds / 1000
	a.reads += always.Sweeps * always.SweepReadUnits
	a.writes += always.Sweeps * always.SweepWriteUnits
	a.polls = always.Queues * always.PollsAQueue
	a.messages += a.polls
	return a, nil
}

// price calculates the bill of l.
func price(l load, p prices, counted map[string]operationCost) ([]line, error) {
	n, err := amountsOf(l, counted)
	if err != nil {
		return nil, err
	}
	a := l.Always
	metrics := a.Metrics
	if n.requests > 0 { // a metric is charged for the hours in which it is written
		metrics += l.Assumed.Metrics
	}
	logs := (n.invocations*l.Assumed.LogBytesARequest + n.requests*l.Assumed.AccessLogBytesARequest) / 1e9
	replies := n.requests * l.Assumed.ReplyBytesARequest / 1e9
	traces := n.requests * l.Assumed.TracedPart
	tables, objects := l.Assumed.TableGigabytes, l.Assumed.ObjectGigabytes
	var bill []line
	charge := func(what, how string, parts ...charged) {
		entry := line{what: what, how: how}
		for _, c := range parts {
			entry.dollars += c.amount * c.price
			entry.alone += max(0, c.amount-c.free) * c.price
		}
		bill = append(bill, entry)
	}
	million := func(amount, price, free float64) charged { return charged{amount, price / 1e6, free} }
	charge("gateway", fmt.Sprintf("%.2f million requests", n.requests/1e6), million(n.requests, p.PerMillion.GatewayRequests, 0))
	charge("functions, invocations", fmt.Sprintf("%.2f million", n.invocations/1e6), million(n.invocations, p.PerMillion.FunctionRequests, p.Free.FunctionRequests))
	charge("functions, time", fmt.Sprintf("%.0f GB-seconds", n.seconds), charged{n.seconds, p.FunctionGigabyteSecond, p.Free.FunctionGigabyteSeconds})
	charge("tables, reads", fmt.Sprintf("%.1f million units", n.reads/1e6), million(n.reads, p.PerMillion.ReadUnits, 0))
	charge("tables, writes", fmt.Sprintf("%.1f million units", n.writes/1e6), million(n.writes, p.PerMillion.WriteUnits, 0))
	charge("tables, storage and recovery", fmt.Sprintf("%.0f GB", tables),
		charged{tables, p.PerGigabyte.TableMonth, p.Free.TableGigabytes}, charged{tables, p.PerGigabyte.RecoveryMonth, 0})
	charge("queues", fmt.Sprintf("%.2f million calls", n.messages/1e6), million(n.messages, p.PerMillion.MessageRequests, p.Free.MessageRequests),
		million(n.messages-n.polls, p.PerMillion.GroupedMessages, 0)) // each message names its team, which makes the queues fair
	charge("bucket", fmt.Sprintf("%.0f GB, %.2f million calls", objects, (n.gets+n.puts)/1e6),
		charged{objects, p.PerGigabyte.ObjectMonth, 0}, million(n.gets, p.PerMillion.ObjectReads, 0), million(n.puts, p.PerMillion.ObjectWrites, 0))
	charge("logs", fmt.Sprintf("%.2f GB", logs), charged{logs, p.PerGigabyte.Logs, p.Free.LogGigabytes},
		charged{logs * l.Assumed.LogMonths, p.PerGigabyte.LogMonth, max(0, p.Free.LogGigabytes-logs)})
	charge("traces", fmt.Sprintf("%.0f %% of requests", 100*l.Assumed.TracedPart), million(traces, p.PerMillion.Traces, p.Free.Traces))
	charge("replies to the internet", fmt.Sprintf("%.1f GB", replies), charged{replies, p.PerGigabyte.Transfer, p.Free.TransferGigabytes})
	charge("alarms and metrics", fmt.Sprintf("%.0f and %.0f", a.Alarms, metrics), charged{a.Alarms, p.AlarmMonth, p.Free.Alarms}, charged{metrics, p.MetricMonth, p.Free.Metrics})
	// The three that every account may have, of at most 50 metrics each, are free permanently.
	charge("dashboards", fmt.Sprintf("%.0f", a.Dashboards), charged{max(0, a.Dashboards-p.Free.Dashboards), p.DashboardMonth, 0})
	// KMS charges as much again for its first yearly rotation, and for its second.
	charge("key", "1, in its first year", charged{1, p.KeyMonth, 0})
	return bill, nil
}

// charged is an amount, the price of one of it, and how many of it are free in an account.
type charged struct{ amount, price, free float64 }

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

// show prints both bills next to each other.
func show(out io.Writer, l load, p prices, busy, idle []line) error {
	fmt.Fprintf(out, "%s\nPrices of %s as of %s, in %s. %s\n\n", l.About, p.Region, p.AsOf, p.Currency, p.Note)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(w, "\t\tlist prices\t\tafter what is free\t\t\n\tper month\tthis load\tno requests\tthis load\tno requests\t\n")
	var sum, least line
	for i, b := range busy {
		fmt.Fprintf(w, "%s\t%s\t%.2f\t%.2f\t%.2f\t%.2f\t\n", b.what, b.how, b.dollars, idle[i].dollars, b.alone, idle[i].alone)
		sum.dollars += b.dollars
		sum.alone += b.alone
		least.dollars += idle[i].dollars
		least.alone += idle[i].alone
	}
	fmt.Fprintf(w, "together\t\t%.2f\t%.2f\t%.2f\t%.2f\t\n", sum.dollars, least.dollars, sum.alone, least.alone)
	if err := w.Flush(); err != nil {
		return err
	}
	local, titan := priceEmbedding(l, p)
	_, err := fmt.Fprintf(out, "\nEmbedding, in addition: a million passages %.2f in the functions (%.2f by Titan on Bedrock), a million questions %.2f (%.2f).\n",
		local.passages, titan.passages, local.questions, titan.questions)
	return err
}
