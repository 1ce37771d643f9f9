package scim_test

import (
	"fmt"
	"strings"
	"testing"

	"docent/shared/scim"
	"docent/shared/table"
)

// BenchmarkOperations reports what each operation costs with the key in memory:
// round trips in sequence, and capacity units. The team has 10,000 users, one
// group of 5,000 and one of none.
func BenchmarkOperations(b *testing.B) {
	s := newServer(b)
	ids := s.people(10_000)
	large := s.must(201, "POST", "/Groups?attributes=id", `{"displayName":"large","members":`+members(ids[:5000])+`}`).string("id")
	n := 0
	name := func() string { n++; return fmt.Sprintf("bench%d", n) }
	made := func() string { return s.user(name()) }
	whole := func(name string) string {
		return `{"userName":"` + name + `","externalId":"x` + name + `","displayName":"D ` + name + `","emails":[{"value":"` + name + `@x.test","type":"work"}]}`
	}
	for _, c := range []struct {
		name string
		call func() (method, path, body string) // what it needs is made before the costs are counted
	}{
		{"create user", func() (string, string, string) { return "POST", "/Users", whole(name()) }},
		{"get user", func() (string, string, string) { return "GET", "/Users/" + ids[7], "" }},
		{"list 100 of 10000", func() (string, string, string) { return "GET", "/Users", "" }},
		{"filter userName", func() (string, string, string) { return "GET", `/Users?filter=userName eq "p000077"`, "" }},
		{"filter by walk", func() (string, string, string) { return "GET", `/Users?count=1&filter=userName co "77"`, "" }},
		{"patch active", func() (string, string, string) {
			return "PATCH", "/Users/" + made(), message(`{"op":"replace","path":"active","value":false}`)
		}},
		{"get group without members", func() (string, string, string) { return "GET", "/Groups/" + large + "?excludedAttributes=members", "" }},
		{"get group of 5000", func() (string, string, string) { return "GET", "/Groups/" + large, "" }},
		{"add 1 member to 5000", func() (string, string, string) {
			n++
			return "PATCH", "/Groups/" + large, message(`{"op":"add","path":"members","value":` + members(ids[5000+n:5001+n]) + `}`)
		}},
		{"add 100 members", func() (string, string, string) {
			group := s.must(201, "POST", "/Groups", `{"displayName":"`+name()+`"}`).string("id")
			return "PATCH", "/Groups/" + group, message(`{"op":"add","path":"members","value":` + members(ids[:100]) + `}`)
		}},
		{"replace 1000 members", func() (string, string, string) {
			group := s.must(201, "POST", "/Groups?attributes=id", `{"displayName":"`+name()+`","members":`+members(ids[:1000])+`}`).string("id")
			return "PATCH", "/Groups/" + group, message(`{"op":"replace","path":"members","value":` + members(ids[1000:2000]) + `}`)
		}},
		{"delete user", func() (string, string, string) { return "DELETE", "/Users/" + made(), "" }},
	} {
		b.Run(c.name, func(b *testing.B) {
			var cost table.Cost
			for b.Loop() {
				b.StopTimer()
				method, path, body := c.call()
				ctx, meter := table.WithMeter(b.Context())
				b.StartTimer()
				if r := s.within(ctx, method, path, body); r.StatusCode >= 300 {
					b.Fatalf("%d %s", r.StatusCode, r.text)
				}
				cost = meter.Read()
			}
			b.ReportMetric(float64(cost.RoundTrips), "trips")
			b.ReportMetric(cost.ReadUnits, "read-units")
			b.ReportMetric(cost.WriteUnits, "write-units")
		})
	}
}

func BenchmarkFilters(b *testing.B) {
	resource := tree(b, ada)
	for _, filter := range []string{
		`userName eq "Test_User@example.com"`,
		`emails[type eq "work"].value eq "w@testuser.com"`,
		`userName co ".flt." and (displayName eq "Ann" or displayName eq "Bob" and active eq true)`,
	} {
		b.Run(strings.ReplaceAll(filter[:20], " ", "_"), func(b *testing.B) {
			for b.Loop() {
				if _, err := scim.Match("User", filter, false, resource); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
