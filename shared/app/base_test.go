package app

import (
	"net"
	"testing"
)

func TestTheBaseURLCanBeReached(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"127.0.0.1:8080":      "http://127.0.0.1:8080/v1",
		"10.1.2.3:80":         "http://10.1.2.3:80/v1",
		"[fd00::1]:8080":      "http://[fd00::1]:8080/v1",
		"0.0.0.0:8080":        "http://127.0.0.1:8080/v1",
		"[::]:8080":           "http://127.0.0.1:8080/v1",
		"[::ffff:0.0.0.0]:81": "http://127.0.0.1:81/v1",
	} {
		at, err := net.ResolveTCPAddr("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		if got := baseOf(at); got != want {
			t.Errorf("%s: %s, want %s", address, got, want)
		}
	}
}
