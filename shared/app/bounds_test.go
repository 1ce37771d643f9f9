package app

import (
	"net"
	"testing"
)

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
