package local_test

import (
	"testing"

	"docent/shared/queue/local"
	"docent/shared/table"
)

const someSort = "01780000000000000000#0190f5c8-0000-7000-8000-000000000000"

func FuzzRecord(f *testing.F) {
	f.Add(someSort, int64(3), int64(2), int64(0), int64(1), int64(1_780_000_000_000_000_000), []byte("body"))
	f.Add(someSort, int64(1), int64(0), int64(4), int64(0), int64(0), []byte{})
	f.Add("1#a", int64(0), int64(-1), int64(5), int64(2), int64(-1), []byte(nil))
	f.Fuzz(func(t *testing.T, sort string, version, receives, parts, inFlight, sent int64, body []byte) {
		item := table.Item{
			Key:     table.Key{Table: local.Table, Partition: "q/due", Sort: sort},
			Version: version,
			Body:    body,
			Numbers: map[string]int64{"receives": receives, "parts": parts, "inFlight": inFlight, "sent": sent},
		}
		if _, err := local.CheckRecord(item); err != nil {
			t.Fatal(err)
		}
	})
}

func FuzzReceipt(f *testing.F) {
	for _, receipt := range []string{"1#0#" + someSort, "2#4#" + someSort, "01#0#" + someSort, "1#5#" + someSort, "", "#", "1#0#", "+1#0#" + someSort} {
		f.Add(receipt)
	}
	f.Fuzz(func(t *testing.T, receipt string) {
		if _, err := local.CheckReceipt(receipt); err != nil {
			t.Fatal(err)
		}
	})
}

func TestReceipts(t *testing.T) {
	t.Parallel()
	for receipt, want := range map[string]bool{
		"1#0#" + someSort: true, "7#4#" + someSort: true,
		"": false, "1": false, "1#0": false, "1#0#": false, "1#0##": false,
		"0#0#" + someSort: false, "01#0#" + someSort: false, "1#5#" + someSort: false, "1#-1#" + someSort: false,
		"1#0#1#id": false, "1#0#" + someSort[:21]: false, "1#0#" + someSort + "\x00": false, "1#0#" + someSort + "\xff": false,
	} {
		if got, _ := local.CheckReceipt(receipt); got != want {
			t.Errorf("receipt %q is taken: %v, want %v", receipt, got, want)
		}
	}
}
