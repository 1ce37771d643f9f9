package usage

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"docent/shared/storedtest"
	"docent/shared/table"
)

func TestEveryFieldIsStored(t *testing.T) {
	t.Parallel()
	counted := func(row func(Call, string) table.Add) func(Call) (table.Item, error) {
		return func(c Call) (table.Item, error) {
			add := row(c, "acme")
			return table.Item{Key: add.Key, Numbers: add.By}, nil
		}
	}
	read := func(item table.Item) (Call, error) {
		r, err := rowFrom(item)
		return Call{At: r.hour, Feature: r.feature, KeyID: r.key, UserID: r.user, Client: r.client, Source: r.source, Numbers: r.numbers}, err
	}
	foldedByUser := func(c Call) (table.Item, error) {
		bodies, err := withRow(nil, foldedRow{Hour: c.At.UTC().Hour(), Feature: c.Feature, Key: c.KeyID, Client: c.Client, Numbers: c.Numbers})
		return foldedItem(userPartition("acme", c.At), c.UserID, c.At.UTC().Truncate(day), 0, bodies[0]), err
	}
	foldedByKey := func(c Call) (table.Item, error) {
		bodies, err := withRow(nil, foldedRow{Hour: c.At.UTC().Hour(), Feature: c.Feature, User: c.UserID, Client: c.Client, Numbers: c.Numbers})
		return foldedItem(keyPartition("acme", c.At), c.KeyID, c.At.UTC().Truncate(day), 0, bodies[0]), err
	}
	readFolded := func(ofKey bool) func(item table.Item) (Call, error) {
		return func(item table.Item) (Call, error) {
			rows, err := rowsFromFold(item, ofKey)
			if err != nil {
				return Call{}, err
			}
			r := rows[0]
			return Call{At: r.hour, Feature: r.feature, KeyID: r.key, UserID: r.user, Client: r.client, Numbers: r.numbers}, nil
		}
	}
	adjust := func(c *Call) { c.At, c.Latency, c.AnswerLatency = c.At.Truncate(time.Hour), 0, 0 } // latencies are counted in buckets
	storedtest.KeepFields(t, map[string]storedtest.Record{
		"usage: {team}/{month} | {hour}#K#{text}#{key}#{text}#{text}": storedtest.Fields(counted(Call.keyRow), read, adjust,
			func(c *Call) { c.Source = "" }),
		"usage: {team}/{month} | {hour}#S#{text}#{source}": storedtest.Fields(counted(Call.sourceRow), read, adjust,
			func(c *Call) { c.KeyID, c.UserID, c.Client = "", "", "" }),
		"usage: {team}/users/{month} | {user}#{date}#{number}": storedtest.Fields(foldedByUser, readFolded(false), adjust, func(c *Call) { c.Source = "" }),
		"usage: {team}/keys/{month} | {key}#{date}#{number}":   storedtest.Fields(foldedByKey, readFolded(true), adjust, func(c *Call) { c.Source = "" }),
	})
}

// TestEverySumIsReported fails when Metrics has a sum that it does not read from rows.
func TestEverySumIsReported(t *testing.T) {
	t.Parallel()
	derived := map[string]bool{"Requests": true, "EstimatedCostUSD": true, "LatencyMsP50": true, "LatencyMsP95": true}
	given := newSum()
	want := Metrics{}
	fields := reflect.ValueOf(&want).Elem()
	for i, field := range reflect.VisibleFields(fields.Type()) {
		if derived[field.Name] {
			continue
		}
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		given.numbers[name] = int64(i + 1)
		fields.Field(i).SetInt(int64(i + 1))
	}
	want.Requests = want.OK + want.Refused + want.Error
	if got := given.metrics(); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// TestReadingARowAllocatesNothing: a report of a month reads hundreds of thousands. (Two dimensions make one text.)
func TestReadingARowAllocatesNothing(t *testing.T) {
	call := Call{At: time.Date(2026, 11, 20, 13, 0, 0, 0, time.UTC), Feature: Answers, KeyID: "key", UserID: "ada", Numbers: map[string]int64{OK: 1, Accepted: 1, Bytes: 7},
		AnswerLatency: time.Second}
	add := call.keyRow("acme")
	item := table.Item{Key: add.Key, Numbers: add.By}
	for by, most := range map[string]float64{"": 0, ByUser: 0, ByUser + " " + ByFeature: 1} {
		q, to := Query{GroupBy: strings.Fields(by)}, newSum()
		group := ""
		allocated := testing.AllocsPerRun(100, func() {
			r, err := rowFrom(item)
			if err != nil {
				t.Error(err)
			}
			group = q.group(r)
			to.add(r)
		})
		if r, _ := rowFrom(item); group != strings.Join(q.dimensions(r), "#") || allocated > most {
			t.Errorf("by %q: group %q, %v allocations for a row", by, group, allocated)
		}
	}
}
