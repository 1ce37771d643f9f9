package app

import (
	"log/slog"
	"strings"
	"testing"

	"docent/shared/httpapi"
)

// TestWaitingForOthersIsNoLatency checks each route that may be slow: that there is such an operation, and that its time raises no alarm.
func TestWaitingForOthersIsNoLatency(t *testing.T) {
	t.Parallel()
	paths := httpapi.OpenAPI(Providers()).Paths
	f := joinOnAWS(Config{Service: "docent-test"}, Parts{}, slog.New(slog.DiscardHandler))
	for route, want := range map[string]bool{"GET /me": true, "PUT /documents": true, "POST /context/get": false, "POST /data-sources": false, "POST /scim/v2/Bulk": false,
		"GET /sso/{teamId}/callback": false} {
		members, dimensions := measuredBy(t, f.served("any")(httpapi.Served{Route: route}))
		if _, ok := members["Latency"]; !ok || (len(dimensions) > 0) != want {
			t.Errorf("%s counts as latency: %t, want %t", route, len(dimensions) > 0, want)
		}
	}
	for _, route := range maybeSlow {
		method, path, _ := strings.Cut(route, " ")
		item := paths[path]
		if item == nil || (method == "GET" && item.Get == nil) || (method == "POST" && item.Post == nil) || (method == "PUT" && item.Put == nil) || (method == "PATCH" && item.Patch == nil) {
			t.Errorf("there is no operation %s", route)
		}
	}
}
