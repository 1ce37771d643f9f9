package httpapi

import (
	"bytes"
	"errors"
	"io"
	"sync"
	"testing"

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
