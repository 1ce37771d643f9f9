package moving

import (
	"context"
	"fmt"
	"iter"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"docent/shared/blob"
)

// largeObjects is a store with objects of a size that they only claim. It counts the bytes that its
// reader holds: from the start of Get until put is called or, with compared, until Get returns.
type largeObjects struct {
	blob.Store
	sizes    []int64
	compared bool

	mu         sync.Mutex
	held, most int64
}

// List implements blob.Store.
func (s *largeObjects) List(context.Context, string) iter.Seq2[blob.Info, error] {
	return func(yield func(blob.Info, error) bool) {
		for n, size := range s.sizes {
			if !yield(blob.Info{Name: fmt.Sprintf("%02d", n), Size: size}, nil) {
				return
			}
		}
	}
}

func (s *largeObjects) hold(name string, sign int64) {
	var n int
	if _, err := fmt.Sscan(name, &n); err != nil {
		panic(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held += sign * s.sizes[n]
	s.most = max(s.most, s.held)
}

// Get implements blob.Store. It takes a second of the test's clock.
func (s *largeObjects) Get(_ context.Context, name string) ([]byte, error) {
	s.hold(name, 1)
	time.Sleep(time.Second)
	if s.compared {
		s.hold(name, -1)
	}
	return nil, nil
}

// emptyObjects takes the objects of a largeObjects.
type emptyObjects struct {
	blob.Store
	from *largeObjects
}

// List implements blob.Store.
func (s emptyObjects) List(context.Context, string) iter.Seq2[blob.Info, error] {
	return func(func(blob.Info, error) bool) {}
}

// Put implements blob.Store.
func (s emptyObjects) Put(_ context.Context, name string, _ []byte) error {
	time.Sleep(time.Second)
	s.from.hold(name, -1)
	return nil
}

// Large files do not fill the memory, and small ones are copied in parallel.
func TestObjectsInMemoryAreBounded(t *testing.T) {
	t.Parallel()
	const mb = 1 << 20
	for name, c := range map[string]struct {
		size, most int64
		longest    time.Duration // for 16 objects, of which each takes two seconds
	}{
		"small":                {mb, parallel * mb, 4 * time.Second},
		"large":                {60 * mb, 120 * mb, 16 * time.Second},
		"the largest":          {100 * mb, 100 * mb, 32 * time.Second},
		"larger than the room": {200 * mb, 200 * mb, 32 * time.Second},
	} {
		for _, compared := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, compared %t", name, compared), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					from := &largeObjects{compared: compared}
					for range 16 {
						from.sizes = append(from.sizes, c.size)
					}
					m, begun := &Move{From: Home{Blobs: from}, To: Home{Blobs: emptyObjects{from: from}}}, time.Now()
					do := m.copyBlobs
					if compared {
						m.To.Blobs, do = from, m.compareBlobs
					}
					if err := do(t.Context()); err != nil {
						t.Fatal(err)
					}
					if from.most > c.most {
						t.Errorf("held %d MB, want %d", from.most/mb, c.most/mb)
					}
					if took := time.Since(begun); took > c.longest {
						t.Errorf("took %v, want %v", took, c.longest)
					}
				})
			})
		}
	}
}
