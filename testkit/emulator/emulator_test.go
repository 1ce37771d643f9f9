package emulator_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"docent/testkit/emulator"
)

func TestServerEndsWhenItIsStopped(t *testing.T) {
	t.Parallel()
	for _, signal := range []string{"", "KILL"} {
		s, err := emulator.Start(t.Context(), emulator.Options{Program: "/bin/sleep", Arguments: []string{"600"}, Output: io.Discard, StopBy: signal})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Stop(); err != nil {
			t.Errorf("stopped by %q: %v", signal, err)
		}
	}
}

func TestReadyWaitsForTheAnswer(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	health := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if asked.Add(1) < 3 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer health.Close()
	if err := new(emulator.Server).Ready(t.Context(), health.URL); err != nil || asked.Load() != 3 {
		t.Errorf("%v after %d requests", err, asked.Load())
	}
}
