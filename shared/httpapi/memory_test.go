package httpapi

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"docent/shared/apierr"
	"docent/shared/logtest"
	"docent/shared/memory"
	"docent/shared/table"
	"docent/shared/team"
)

// heldBy returns the number of units taken from all pools.
func (s *shares) heldBy() int64 {
	held := int64(0)
	for _, p := range []*memory.Pool{s.small, s.bodies, s.replies, s.keyless, s.room.Places, s.room.Turns, s.room.Writes, s.room.Bytes, s.keylessRoom.Places} {
		held += p.Held()
	}
	return held
}

// exchange handles one request as the edge does after authentication, and returns the reply.
func exchange(m *mux, log *slog.Logger, teamID, pattern string, w http.ResponseWriter, body io.Reader, header http.Header) {
	method, path, _ := strings.Cut(pattern, " ")
	r := httptest.NewRequest(method, path, body)
	for name, values := range header {
		r.Header[name] = values
	}
	req := &request{id: "id", account: m.teamAccount(teamID), route: pattern}
	r = r.WithContext(context.WithValue(r.Context(), requestKey{}, req))
	reply := &reply{ResponseWriter: w, request: req, r: r}
	reply.charge(req.account)
	defer reply.end()
	m.ServeHTTP(reply, r)
	reply.send()
	Services{Log: log, Now: time.Now}.log(r, reply, team.Principal{TeamID: teamID}, table.Cost{})
}

// serving returns a mux with handlers by pattern.
func serving(handlers map[string]http.HandlerFunc) *mux {
	m := newMux(NewRoom())
	for pattern, handler := range handlers {
		m.HandleFunc(pattern, handler)
	}
	return m
}

func zipped(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestEveryPathGivesItsMemoryBack: however a request ends, all its memory is returned.
func TestEveryPathGivesItsMemoryBack(t *testing.T) {
	t.Parallel()
	large := `{"a":"` + strings.Repeat("x", 1<<20) + `"}`
	m := serving(map[string]http.HandlerFunc{
		"PUT /answers/a": func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(w, r.Body)
		},
		"PUT /answers/panics":  func(http.ResponseWriter, *http.Request) { panic("broken") },
		"PUT /answers/reserve": func(_ http.ResponseWriter, r *http.Request) { _ = memory.Reserve(r.Context(), 50<<20) },
		"PUT /answers/yields":  func(_ http.ResponseWriter, r *http.Request) { memory.Yield(r.Context()) },
		"PUT /answers/writes":  func(_ http.ResponseWriter, r *http.Request) { _ = memory.WaitWrites(r.Context()) },
	})
	gzipped := http.Header{"Content-Encoding": {"gzip"}}
	for name, tt := range map[string]struct {
		path   string
		body   io.Reader
		header http.Header
		status int
	}{
		"small":                   {"a", strings.NewReader(`{}`), nil, 200},
		"large":                   {"a", strings.NewReader(large), nil, 200},
		"large of unknown length": {"a", io.MultiReader(strings.NewReader(large)), nil, 200},
		"gzipped":                 {"a", bytes.NewReader(zipped(t, large)), gzipped, 200},
		"damaged":                 {"a", strings.NewReader(large), gzipped, 400},
		"too large":               {"a", strings.NewReader(strings.Repeat(" ", MaxBody+1)), nil, 413},
		"a bomb":                  {"a", bytes.NewReader(zipped(t, strings.Repeat(" ", MaxBody+1))), gzipped, 413},
		"many values":             {"a", strings.NewReader("[" + strings.Repeat("{},", 1<<20)), nil, 400},
		"many values, gzipped":    {"a", bytes.NewReader(zipped(t, "["+strings.Repeat("{},", 1<<20))), gzipped, 400},
		"cut off":                 {"a", io.MultiReader(strings.NewReader(large), failing{}), nil, 400},
		"another media type":      {"a", strings.NewReader(large), http.Header{"Content-Type": {"text/plain"}}, 415},
		"another coding":          {"a", strings.NewReader(large), http.Header{"Content-Encoding": {"br"}}, 415},
		"a panic":                 {"panics", strings.NewReader(large), nil, 0},
		"reserved":                {"reserve", strings.NewReader(large), nil, 0},
		"without its turn":        {"yields", strings.NewReader(large), nil, 0},
		"among those who write":   {"writes", strings.NewReader(large), nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			w := httptest.NewRecorder()
			func() {
				defer func() { _ = recover() }()
				exchange(m, slog.New(slog.DiscardHandler), "team", "PUT /answers/"+tt.path, w, tt.body, tt.header)
			}()
			if tt.status != 0 && w.Code != tt.status {
				t.Errorf("status %d, want %d: %.200s", w.Code, tt.status, w.Body)
			}
			if held := m.heldBy(); held != 0 {
				t.Errorf("%d are still taken", held)
			}
		})
	}
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errors.New("cut") }

// TestSmallTextsThatDecodeLarge: they are refused before anything is decoded, at the exact bound.
func TestSmallTextsThatDecodeLarge(t *testing.T) {
	t.Parallel()
	handled := 0
	m := serving(map[string]http.HandlerFunc{"PUT /answers/a": func(w http.ResponseWriter, _ *http.Request) { handled++ }})
	list := func(values int) string { return `{"a":[` + strings.Repeat("{},", values-4) + `{}]}` } // the object, the name, the list
	members := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `,"%d":1`, i)
		}
		return "{" + b.String()[1:] + "}"
	}
	for _, tt := range []struct {
		name, text string
		ok         bool
	}{
		{"values", list(textLimits.Values), true},
		{"one value more", list(textLimits.Values + 1), false},
		{"members", members(textLimits.Members), true},
		{"one member more", members(textLimits.Members + 1), false},
		{"levels", strings.Repeat("[", 64) + strings.Repeat("]", 64), true},
		{"one level more", strings.Repeat("[", 65) + strings.Repeat("]", 65), false},
		{"digits", strings.Repeat("1", textLimits.Literal), true},
		{"one digit more", strings.Repeat("1", textLimits.Literal+1), false},
		{"the request of the report", `{"question":"x","a":[` + strings.Repeat("{},", 3_400_000) + "{}]}", false},
	} {
		for coding, body := range map[string][]byte{"": []byte(tt.text), "gzip": zipped(t, tt.text)} {
			handled = 0
			w := httptest.NewRecorder()
			header := http.Header{}
			if coding != "" {
				header.Set("Content-Encoding", coding)
			}
			exchange(m, slog.New(slog.DiscardHandler), "team", "PUT /answers/a", w, bytes.NewReader(body), header)
			if (handled == 1) != tt.ok || !tt.ok && (w.Code != 400 || !strings.Contains(w.Body.String(), apierr.CodeInvalidRequest)) {
				t.Errorf("%s %s: handled %d times, %d %.200s", tt.name, coding, handled, w.Code, w.Body)
			}
		}
	}
}

// stuck is a client that reads nothing until it is released.
type stuck struct {
	*httptest.ResponseRecorder
	free <-chan struct{}
}

func (w stuck) Write(p []byte) (int, error) {
	<-w.free
	return w.ResponseRecorder.Write(p)
}

// TestOneTeamsReadersLeaveRoom: one team's clients do not read their replies. The team's next
// large reply is refused, but small replies and another team's large ones are sent. The refusal
// is not an error in the log.
func TestOneTeamsReadersLeaveRoom(t *testing.T) {
	t.Parallel()
	m := serving(map[string]http.HandlerFunc{
		"GET /answers/large": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("ETag", `"1"`)
			_, _ = w.Write(make([]byte, 10<<20))
			_, _ = w.Write([]byte("end"))
		},
		"GET /answers/small": func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, freePart)) },
	})
	synctest.Test(t, func(t *testing.T) {
		var text logtest.Buffer
		log := slog.New(slog.NewJSONHandler(&text, nil))
		free := make(chan struct{})
		var reading sync.WaitGroup
		for range 7 {
			reading.Go(func() {
				exchange(m, log, "greedy", "GET /answers/large", stuck{httptest.NewRecorder(), free}, nil, nil)
			})
		}
		synctest.Wait()
		for _, tt := range []struct {
			team, path string
			want       int
		}{{"greedy", "large", 503}, {"greedy", "small", 200}, {"quiet", "large", 200}, {"quiet", "small", 200}} {
			w := httptest.NewRecorder()
			exchange(m, log, tt.team, "GET /answers/"+tt.path, w, nil, nil)
			if w.Code != tt.want {
				t.Errorf("%s of the team %s: %d, want %d", tt.path, tt.team, w.Code, tt.want)
			}
			if tt.want == 503 && (!json.Valid(w.Body.Bytes()) || w.Header().Get("Retry-After") == "" || w.Header().Get("ETag") != "") {
				t.Errorf("%s of the team %s: %v %.200q", tt.path, tt.team, w.Header(), w.Body)
			}
		}
		close(free)
		reading.Wait()
		if strings.Contains(text.String(), `"ERROR"`) || !strings.Contains(text.String(), `"status":503`) {
			t.Errorf("log:\n%s", text.String())
		}
	})
	if held := m.heldBy(); held != 0 {
		t.Errorf("%d are still taken", held)
	}
}

// TestOneTeamsSendersLeaveRoom: one team's clients announce large bodies and stall. Another team's
// large body is received; the team's own next one waits and is refused.
func TestOneTeamsSendersLeaveRoom(t *testing.T) {
	t.Parallel()
	m := serving(map[string]http.HandlerFunc{"PUT /answers/a": func(http.ResponseWriter, *http.Request) {}})
	synctest.Test(t, func(t *testing.T) {
		log := slog.New(slog.DiscardHandler)
		var sending sync.WaitGroup
		var pipes []*io.PipeWriter
		for range 8 {
			from, to := io.Pipe()
			pipes = append(pipes, to)
			sending.Go(func() {
				exchange(m, log, "greedy", "PUT /answers/a", httptest.NewRecorder(), from, nil)
			})
			go func() { _, _ = to.Write(bytes.Repeat([]byte(" "), freePart+1)) }()
		}
		synctest.Wait()
		body := `{"a":"` + strings.Repeat("x", 1<<20) + `"}`
		for team, want := range map[string]int{"quiet": 200, "greedy": 503} {
			w := httptest.NewRecorder()
			began := time.Now()
			exchange(m, log, team, "PUT /answers/a", w, strings.NewReader(strings.Repeat(" ", 8<<20)+body), nil)
			if w.Code != want && !(want == 200 && w.Code == 0) || want == 200 && time.Since(began) != 0 {
				t.Errorf("team %s: %d after %v", team, w.Code, time.Since(began))
			}
		}
		for _, to := range pipes {
			to.Close()
		}
		sending.Wait()
	})
	if held := m.heldBy(); held != 0 {
		t.Errorf("%d are still taken", held)
	}
}

// TestKeylessSendersHaveAShareOfTheirOwn: they take no memory from teams.
func TestKeylessSendersHaveAShareOfTheirOwn(t *testing.T) {
	t.Parallel()
	s := newShares(NewRoom())
	r := httptest.NewRequest(http.MethodPost, "/webhooks/github/x", http.NoBody)
	one, other := s.addressAccount(r), s.addressAccount(r)
	r.RemoteAddr = "203.0.113.9:1"
	elsewhere := s.addressAccount(r)
	greedy := one.large()
	if err := greedy.Try(keylessBytes); err != nil {
		t.Fatal(err)
	}
	if held := greedy.Held(); held > keylessBytes*4/5 || other.large().Try(4<<20) == nil {
		t.Errorf("one address holds %d MB, and more can be had", held>>20)
	}
	if err := elsewhere.large().Try(1 << 20); err != nil {
		t.Errorf("another address: %v", err)
	}
	if err := s.teamAccount("team").large().Try(MaxBody); err != nil {
		t.Errorf("a team: %v", err)
	}
}

func TestAddressesOfOneNetworkAreOne(t *testing.T) {
	t.Parallel()
	s := newShares(NewRoom())
	owner := func(address string) string {
		r := httptest.NewRequest(http.MethodPost, "/", http.NoBody)
		r.RemoteAddr = address
		return s.addressAccount(r).owner
	}
	if owner("[2001:db8::1]:1") != owner("[2001:db8::ffff:1]:2") || owner("[2001:db8::1]:1") == owner("[2001:db8:0:1::1]:1") {
		t.Error("addresses of IPv6 do not count by their networks of 64 bits")
	}
	if owner("192.0.2.1:1") != owner("192.0.2.1:2") || owner("192.0.2.1:1") == owner("192.0.2.2:1") {
		t.Error("IPv4 addresses do not count separately")
	}
}

// TestPace: a client's time grows with the bytes that it has moved, and shrinks only while the
// server waits for it.
func TestPace(t *testing.T) {
	t.Parallel()
	clock := newPaceClock()
	p := newPace(clock.now, clock.set)
	r := pacedReader{clock, p}
	for _, step := range []struct {
		takes, idle time.Duration // of the read, and before it
		read        int
		want        time.Duration // from the start of the read to its deadline
	}{
		{0, 0, leastRate, grace},
		{0, time.Hour, leastRate, grace + time.Second},
		{5 * time.Second, 0, leastRate / 2, grace + 2*time.Second},
		{0, time.Hour, 1, grace - 2500*time.Millisecond},
	} {
		clock.at, clock.takes = clock.at.Add(step.idle), step.takes
		begin := clock.at
		if n, err := r.Read(make([]byte, step.read)); err != nil || n != step.read {
			t.Fatal(n, err)
		}
		if got := clock.deadline.Sub(begin); got != step.want {
			t.Errorf("a read with %d bytes moved has %v, want %v", p.moved, got, step.want)
		}
	}
	clock.takes = p.left() - time.Duration(1)
	if _, err := r.Read(nil); err != nil || p.late() {
		t.Error("it is late before its deadline", err)
	}
	clock.takes = 1
	if _, err := r.Read(nil); err != nil || !p.late() {
		t.Error("it is not late at its deadline", err)
	}
}

// TestARefusedBodyMayComeSlowly: it may be slower than the pace if every read returns something
// in time, but not forever.
func TestARefusedBodyMayComeSlowly(t *testing.T) {
	t.Parallel()
	clock := newPaceClock()
	r := discardReader{pacedReader{clock, newPace(clock.now, clock.set)}}
	clock.takes = grace - time.Second
	for range int(discardTime/clock.takes) + 1 {
		if _, err := r.Read(make([]byte, 1)); err != nil {
			t.Fatalf("after %v: %v", r.waited, err)
		}
		if got := clock.deadline.Sub(clock.at); got != time.Second {
			t.Fatalf("%v are left at the end of a read, want 1s", got)
		}
	}
	if _, err := r.Read(make([]byte, 1)); err == nil {
		t.Errorf("it may still come after %v", r.waited)
	}
}

// paceClock is a source of zeros whose reads take a time that the test sets.
type paceClock struct {
	zeros
	at, deadline time.Time
	takes        time.Duration
}

func newPaceClock() *paceClock { return &paceClock{at: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)} }

func (c *paceClock) now() time.Time             { return c.at }
func (c *paceClock) set(to time.Time) error     { c.deadline = to; return nil }
func (c *paceClock) Read(p []byte) (int, error) { c.at = c.at.Add(c.takes); return c.zeros.Read(p) }

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// TestBusyTeamsLeaveTheProcessorsToAQuietOne: however many teams are busy, few of their requests are handled at a
// time, and a team without a request finds a place at once.
func TestBusyTeamsLeaveTheProcessorsToAQuietOne(t *testing.T) {
	t.Parallel()
	const busyTeams = 8
	s := newShares(NewRoom())
	for request := range 10 * busyTeams {
		_ = s.room.Places.Lease(fmt.Sprint("busy", request%busyTeams)).Try(1) // refused at some time
	}
	if held := s.room.Places.Held(); held > max(places(), busyTeams*placesEach) {
		t.Errorf("%d requests of busy teams are handled at a time, with %d places", held, places())
	}
	if err := s.room.Places.Lease("quiet").Try(1); err != nil {
		t.Error("a quiet team found no place:", err)
	}
}

// TestBusyTeamsLeaveMemoryToAQuietOne: a quiet team's requests do not wait for the memory of others.
func TestBusyTeamsLeaveMemoryToAQuietOne(t *testing.T) {
	t.Parallel()
	s := newShares(NewRoom())
	for name, pool := range map[string]*memory.Pool{"bodies": s.bodies, "replies": s.replies, "handling": s.room.Bytes} {
		for n := range 64 {
			for pool.Lease(fmt.Sprint("busy", n%8)).Try(1<<20) == nil {
			}
			for pool.Lease(fmt.Sprint("busy", n%8)).Try(1<<10) == nil {
			}
		}
		if err := pool.Lease("quiet").Try(smallBytesEach / 2); err != nil {
			t.Errorf("%s: a quiet team found no memory: %v", name, err)
		}
	}
}
