package app

import (
	"context"
	"net"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestTheMemoryLimitFollowsTheIndex: it is set when what the index keeps in memory changes, and only then.
func TestTheMemoryLimitFollowsTheIndex(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		var cached atomic.Int64
		var set []int64
		ended := make(chan struct{})
		go func() {
			followIndex(ctx, cached.Load, func(bytes int64) int64 {
				set = append(set, bytes)
				return 0
			})
			close(ended)
		}()
		for _, bytes := range []int64{0, 60 << 20, 164 << 20, 164 << 20, 104 << 20, 10 << 20} {
			cached.Store(bytes)
			time.Sleep(3 * lookEvery)
		}
		stop()
		<-ended
		if want := []int64{memoryLimit + 125<<20, memoryLimit + 50<<20, memoryLimit}; !slices.Equal(set, want) {
			t.Errorf("set to %d, want %d", set, want)
		}
	})
}

func TestTheIndexHasAShareOfTheMemory(t *testing.T) {
	t.Parallel()
	if got := indexBytes(partsShare); got < indexLeast {
		t.Errorf("%d bytes, less than %d", got, int64(indexLeast))
	}
	for memory, want := range map[uint64]int64{0: indexLeast, 256 << 20: indexLeast, 1 << 30: indexLeast, 16 << 30: 2<<30 - 64<<20} {
		if got := indexBytesOf(memory, partsShare); got != want {
			t.Errorf("of %d bytes %d, want %d", memory, got, want)
		}
	}
}

// TestConnectionsAreBounded: one address may not have all of them, and a closed connection makes
// room for another.
func TestConnectionsAreBounded(t *testing.T) {
	t.Parallel()
	l := newBoundedListener(nil)
	for range maxConnectionsOne {
		if !l.admit("a") {
			t.Fatal("a connection within the bound is not admitted")
		}
	}
	if l.admit("a") {
		t.Error("one address has more than its bound")
	}
	for n := range maxConnections - maxConnectionsOne {
		if !l.admit([]string{"b", "c", "d"}[n%3]) {
			t.Fatal("a connection of another address is not admitted")
		}
	}
	if l.admit("e") {
		t.Error("there are more than the bound")
	}
	l.release("a")
	if !l.admit("e") || l.admit("e") {
		t.Error("what was closed does not make room for one")
	}
}

func TestAConnectionCountsUntilItIsClosed(t *testing.T) {
	t.Parallel()
	plain, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	l := newBoundedListener(plain)
	client, err := net.Dial("tcp", plain.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	conn, err := l.Accept()
	if err != nil || l.open != 1 || l.addresses["127.0.0.1"] != 1 {
		t.Fatalf("%d open, %v", l.open, err)
	}
	for range 2 { // net/http closes twice
		_ = conn.Close()
	}
	if l.open != 0 || len(l.addresses) != 0 {
		t.Errorf("%d open, by address %v", l.open, l.addresses)
	}
}
