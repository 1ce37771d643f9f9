package app

import (
	"log/slog"
	"testing"
)

func TestAFunctionKeepsSegmentsInAQuarterOfItsMemory(t *testing.T) {
	t.Parallel()
	for megabytes, want := range map[int]int64{0: 0, 512: 128 << 20, 1024: 256 << 20} {
		f := joinOnAWS(Config{Memory: megabytes, Engines: &Engines{}}, Parts{}, slog.New(slog.DiscardHandler))
		if got := f.index.CacheBytes; got != want {
			t.Errorf("%d MB: %d bytes, want %d", megabytes, got, want)
		}
	}
}
