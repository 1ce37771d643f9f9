package httpapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"docent/shared/apierr"
)

func TestBudgetBoundsWhatBodiesHold(t *testing.T) {
	t.Parallel()
	b := newBudget(1 << 20)
	large := make([]byte, freePart+600<<10)
	first, second, small := &lease{from: b}, &lease{from: b}, &lease{from: b}
	if _, err := io.ReadAll(leased{bytes.NewReader(large), first}); err != nil {
		t.Fatalf("the first large body: %v", err)
	}
	_, err := io.ReadAll(leased{bytes.NewReader(large), second})
	var refused *apierr.Error
	if !errors.As(err, &refused) || refused.Kind != apierr.Unavailable {
		t.Errorf("the second large body: %v", err)
	}
	if _, err := io.ReadAll(leased{bytes.NewReader(large[:freePart]), small}); err != nil {
		t.Errorf("a small body beside them: %v", err)
	}
	first.end()
	second.end()
	small.end()
	if left := b.left.Load(); left != 1<<20 {
		t.Errorf("%d bytes left after all have ended", left)
	}
}

func TestBudgetIsWholeAfterARace(t *testing.T) {
	t.Parallel()
	b := newBudget(1 << 20)
	var readers sync.WaitGroup
	for range 32 {
		readers.Go(func() {
			for range 20 {
				l := &lease{from: b}
				_, _ = io.ReadAll(leased{bytes.NewReader(make([]byte, 200<<10)), l})
				if l.held > 1<<20 {
					t.Errorf("a lease holds %d bytes", l.held)
				}
				l.end()
			}
		})
	}
	readers.Wait()
	if left := b.left.Load(); left != 1<<20 {
		t.Errorf("%d bytes left", left)
	}
}

// stuck is a reader that takes nothing until it is let go.
type stuck struct {
	*httptest.ResponseRecorder
	once          *sync.Once
	reached, free chan struct{}
}

func (w stuck) Write(p []byte) (int, error) {
	w.once.Do(func() { close(w.reached) })
	<-w.free
	return w.ResponseRecorder.Write(p)
}

// TestRepliesToSlowReadersAreBounded: what does not fit beside them is refused
// whole, and small replies pass.
func TestRepliesToSlowReadersAreBounded(t *testing.T) {
	t.Parallel()
	m := &mux{ServeMux: http.NewServeMux(), bodies: newBudget(bodyBudget), replies: newBudget(1 << 20)}
	write := func(size int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("ETag", `"1"`)
			w.WriteHeader(http.StatusOK)
			_, _ = w.Write(make([]byte, size))
			_, _ = w.Write([]byte("end"))
		}
	}
	m.ServeMux.HandleFunc("POST /webhooks/github/large", write(freePart+800<<10))
	m.ServeMux.HandleFunc("POST /webhooks/github/small", write(freePart))
	m.ServeMux.HandleFunc("POST /webhooks/github/broken", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusOK)
		panic("broken")
	})
	handler := Services{Now: time.Now, Log: slog.New(slog.DiscardHandler)}.edge(m)
	call := func(w http.ResponseWriter, name string) {
		handler.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/webhooks/github/"+name, http.NoBody))
	}
	slow := stuck{httptest.NewRecorder(), &sync.Once{}, make(chan struct{}), make(chan struct{})}
	var reading sync.WaitGroup
	reading.Go(func() { call(slow, "large") })
	<-slow.reached
	for name, want := range map[string]int{"large": http.StatusServiceUnavailable, "small": http.StatusOK, "broken": http.StatusInternalServerError} {
		w := httptest.NewRecorder()
		call(w, name)
		if w.Code != want || w.Header().Get("X-Request-Id") == "" || (w.Header().Get("ETag") != "") != (want == http.StatusOK) {
			t.Errorf("%s beside a slow reader: %d %v", name, w.Code, w.Header())
		}
		if want != http.StatusOK && (!json.Valid(w.Body.Bytes()) || w.Body.Len() > 1<<10) {
			t.Errorf("%s: %.300q", name, w.Body)
		}
	}
	close(slow.free)
	reading.Wait()
	if left := m.replies.left.Load(); left != 1<<20 {
		t.Errorf("%d bytes left", left)
	}
}
