package scim_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"docent/shared/table"
)

// benched is a server whose store is far away while it is measured.
type benched struct {
	*server
	far far
}

func newBenched(b *testing.B) *benched {
	s := &benched{}
	s.server = newServerOn(b, func(store table.Store) table.Store { s.far.Store = store; return &s.far })
	return s
}

// measure reports what the calls from next cost: sequential round trips and capacity units.
// Calls that next makes itself are not counted.
func (s *benched) measure(b *testing.B, name string, next func() (method, path, body string)) {
	b.Run(name, func(b *testing.B) {
		var cost table.Cost
		trips := 0
		for b.Loop() {
			b.StopTimer()
			s.far.set(false)
			method, path, body := next()
			s.do("GET", "/Users?count=0&filter=id eq \"x\"", "") // the key is in memory
			ctx, meter := table.WithMeter(b.Context())
			s.far.set(true)
			b.StartTimer()
			if r := s.within(ctx, method, path, body); r.StatusCode >= 300 {
				b.Fatalf("%d %s", r.StatusCode, r.text)
			}
			cost, trips = meter.Read(), s.far.count()
		}
		s.far.set(false)
		b.ReportMetric(float64(trips), "trips")
		b.ReportMetric(cost.ReadUnits, "read-units")
		b.ReportMetric(cost.WriteUnits, "write-units")
	})
}

// BenchmarkOperations measures a team of 10,000 users. Each request to the store takes 2 ms
// longer.
func BenchmarkOperations(b *testing.B) {
	s := newBenched(b)
	ids := s.people(10_000)
	n := 0
	name := func() string { n++; return fmt.Sprintf("bench%d", n) }
	made := func() string { return s.user(name()) }
	whole := func(name string) string {
		return `{"userName":"` + name + `","externalId":"x` + name + `","displayName":"D ` + name + `","emails":[{"value":"` + name + `@x.test","type":"work"}]}`
	}
	get := func(path string) func() (string, string, string) {
		return func() (string, string, string) { return "GET", path, "" }
	}
	s.measure(b, "create user", func() (string, string, string) { return "POST", "/Users", whole(name()) })
	s.measure(b, "get user", get("/Users/"+ids[7]))
	s.measure(b, "list 100 of 10000", get("/Users"))
	s.measure(b, "filter userName", get(`/Users?filter=userName eq "p000077"`))
	s.measure(b, "filter by scan", get(`/Users?count=1&filter=userName co "77"`))
	s.measure(b, "patch active", func() (string, string, string) {
		return "PATCH", "/Users/" + made(), message(`{"op":"replace","path":"active","value":false}`)
	})
	s.measure(b, "delete user", func() (string, string, string) { return "DELETE", "/Users/" + made(), "" })
	s.measure(b, "create group", func() (string, string, string) { return "POST", "/Groups", `{"displayName":"` + name() + `"}` })
	s.measure(b, "add 100 members", func() (string, string, string) {
		group := s.must(201, "POST", "/Groups", `{"displayName":"`+name()+`"}`).string("id")
		return "PATCH", "/Groups/" + group, message(`{"op":"add","path":"members","value":` + members(ids[:100]) + `}`)
	})
	s.measure(b, "replace 1000 members", func() (string, string, string) {
		group := s.must(201, "POST", "/Groups?attributes=id", `{"displayName":"`+name()+`","members":`+members(ids[:1000])+`}`).string("id")
		return "PATCH", "/Groups/" + group, message(`{"op":"replace","path":"members","value":` + members(ids[1000:2000]) + `}`)
	})
}

// BenchmarkContention measures clients that change one resource without a pause, in one process
// and in one process each. Each request to the store takes 2 ms longer.
func BenchmarkContention(b *testing.B) {
	const changes = 20 // per client
	for _, clients := range []int{2, 4, 8, 16} {
		for _, apart := range []bool{false, true} {
			b.Run(fmt.Sprintf("clients=%d/apart=%v", clients, apart), func(b *testing.B) {
				s := newBenched(b)
				id := s.user("u")
				s.far.set(true)
				made, refused := 0, atomic.Int64{}
				for b.Loop() {
					var all sync.WaitGroup
					for client := range clients {
						own := s.server
						if apart {
							own = s.another()
						}
						all.Go(func() {
							for i := range changes {
								if r := own.do("PATCH", "/Users/"+id, message(fmt.Sprintf(`{"op":"replace","path":"title","value":"%d-%d"}`, client, i))); r.StatusCode != http.StatusOK {
									refused.Add(1)
								}
							}
						})
					}
					all.Wait()
					made += clients * changes
				}
				b.ReportMetric(100*float64(refused.Load())/float64(made), "%-refused")
				b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(made), "ms/change")
			})
		}
	}
}

// BenchmarkLargeGroup measures a group of 50,000 members.
func BenchmarkLargeGroup(b *testing.B) {
	const size = 50_000
	s := newBenched(b)
	ids := s.people(size + 1)
	other := ids[size]
	n := 0
	var group string
	s.measure(b, "create", func() (string, string, string) {
		n++
		if group != "" {
			s.must(204, "DELETE", "/Groups/"+group, "")
		}
		return "POST", "/Groups?excludedAttributes=members", fmt.Sprintf(`{"displayName":"large %d","members":%s}`, n, members(ids[:size]))
	})
	found := s.must(200, "GET", "/Groups?excludedAttributes=members", "").body["Resources"].([]any)
	group = found[0].(map[string]any)["id"].(string)
	path := "/Groups/" + group
	one := func(operation string) func() (string, string, string) {
		return func() (string, string, string) { return "PATCH", path, message(operation) }
	}
	without := `{"op":"remove","path":"members[value eq \"` + other + `\"]"}`
	with := `{"op":"add","path":"members","value":[{"value":"` + other + `"}]}`
	s.measure(b, "add one", func() (string, string, string) { s.patchGroup(204, group, without); return one(with)() })
	s.measure(b, "remove one", func() (string, string, string) { s.patchGroup(204, group, with); return one(without)() })
	for name, query := range map[string]string{"get": path, "list": "/Groups", "filter displayName": fmt.Sprintf(`/Groups?filter=displayName eq "large %d"`, n)} {
		joint := "?"
		if strings.Contains(query, "?") {
			joint = "&"
		}
		s.measure(b, name+" without members", func() (string, string, string) { return "GET", query + joint + "excludedAttributes=members", "" })
	}
	s.measure(b, "is a user a member", func() (string, string, string) {
		return "GET", `/Groups?attributes=id&filter=id eq "` + group + `" and members eq "` + ids[5] + `"`, ""
	})
	s.measure(b, "get with members", func() (string, string, string) { return "GET", path, "" })
	s.measure(b, "get a member", func() (string, string, string) { return "GET", "/Users/" + ids[5], "" })
}

// BenchmarkPaging reads all pages of a team of 10,200 users, with the store near and then 2 ms
// away, and reports the cost per page.
func BenchmarkPaging(b *testing.B) {
	s := newBenched(b)
	s.people(10_200)
	for _, count := range []int{100, 200} {
		for _, query := range []string{"", "sortBy=userName", "sortBy=name.familyName", "filter=active eq true",
			"sortBy=displayName&filter=active eq true", `filter=userName co "p"`, "sortBy=meta.lastModified&sortOrder=descending&attributes=userName"} {
			b.Run(fmt.Sprintf("%d a page/%s", count, query), func(b *testing.B) {
				pages := 0
				for b.Loop() {
					for at, total := 1, 1; at <= total; at += count {
						total = int(s.must(200, "GET", fmt.Sprintf("/Users?startIndex=%d&count=%d&%s", at, count, query), "").body["totalResults"].(float64))
						pages++
					}
				}
				b.StopTimer()
				path := fmt.Sprintf("/Users?startIndex=5001&count=%d&%s", count, query)
				s.do("GET", "/Users?count=0&filter=id eq \"x\"", "") // the key is in memory
				ctx, meter := table.WithMeter(b.Context())
				s.far.set(true)
				s.within(ctx, "GET", path)
				b.ReportMetric(float64(s.far.count()), "trips/page")
				s.far.set(false)
				b.ReportMetric(meter.Read().ReadUnits, "read-units/page")
				b.ReportMetric(b.Elapsed().Seconds()/float64(b.N), "s/all")
			})
		}
	}
}

// BenchmarkBulkReferences measures requests that are all references: one path of 100,000, and 400
// operations that each need all before and the next one.
func BenchmarkBulkReferences(b *testing.B) {
	s := newServer(b)
	ring := make([]string, 400)
	for i := range ring {
		var path strings.Builder
		for j := range min(i+2, len(ring)) {
			fmt.Fprintf(&path, "/bulkId:%d", j)
		}
		ring[i] = fmt.Sprintf(`{"method":"POST","bulkId":"%d","path":"/Users%s","data":{}}`, i, path.String())
	}
	for name, operations := range map[string][]string{
		"path": {`{"method":"PATCH","path":"/Users` + strings.Repeat("/bulkId:a", 100_000) + `","data":{}}`},
		"ring": ring,
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				s.bulk(operations...)
			}
		})
	}
}
