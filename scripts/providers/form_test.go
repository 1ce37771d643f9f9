package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"docent/shared/app"
)

// TestTheFormsAreCommitted compares what the dashboard is bundled with.
func TestTheFormsAreCommitted(t *testing.T) {
	t.Parallel()
	want, err := formsOf(app.Providers())
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join("..", "..", "dashboard", "src", "providers.json"))
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("src/providers.json differs from the code (%v): run make dashboard", err)
	}
}

func TestLabelsAreTheWordsOfNames(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"spaces": "Spaces", "accessToken": "Access token", "baseUrl": "Base URL", "urls": "URLs", "clientId": "Client ID"} {
		if got := labelOf(name); got != want {
			t.Errorf("%s has the label %q, want %q", name, got, want)
		}
	}
}
