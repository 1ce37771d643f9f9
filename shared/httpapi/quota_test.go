package httpapi_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestAThousandQuestionsADay: of 1,200 parallel questions exactly 1,000 are accepted. They stay
// accepted, and the count starts again on the next Pacific day.
func TestAThousandQuestionsADay(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme, rival := a.newTenant("acme"), a.newTenant("rival")
	accepted, refused := -1, -1
	count := map[int]int{}
	asks := func(n int) call {
		return call{"PUT", "/answers/" + numberedID(n), acme.key, map[string]string{"question": fmt.Sprint(n)}, nil}
	}
	for n, reply := range a.atOnce(1200, asks) {
		for reply.StatusCode == http.StatusServiceUnavailable { // it waited too long for its turn, on a busy machine
			reply = a.do(asks(n))
		}
		switch count[reply.StatusCode]++; reply.StatusCode {
		case http.StatusNoContent:
			accepted = n
		case http.StatusTooManyRequests:
			refused = n
			wantExceeded(t, reply, "answers-day", "Daily question quota exceeded")
		default:
			t.Fatalf("status %d: %s", reply.StatusCode, reply.body)
		}
	}
	if count[204] != 1000 || count[429] != 200 {
		t.Fatalf("replies by status: %v, want 1000 of 204 and 200 of 429", count)
	}
	again := func(n int) response { return a.ask(acme.key, numberedID(n), fmt.Sprint(n)) }
	again(accepted).want(t, 204)
	a.refused(call{"PUT", "/answers/" + numberedID(accepted), acme.key, map[string]string{"question": marker}, nil}, 409, "answer-conflict")
	a.do(call{"DELETE", "/answers/" + numberedID(accepted), acme.key, nil, nil}).want(t, 204)
	again(refused).wantCode(t, 429, "quota-exceeded") // deleting does not reduce the count
	again(accepted).wantCode(t, 409, "answer-conflict")
	wantExceeded(t, a.ask(acme.pat, numberedID(refused), "q"), "answers-day", "Daily question quota exceeded")
	for _, stream := range []bool{false, true} {
		wantNoRetry(t, a.do(call{"POST", "/chat/completions", acme.key, map[string]any{
			"model": "docent", "messages": []any{map[string]any{"role": "user", "content": "Who?"}}, "stream": stream}, nil}), "answers-day", "Daily question quota exceeded")
		wantNoRetry(t, a.do(call{"POST", "/responses", acme.key, map[string]any{"model": "docent", "input": "Who?", "stream": stream}, nil}), "answers-day", "Daily question quota exceeded")
	}
	a.ask(rival.key, numberedID(5000), "q").want(t, 204)
	a.do(call{"GET", "/answers/" + numberedID(refused), acme.key, nil, nil}).wantCode(t, 404, "not-found")

	a.clock.Advance(20*time.Hour - time.Second) // 23:59:59 on the Pacific coast
	reply := again(refused).wantCode(t, 429, "quota-exceeded")
	if got := reply.Header.Get("Retry-After"); got != "1" {
		t.Errorf("Retry-After %q a second before midnight", got)
	}
	a.clock.Advance(time.Second)
	again(refused).want(t, 204)
	if got := a.used(acme.key, numberedID(refused), fmt.Sprint(refused)); got != 1 {
		t.Errorf("%d questions counted on the next day, want 1", got)
	}
}

// wantNoRetry checks the reply of a quota that is used up to a client of OpenAI's API, which would repeat the request within seconds.
func wantNoRetry(t *testing.T, reply response, name, title string) {
	t.Helper()
	wantExceeded(t, reply, name, title)
	if got := reply.Header.Get("X-Should-Retry"); got != "false" {
		t.Errorf("X-Should-Retry %q, want false", got)
	}
}

// wantExceeded checks the reply of a quota that is used up at 12:00 UTC on 21 November.
func wantExceeded(t *testing.T, reply response, name, title string) {
	t.Helper()
	reply.wantCode(t, 429, "quota-exceeded")
	for header, want := range map[string]string{
		"Retry-After": "72000", "X-RateLimit-Limit": "1000", "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1795334400",
	} {
		if got := reply.Header.Get(header); got != want {
			t.Errorf("%s %q, want %q", header, got, want)
		}
	}
	if got, want := reply.Header.Get("RateLimit"), `"`+name+`";r=0;t=72000`; !strings.Contains(got, want) {
		t.Errorf("RateLimit %q, want %q", got, want)
	}
	if got, want := reply.Header.Get("RateLimit-Policy"), `"`+name+`";q=1000;w=86400`; !strings.Contains(got, want) {
		t.Errorf("RateLimit-Policy %q, want %q", got, want)
	}
	for member, want := range map[string]string{"title": title, "resetsAt": "2026-11-22T08:00:00.000Z",
		"type": "https://iana.org/assignments/http-problem-types#quota-exceeded"} {
		if got := reply.text(t, member); got != want {
			t.Errorf("%s %q, want %q", member, got, want)
		}
	}
	if !strings.Contains(string(reply.body), `"violated-policies":["`+name+`"]`) {
		t.Errorf("violated-policies: %s", reply.body)
	}
}

func TestOneQuestionFiftyTimesAtOnce(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	for _, reply := range a.atOnce(50, func(int) call {
		return call{"PUT", "/answers/" + numberedID(1), acme.key, map[string]string{"question": "Who?"}, nil}
	}) {
		reply.want(t, 204)
	}
	if got := a.used(acme.key, numberedID(1), "Who?"); got != 1 {
		t.Errorf("%d questions counted, want 1", got)
	}
	if listed := a.members(call{"GET", "/answers", acme.key, nil, nil}, "question"); len(listed) != 1 {
		t.Errorf("listed %v", listed)
	}
}

func TestAThousandCallsADayWithAPersonalKey(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	second := a.newMember(acme)
	list := call{"GET", "/collections", acme.pat, nil, nil}
	kinds := []struct {
		call   call
		status int
	}{ // errors count as well
		{list, 200}, {call{"GET", "/nothing", acme.pat, nil, nil}, 404}, {call{"PUT", "/collections", acme.pat, nil, nil}, 405},
		{call{"POST", "/collections", acme.pat, "{", nil}, 400}, {call{"HEAD", "/collections", acme.pat, nil, nil}, 200},
	}
	for n := range 1000 {
		kind := kinds[n%len(kinds)]
		reply := a.do(kind.call).want(t, kind.status)
		if got, want := reply.Header.Get("X-RateLimit-Remaining"), fmt.Sprint(999-n); got != want {
			t.Fatalf("call %d: X-RateLimit-Remaining %q, want %q", n+1, got, want)
		}
		if n%100 == 0 { // neither is counted
			if options := a.do(call{"OPTIONS", "/collections", acme.pat, nil, nil}).want(t, 204); options.Header.Get("RateLimit") != "" {
				t.Errorf("OPTIONS has RateLimit %q", options.Header.Get("RateLimit"))
			}
			a.do(call{"GET", "/collections", acme.pat + "x", nil, nil}).wantCode(t, 401, "unauthorized")
		}
	}
	for range 3 {
		wantExceeded(t, a.do(list), "pat-day", "Daily call quota exceeded")
	}
	wantNoRetry(t, a.do(call{"GET", "/models", acme.pat, nil, nil}), "pat-day", "Daily call quota exceeded")
	a.do(call{"OPTIONS", "/collections", acme.pat, nil, nil}).want(t, 204)
	a.do(list.as(second)).want(t, 200)
	a.do(list.as(acme.key)).want(t, 200)
	a.clock.Advance(20 * time.Hour)
	if got := a.do(list).want(t, 200).Header.Get("X-RateLimit-Remaining"); got != "999" {
		t.Errorf("X-RateLimit-Remaining %q on the next day", got)
	}
}

// TestQuotaHeaders: a quota is reported wherever it applies, and nowhere else.
func TestQuotaHeaders(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	for _, c := range operations {
		for kind, key := range map[string]string{"personal": acme.pat, "team": acme.key} {
			var want []string
			if kind == "personal" {
				want = append(want, "pat-day")
			}
			if c.method == "PUT" && strings.HasPrefix(c.path, "/answers/") {
				want = append(want, "answers-day")
			}
			reply := a.do(c.as(key))
			policies, limits := reply.Header.Get("RateLimit-Policy"), reply.Header.Get("RateLimit")
			if strings.Count(policies, ";q=1000;w=86400") != len(want) || strings.Count(limits, ";t=72000") != len(want) {
				t.Errorf("%s %s with a %s key: RateLimit-Policy %q, RateLimit %q, want %v", c.method, c.path, kind, policies, limits, want)
			}
			for _, name := range want {
				if !strings.Contains(policies, `"`+name+`"`) || !strings.Contains(limits, `"`+name+`"`) {
					t.Errorf("%s %s with a %s key: RateLimit-Policy %q, RateLimit %q, want %v", c.method, c.path, kind, policies, limits, want)
				}
			}
			if (reply.Header.Get("X-RateLimit-Reset") == "1795334400") != (len(want) > 0) {
				t.Errorf("%s %s with a %s key: X-RateLimit-Reset %q", c.method, c.path, kind, reply.Header.Get("X-RateLimit-Reset"))
			}
		}
	}
}
