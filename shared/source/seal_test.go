package source_test

import (
	"bytes"
	"testing"

	"docent/shared/source"
)

func TestSecretsOpenWithTheirKeyAndSourceOnly(t *testing.T) {
	t.Parallel()
	key := bytes.Repeat([]byte{7}, 32)
	s, err := source.NewSealer(key)
	if err != nil {
		t.Fatal(err)
	}
	sealed, err := s.Seal(t.Context(), []byte("secret"), "team/source")
	if err != nil || bytes.Contains(sealed, []byte("secret")) {
		t.Fatalf("sealed %q: %v", sealed, err)
	}
	if got, err := s.Open(t.Context(), sealed, "team/source"); err != nil || string(got) != "secret" {
		t.Errorf("opened %q: %v", got, err)
	}
	again, err := s.Seal(t.Context(), []byte("secret"), "team/source")
	if err != nil || bytes.Equal(again, sealed) {
		t.Errorf("the same text is sealed the same way twice: %v", err)
	}
	other, err := source.NewSealer(bytes.Repeat([]byte{8}, 32))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Open(t.Context(), sealed, "team/other"); err == nil {
		t.Error("opened for another source")
	}
	if _, err := other.Open(t.Context(), sealed, "team/source"); err == nil {
		t.Error("opened with another key")
	}
	for i := range sealed {
		flipped := bytes.Clone(sealed)
		flipped[i] ^= 1
		if _, err := s.Open(t.Context(), flipped, "team/source"); err == nil {
			t.Fatalf("opened with byte %d changed", i)
		}
		if _, err := s.Open(t.Context(), sealed[:i], "team/source"); err == nil {
			t.Fatalf("opened with %d bytes", i)
		}
	}
	for _, n := range []int{0, 16, 31, 33} {
		if _, err := source.NewSealer(make([]byte, n)); err == nil {
			t.Errorf("a key of %d bytes was accepted", n)
		}
	}
}
