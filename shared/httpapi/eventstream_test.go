package httpapi_test

import (
	"encoding/json"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"docent/shared/httpapi"
)

// timedWriter notes when it is written to.
type timedWriter struct {
	*httptest.ResponseRecorder
	begun time.Time
	at    []time.Duration
}

// Write implements http.ResponseWriter.
func (w *timedWriter) Write(text []byte) (int, error) {
	w.at = append(w.at, time.Since(w.begun))
	return w.ResponseRecorder.Write(text)
}

// TestAnEventIsOneLineForEveryClient: also for those that end lines at more than line feeds.
func TestAnEventIsOneLineForEveryClient(t *testing.T) {
	t.Parallel()
	for name, r := range map[string]rune{"line feed": '\n', "return": '\r', "vertical tab": '\v', "form feed": '\f', "file separator": 0x1c, "group separator": 0x1d,
		"record separator": 0x1e, "next line": 0x85, "line separator": 0x2028, "paragraph separator": 0x2029} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := httptest.NewRecorder()
			send, end := httpapi.NewEventStream(w, nil)
			defer end()
			want := "one" + string(r) + "two"
			send("", "", want)
			var got string
			data := strings.TrimSuffix(strings.TrimPrefix(w.Body.String(), "data: "), "\n\n")
			if err := json.Unmarshal([]byte(data), &got); err != nil || got != want || strings.ContainsRune(data, r) {
				t.Errorf("data %q, %v", data, err)
			}
		})
	}
}

// TestNoStreamIsSilentForLong: the comment comes 10 s after the last event, whenever that was.
func TestNoStreamIsSilentForLong(t *testing.T) {
	t.Parallel()
	for _, sent := range []time.Duration{0, time.Second, 9 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			w := &timedWriter{httptest.NewRecorder(), time.Now(), nil}
			send, end := httpapi.NewEventStream(w, nil)
			time.Sleep(sent)
			send("a", "", 1)
			time.Sleep(11 * time.Second)
			end()
			synctest.Wait()
			if got, want := w.Body.String(), "event: a\ndata: 1\n\n:\n\n"; got != want || !slices.Equal(w.at, []time.Duration{sent, sent + 10*time.Second}) {
				t.Errorf("%q at %v", got, w.at)
			}
		})
	}
}

// TestAQuietStreamIsKeptOpen: a comment comes every 10 s in which nothing else was sent, and none after the end.
func TestAQuietStreamIsKeptOpen(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := httptest.NewRecorder()
		send, end := httpapi.NewEventStream(w, nil)
		time.Sleep(9 * time.Second)
		send("a", "1", 1)
		time.Sleep(32 * time.Second)
		end()
		end()
		send("b", "", 2)
		time.Sleep(time.Minute)
		synctest.Wait()
		if got, want := w.Body.String(), "event: a\nid: 1\ndata: 1\n\n:\n\n:\n\n:\n\n"; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	})
}

// TestAStreamEndsWithItsKey: at the next check, with the event that says why, and nothing after it.
func TestAStreamEndsWithItsKey(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := httptest.NewRecorder()
		revoked := time.Now().Add(7 * time.Second)
		send, end := httpapi.NewEventStream(w, func() []byte {
			if time.Now().Before(revoked) {
				return nil
			}
			return []byte("event: error\n\n")
		})
		time.Sleep(9 * time.Second)
		send("a", "", 1)
		time.Sleep(3 * time.Second) // it is checked after 1, 6 and 11 s
		send("b", "", 2)
		time.Sleep(time.Minute)
		end()
		if got, want := w.Body.String(), "event: a\ndata: 1\n\nevent: error\n\n"; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	})
}

// TestAStreamIsCheckedBeforeItSendsText: once in a second, also between the checks of a quiet stream.
func TestAStreamIsCheckedBeforeItSendsText(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := httptest.NewRecorder()
		begun := time.Now()
		var checks []time.Duration
		send, beforeText, end := httpapi.NewCheckedStream(w, func() []byte {
			checks = append(checks, time.Since(begun))
			if time.Since(begun) < 9*time.Second {
				return nil
			}
			return []byte("event: error\n\n")
		})
		text := func(data int) {
			beforeText()
			send("a", "", data)
		}
		text(1)
		time.Sleep(2 * time.Second) // it is checked after 1 s
		text(2)
		time.Sleep(500 * time.Millisecond)
		text(3)
		time.Sleep(6600 * time.Millisecond) // and after 6
		text(4)
		time.Sleep(time.Minute)
		text(5)
		end()
		text(6)
		const want = "event: a\ndata: 1\n\nevent: a\ndata: 2\n\nevent: a\ndata: 3\n\nevent: error\n\n"
		if got := w.Body.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if want := []time.Duration{time.Second, 2 * time.Second, 6 * time.Second, 9100 * time.Millisecond}; !slices.Equal(checks, want) {
			t.Errorf("checks after %v, want %v", checks, want)
		}
	})
}

// TestASlowCheckHoldsUpFewParts: of a text whose parts come every 100 ms. Each is sent within 5 s of the start of a check.
func TestASlowCheckHoldsUpFewParts(t *testing.T) {
	t.Parallel()
	for takes, want := range map[time.Duration]int{0: 0, 2 * time.Second: 2, 6 * time.Second: 20} {
		t.Run(takes.String(), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var mu sync.Mutex
				checked := time.Now() // when the last check began that has ended
				_, beforeText, end := httpapi.NewCheckedStream(httptest.NewRecorder(), func() []byte {
					begun := time.Now()
					time.Sleep(takes)
					mu.Lock()
					defer mu.Unlock()
					if begun.After(checked) {
						checked = begun
					}
					return nil
				})
				defer end()
				time.Sleep(time.Second)
				held := 0
				for range 20 {
					time.Sleep(100 * time.Millisecond)
					came := time.Now()
					beforeText()
					if time.Since(came) > 0 {
						held++
					}
					mu.Lock()
					if old := time.Since(checked); old > max(takes, 5*time.Second) {
						t.Errorf("text is sent %s after a check", old)
					}
					mu.Unlock()
				}
				if held != want {
					t.Errorf("%d parts were held up, want %d", held, want)
				}
			})
		})
	}
}
