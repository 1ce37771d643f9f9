package bolt_test

import (
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"

	"docent/shared/table"
	"docent/shared/table/bolt"
)

// The benchmarks sync, as the product does: they measure the disk too.
func benchStore(b *testing.B, items int) *bolt.Store {
	b.Helper()
	s, err := bolt.Open(filepath.Join(b.TempDir(), "docent.db"), bolt.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { s.Close() })
	for start := 0; start < items; start += table.MaxOps {
		var ops []table.Op
		for n := start; n < min(items, start+table.MaxOps); n++ {
			ops = append(ops, table.Put{Item: benchItem(n)})
		}
		if err := s.Write(b.Context(), ops...); err != nil {
			b.Fatal(err)
		}
	}
	b.ResetTimer()
	return s
}

func benchItem(n int) table.Item {
	return table.Item{
		Key:     table.Key{Table: table.Documents, Partition: fmt.Sprint("p", n/1000), Sort: table.Padded(int64(n % 1000))},
		Version: int64(n), Body: make([]byte, 1000), Strings: map[string]string{"state": "complete"},
	}
}

func BenchmarkPut(b *testing.B) {
	s := benchStore(b, 0)
	for n := 0; b.Loop(); n++ {
		if err := s.Write(b.Context(), table.Put{Item: benchItem(n), If: table.Absent()}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkGet(b *testing.B) {
	s := benchStore(b, 10000)
	for n := 0; b.Loop(); n++ {
		if _, err := s.Get(b.Context(), benchItem(n*7919%10000).Key); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkQuery100(b *testing.B) {
	s := benchStore(b, 10000)
	for n := 0; b.Loop(); n++ {
		page, err := s.Query(b.Context(), table.Query{
			Table: table.Documents, Partition: fmt.Sprint("p", n%10), From: table.Padded(500), Limit: 100, Descending: n%2 == 0,
		})
		if err != nil || len(page.Items) != 100 {
			b.Fatal(len(page.Items), err)
		}
	}
}

// BenchmarkPut16 is BenchmarkPut by sixteen writers, which share syncs.
func BenchmarkPut16(b *testing.B) {
	s := benchStore(b, 0)
	var next atomic.Int64
	b.SetParallelism(16)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if err := s.Write(b.Context(), table.Put{Item: benchItem(int(next.Add(1))), If: table.Absent()}); err != nil {
				b.Error(err)
				return
			}
		}
	})
}
