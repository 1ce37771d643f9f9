package main

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"docent/client"
)

// TestTheAddressHasTheOtherScheme asks servers that speak only one of http and https, by the other.
func TestTheAddressHasTheOtherScheme(t *testing.T) {
	t.Parallel()
	none := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	plain, secure := httptest.NewServer(none), httptest.NewUnstartedServer(none)
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	t.Cleanup(plain.Close)
	t.Cleanup(secure.Close)
	for server, want := range map[string]string{
		"https://" + plain.Listener.Addr().String(): "begin --server or DOCENT_SERVER with http.\n",
		"http://" + secure.Listener.Addr().String(): "docent: The server answered 400 Bad Request; must its address begin with https?\n",
	} {
		if status, _, said := docent(t, "search", "--key", "k", "--server", server, "why"); status != exitFailed || !strings.Contains(said, want) {
			t.Errorf("%s: status %d, %s", server, status, said)
		}
	}
}

// TestTheAddressIsOfAPage: the dashboard's address, as a browser shows it, is not that of the API.
func TestTheAddressIsOfAPage(t *testing.T) {
	t.Parallel()
	pages := httptest.NewServer(http.FileServer(http.Dir(t.TempDir())))
	t.Cleanup(pages.Close)
	for server, want := range map[string]string{
		pages.URL + "/v1/dashboard":       "Check --server or DOCENT_SERVER: the address of the API, such as http://127.0.0.1:8080/v1.\n",
		pages.URL + "/v1/dashboard/#/ask": "must not have a query or a fragment; the address of the API is such as http://127.0.0.1:8080/v1\n",
	} {
		if status, _, said := docent(t, "search", "--key", "k", "--server", server, "why"); status == exitOK || !strings.Contains(said, want) {
			t.Errorf("%s: status %d, %s", server, status, said)
		}
	}
}

func TestOnlyADailyQuotaResetsWithTheDay(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC)
	for code, want := range map[string]string{
		"quota-exceeded": "No. (quota-exceeded)\nThe daily quota resets at 2026-11-25 14:00 UTC, in 2 h 0 min.",
		"rate-exceeded":  "No. (rate-exceeded)",
	} {
		if got := explain(&client.Error{Status: 429, Code: code, Detail: "No.", RetryAfter: 2 * time.Hour}, now, "docent ask"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
