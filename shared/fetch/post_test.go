package fetch_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"docent/shared/fetch"
)

func TestPostsToNamesThatChangeTheirAddressAreBlocked(t *testing.T) {
	t.Parallel()
	var reached atomic.Int32
	private := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Add(1) }))
	defer private.Close()
	_, port, _ := net.SplitHostPort(private.Listener.Addr().String())
	for name, answers := range map[string][]string{"private at once": {"127.0.0.1"}, "metadata": {"169.254.169.254"}, "after one": {"10.0.0.1", "127.0.0.1"}} {
		f := fetch.NewFetcher(nil, nameServer(t, answers...), fetch.Public)
		for range 3 {
			address := "http://rebind.example.com:" + port + "/?token=secret"
			if _, err := f.Post(t.Context(), address, nil, []byte("{}")); code(err) != fetch.Blocked || strings.Contains(err.Error(), "secret") {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	if reached.Load() != 0 {
		t.Error("the private server was reached")
	}
}

func TestPostFollowsNoRedirectAndReadsLittle(t *testing.T) {
	t.Parallel()
	var calls atomic.Int32
	f, address := site(t, func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		if r.Method != http.MethodPost || r.Header.Get("Webhook-Id") != "msg_1" {
			t.Errorf("%s %v", r.Method, r.Header)
		}
		w.Header().Set("Location", "/other")
		w.WriteHeader(http.StatusTemporaryRedirect)
		for range 1000 { // the client goes away before the end
			if _, err := w.Write(make([]byte, 1<<20)); err != nil {
				return
			}
		}
		t.Error("a gigabyte was read")
	})
	posted, err := f.Post(t.Context(), address, map[string]string{"Webhook-Id": "msg_1"}, []byte("{}"))
	if err != nil || posted.Status != http.StatusTemporaryRedirect || calls.Load() != 1 {
		t.Errorf("%+v, %v, %d calls", posted, err, calls.Load())
	}
}

func TestAddressesThatArePostedTo(t *testing.T) {
	t.Parallel()
	for address, good := range map[string]bool{
		"https://hooks.test/": true, "https://hooks.test./": true, "https://xn--bcher-kva.example/x": true, "https://b\u00fccher.example/x": false, "https://my_host.example.com/": true, "https://93.184.216.34/": true,
		"https://127.0.0.\uff11/": false, "https://\uff11\uff10.0.0.1/": false, "https://example..com/": false, "https://" + strings.Repeat("a", 64) + ".example/": false,
		"https://loc\u00adalhost/": false, "https://[::1]/": false, "https://10.0.0.1/": false, "http://hooks.test/": false,
	} {
		if err := fetch.CheckPost(address, false); (err == nil) != good {
			t.Errorf("%q: %v", address, err)
		}
	}
	for address, want := range map[string]string{
		"https://hooks.test/#top": "no fragment", "https://hooks.test:0/": "port", "https://hooks.test:99999/": "port", "ftp://hooks.test/": "https URL",
		"ftp://localhost/": "https URL", "hooks.test": "https URL",
	} {
		if err := fetch.CheckPost(address, true); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", address, err, want)
		}
	}
}
