package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestServeRefusesAnAddressBeforeItMakesData checks that a mistyped address leaves no data folder behind.
func TestServeRefusesAnAddressBeforeItMakesData(t *testing.T) {
	t.Parallel()
	for _, addr := range []string{"nonsense", "8080", "http://127.0.0.1:8080", "127.0.0.1:", "::1"} {
		folder := filepath.Join(t.TempDir(), "data")
		status, _, errOut := docent(t, "serve", "--data", folder, "--addr", addr)
		if status != 2 || !strings.Contains(errOut, "--addr="+addr+" is not HOST:PORT, such as 127.0.0.1:8080") {
			t.Errorf("%s: status %d, %q", addr, status, errOut)
		}
		if _, err := os.Stat(folder); !os.IsNotExist(err) {
			t.Errorf("%s: there is a data folder: %v", addr, err)
		}
	}
}

func TestTheBaseURLIsTheAddressOfTheAPI(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		"":                              "",
		"https://docent.example":        "https://docent.example/v1",
		"https://docent.example/":       "https://docent.example/v1",
		"http://127.0.0.1:8080/v1/":     "http://127.0.0.1:8080/v1",
		"https://docent.example/api/v1": "https://docent.example/api/v1",
		"HTTPS://Docent.Example/v1":     "https://docent.example/v1",
		"https://docent.example:443/v1": "https://docent.example/v1",
		"https://docent.example:/v1":    "https://docent.example/v1",
		"http://docent.example:80":      "http://docent.example/v1",
		"http://docent.example:443/v1":  "http://docent.example:443/v1",
		"https://[2001:DB8::443]/v1":    "https://[2001:db8::443]/v1",
	} {
		c := serveCmd{BaseURL: given}
		if err := c.checkBaseURL(); err != nil || c.BaseURL != want {
			t.Errorf("%q: %q, %v", given, c.BaseURL, err)
		}
	}
	for _, wrong := range []string{"nonsense", "docent.example/v1", "ftp://docent.example/v1", "https:///v1", "https://docent.example/api", "https://docent.example/v1?a=b"} {
		status, _, errOut := docent(t, "serve", "--base-url", wrong)
		if status != 2 || !strings.Contains(errOut, "--base-url must be an http or https URL that ends in /v1, such as") {
			t.Errorf("%q: status %d, %q", wrong, status, errOut)
		}
	}
	c := serveCmd{BaseURL: "https://bücher.example/v1"}
	if err := c.checkBaseURL(); err == nil || !strings.Contains(err.Error(), "write the host bücher.example in ASCII") {
		t.Errorf("%v, %q", err, c.BaseURL)
	}
}
