package app

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"docent/shared/logtest"
	"docent/shared/pending"
	"docent/shared/team"
	"docent/testkit/moto"
)

// inTrouble refuses three calls to AWS in ten, and cuts one.
var inTrouble = moto.Trouble{Refused: 0.3, Cut: 0.1, Late: 0.1, Delay: 5 * time.Millisecond}

// troubled is a process on AWS in trouble.
type troubled struct {
	t       *testing.T
	handler http.Handler
	key     string
}

// send sends a request until it is not refused for the trouble, and returns the first other status and reply. An unknown document may be one
// whose deletion was carried out and not acknowledged.
func (s *troubled) send(method, path string, body any) (status int, reply string) {
	s.t.Helper()
	encoded, err := json.Marshal(body)
	if err != nil {
		s.t.Fatal(err)
	}
	for refused := false; ; refused = true {
		r := httptest.NewRequestWithContext(s.t.Context(), method, "/v1"+path, strings.NewReader(string(encoded)))
		r.Header.Set("Authorization", "Bearer "+s.key)
		w := httptest.NewRecorder()
		s.handler.ServeHTTP(w, r)
		switch {
		case w.Code == http.StatusServiceUnavailable && w.Header().Get("Retry-After") != "":
			continue
		case w.Code == http.StatusNotFound && method == http.MethodDelete && refused:
			return http.StatusNoContent, ""
		}
		return w.Code, w.Body.String()
	}
}

func (s *troubled) must(status int, method, path string, body any, into any) {
	s.t.Helper()
	got, reply := s.send(method, path, body)
	if got != status {
		s.t.Fatalf("%s %s: %d, want %d: %s", method, path, got, status, reply)
	}
	if into != nil {
		if err := json.Unmarshal([]byte(reply), into); err != nil {
			s.t.Fatal(err)
		}
	}
}

// TestWhatIsAcknowledgedInTroubleIsDone has AWS refuse and cut a part of all calls while documents are put, replaced and deleted and
// questions asked. Each request is done or refused with a 503, and when the trouble is over, all that was acknowledged is there and done.
func TestWhatIsAcknowledgedInTroubleIsDone(t *testing.T) {
	t.Parallel()
	unsteady, err := moto.NewUnsteady(t.Context(), moto.Start(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unsteady.Close() })
	var clock jumpingClock
	m := newMotoAt(t, unsteady.URL, clock.Now)
	log := &logtest.Buffer{}
	logger := slog.New(slog.NewTextHandler(log, nil))
	p, err := openProcess(m.Config, Parts{}, logger)
	if err != nil {
		t.Fatal(err)
	}
	acme, _, err := p.teams.CreateTeam(t.Context(), "acme", "ada")
	if err != nil {
		t.Fatal(err)
	}
	_, key, err := p.teams.CreateKey(t.Context(), acme.ID, team.NewKey{Kind: team.KindTeam, Name: "test"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	var workers sync.WaitGroup
	p.work(ctx, &workers, workOptions{extend: extendFor, turn: p.tidy}, logger)
	t.Cleanup(func() {
		close(p.stopping)
		stop()
		workers.Wait()
		if t.Failed() {
			t.Logf("it logged: %.20000s", log)
		}
	})
	s := &troubled{t: t, handler: p.Handler(storedURL), key: key}
	var wiki struct{ ID string }
	s.must(201, "POST", "/collections", map[string]string{"name": "wiki", "description": "d"}, &wiki)

	unsteady.Make(inTrouble)
	texts, questions := map[string]string{}, []string{} // what documents contain, "" once deleted
	for n := range 6 {
		var put struct{ ID string }
		text := ""
		for version := range 2 {
			text = fmt.Sprintf("Page %d has version %d.", n, version)
			s.must(200, "PUT", "/documents", map[string]string{"collectionId": wiki.ID, "uri": fmt.Sprintf("https://wiki.test/%d", n), "title": "Page", "body": text}, &put)
		}
		if n%3 == 0 {
			s.must(204, "DELETE", "/documents/"+put.ID, nil, nil)
			text = ""
		}
		texts[put.ID] = text
		if n%5 == 0 {
			questions = append(questions, newID())
			s.must(204, "PUT", "/answers/"+questions[len(questions)-1], map[string]string{"question": "Which version has the page?"}, nil)
		}
	}

	unsteady.Make(moto.Trouble{})
	done := func(path, state string) bool {
		status, reply := s.send("GET", path, nil)
		if status != 200 || strings.Contains(reply, `"state":"failed"`) {
			t.Fatalf("%s: %d %s", path, status, reply)
		}
		return strings.Contains(reply, `"state":"`+state+`"`)
	}
	for id, text := range texts {
		if text == "" {
			s.must(404, "GET", "/documents/"+id, nil, nil)
			continue
		}
		for !done("/documents/"+id, "indexed") {
			sweepLater(t, p, &clock)
		}
		if _, reply := s.send("GET", "/documents/"+id, nil); !strings.Contains(reply, text) {
			t.Errorf("%s is not in %s", text, reply)
		}
	}
	for _, id := range questions {
		for !done("/answers/"+id, "complete") {
			sweepLater(t, p, &clock)
		}
	}
	if counts := unsteady.Counts(); counts["refused"] == 0 || counts["cut"] == 0 {
		t.Errorf("no trouble: %v", counts)
	} else {
		t.Log(counts)
	}
}

// sweepLater sends again what is pending for longer than its grace, after a moment for the workers.
func sweepLater(t *testing.T, p *process, clock *jumpingClock) {
	t.Helper()
	time.Sleep(50 * time.Millisecond)
	if off := time.Duration(clock.off.Load()); off < answerPatience/2 {
		clock.off.Store(int64(off + pending.Grace/20))
	}
	if _, err := p.sweeper.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
}
