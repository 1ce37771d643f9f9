package httpapi_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"docent/shared/httpapi"
	"docent/shared/table"
	"docent/shared/team"
)

// TestTheLogKeepsSecrets: after many requests, including failing ones, there is one line of JSON
// for each request. No line, and none of the workers' lines, contains a key, question, title, URI
// or text.
func TestTheLogKeepsSecrets(t *testing.T) {
	t.Parallel()
	const secret = "Quittenmus"
	a := newAPI(t)
	acme := a.newTenant("acme")
	secrets := []string{secret, secretOf(acme.key), secretOf(acme.pat), secretOf(acme.scim)}
	var sent []string
	do := func(c call, status int) response {
		reply := a.do(c).want(t, status)
		sent = append(sent, reply.Header.Get("X-Request-Id"))
		return reply
	}
	text := map[string]string{"name": secret, "description": secret, "iconUrl": "https://x.test/" + secret}
	wiki := do(call{"POST", "/collections", acme.key, text, map[string]string{"Idempotency-Key": secret}}, 201).text(t, "id")
	do(call{"POST", "/collections", acme.key, map[string]string{"name": "n", "description": secret}, map[string]string{"Idempotency-Key": secret}}, 409)
	do(call{"PATCH", "/collections/" + wiki, acme.pat, text, map[string]string{"If-Match": secret}}, 412)
	document := map[string]string{"collectionId": wiki, "title": secret, "uri": "https://x.test/" + secret, "body": longText(secret, 20_000)}
	id := do(call{"PUT", "/documents", acme.key, document, nil}, 200).text(t, "id")
	a.drain()
	do(call{"PUT", "/answers/" + numberedID(1), acme.pat, map[string]string{"question": "What is " + secret + "?"}, nil}, 204)
	do(call{"PUT", "/answers/" + numberedID(1), acme.pat, map[string]string{"question": secret}, nil}, 409)
	a.drain()
	for _, c := range []call{
		{"GET", "/answers/" + numberedID(1), acme.pat, nil, nil}, {"GET", "/documents/" + id, acme.key, nil, nil},
		{"GET", "/documents?collectionId=" + secret, acme.key, nil, nil}, {"GET", "/collections", acme.key, nil, map[string]string{"X-Request-Id": "my.Request-1"}},
		{"GET", "/collections", acme.key, nil, map[string]string{"Cookie": secret, "User-Agent": secret, "Prefer": secret}},
	} {
		do(c, 200)
	}
	for status, calls := range map[int][]call{
		400: {{"PUT", "/documents", acme.key, `{"title":"` + secret, nil}, {"PUT", "/documents", acme.key, `{"title":"` + secret + "\xff", nil},
			{"GET", "/documents?after=" + secret, acme.key, nil, nil}, {"GET", "/documents?limit=" + secret, acme.key, nil, nil},
			{"PUT", "/answers/" + secret, acme.key, map[string]string{"question": secret}, nil},
			{"PUT", "/answers/" + numberedID(2), acme.key, map[string][]string{"question": {secret}}, nil}},
		401: {{"GET", "/answers", secret, nil, nil}, {"GET", "/answers", acme.key + "x", nil, nil}, {"GET", "/answers", "", nil, nil}},
		403: {{"GET", "/answers", acme.scim, nil, nil}},
		404: {{"GET", "/" + secret, acme.key, nil, nil}, {"GET", "/documents/" + secret, acme.key, nil, nil}, {"GET", "/documents//" + secret, acme.key, nil, nil},
			{"GET", "/collections", acme.key, nil, nil}},
		405: {{"POST", "/documents/" + secret, acme.key, secret, nil}},
		415: {{"PUT", "/documents", acme.key, secret, map[string]string{"Content-Type": "text/" + secret}}},
	} {
		for _, c := range calls {
			if status == 404 && c.path == "/collections" {
				c.path = "/collections/" + unknownID + "?" + secret
			}
			do(c, status)
		}
	}
	keyID, revoked := a.newKey(acme.ID, team.NewKey{Kind: team.KindTeam, Name: "revoked"})
	if err := a.local.Teams.RevokeKey(t.Context(), acme.ID, keyID); err != nil {
		t.Fatal(err)
	}
	do(call{"GET", "/answers", revoked, nil, nil}, 401)
	do(call{"DELETE", "/answers/" + numberedID(1), acme.pat, nil, nil}, 204)
	do(call{"DELETE", "/collections/" + wiki, acme.key, nil, nil}, 204)
	a.drain()

	lines := map[string]int{}
	for scanner := bufio.NewScanner(strings.NewReader(a.log.String())); scanner.Scan(); {
		var line struct {
			Msg, RequestID, Method, Route string
			Status                        int
		}
		if err := json.Unmarshal(scanner.Bytes(), &line); err != nil {
			t.Fatalf("log line %q: %v", scanner.Text(), err)
		}
		if line.Msg != "request" || line.Method == "" || line.Status == 0 {
			t.Errorf("log line %s", scanner.Text())
		}
		lines[line.RequestID]++
	}
	for _, requestID := range sent {
		if lines[requestID] != 1 {
			t.Errorf("request %s has %d lines", requestID, lines[requestID])
		}
	}
	if len(lines) != len(sent) || lines["my.Request-1"] != 1 {
		t.Errorf("%d requests are logged, %d were sent", len(lines), len(sent))
	}
	for name, log := range map[string]string{"request": a.log.String(), "worker": workerLog.String()} {
		for _, s := range append(secrets, secretOf(revoked)) {
			if i := strings.Index(log, s); i >= 0 {
				t.Errorf("the %s log holds a secret: %s", name, log[max(i-200, 0):min(i+200, len(log))])
			}
		}
	}
}

// secretOf returns the secret part of a key's text.
func secretOf(key string) string { return key[strings.LastIndex(key, "_")+1:] }

func TestTheLevelOfALogLine(t *testing.T) {
	t.Parallel()
	gone, hangUp := context.WithCancel(t.Context())
	hangUp()
	for _, c := range []struct {
		name  string
		ctx   context.Context
		cause error
		want  slog.Level
	}{
		{"no failure", t.Context(), nil, slog.LevelInfo},
		{"the client has gone", gone, context.Canceled, slog.LevelInfo},
		{"changes met", t.Context(), fmt.Errorf("change a group: %w", table.ErrConflict), slog.LevelWarn},
		{"the store is down", t.Context(), table.ErrUnavailable, slog.LevelError},
		{"a fault", t.Context(), errors.New("a fault"), slog.LevelError},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := httpapi.LevelOf(c.ctx, c.cause); got != c.want {
				t.Errorf("level %s, want %s", got, c.want)
			}
		})
	}
}

func TestRequestIDs(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	for sent, echoed := range map[string]bool{
		"a": true, "A.b_c-1": true, strings.Repeat("x", 128): true, strings.Repeat("x", 129): false, "": false, "a b": false, "é": false, "a\tb": false, `"`: false,
	} {
		for _, c := range []call{{"GET", "/collections", acme.key, nil, nil}, {"GET", "/collections", "", nil, nil}, {"OPTIONS", "/answers", acme.key, nil, nil}, {"GET", "/x", acme.key, nil, nil}} {
			c.header = map[string]string{"X-Request-Id": sent}
			got := a.do(c).Header.Get("X-Request-Id")
			if (got == sent) != echoed || got == "" || !echoed && len(got) != 36 {
				t.Errorf("sent %q, got %q", sent, got)
			}
		}
	}
}
