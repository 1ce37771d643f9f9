package fetch_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"docent/shared/fetch"
	"docent/shared/fetch/page"
)

func code(err error) string {
	var e *fetch.Error
	if errors.As(err, &e) {
		return e.Code
	}
	return fmt.Sprint(err)
}

func TestPrivateAddressesAreBlockedInAnySpelling(t *testing.T) {
	t.Parallel()
	var reached atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Add(1) }))
	defer server.Close()
	_, port, _ := net.SplitHostPort(server.Listener.Addr().String())
	f := fetch.New(page.Read)
	for host, want := range map[string]string{
		"127.0.0.1": fetch.Blocked, "127.1": fetch.Blocked, "127.0.1": fetch.Blocked, "127.255.255.254": fetch.Blocked, "2130706433": fetch.Blocked,
		"0x7f000001": fetch.Blocked, "0x7f.1": fetch.Blocked, "0x7F.0x0.0x0.0x1": fetch.Blocked, "017700000001": fetch.Blocked, "0177.0.0.1": fetch.Blocked,
		"127.0.0.1.": fetch.Blocked, "0": fetch.Blocked, "0.0.0.0": fetch.Blocked, "00000177.1": fetch.Blocked, "1.1.1.1.1": fetch.Blocked, "999.1.1.1": fetch.Blocked,
		"localhost": fetch.Blocked, "LOCALHOST": fetch.Blocked, "localhost.": fetch.Blocked, "a.localhost": fetch.Blocked, "localhost.localdomain": fetch.Blocked,
		"metadata": fetch.Blocked, "metadata.google.internal": fetch.Blocked, "printer.local": fetch.Blocked, "intranet": fetch.Blocked,
		"10.0.0.1": fetch.Blocked, "10.255.255.255": fetch.Blocked, "172.16.0.1": fetch.Blocked, "172.31.255.255": fetch.Blocked, "192.168.1.1": fetch.Blocked,
		"169.254.169.254": fetch.Blocked, "169.254.170.2": fetch.Blocked, "2852039166": fetch.Blocked, "0xa9fea9fe": fetch.Blocked, "0251.0376.0251.0376": fetch.Blocked,
		"100.64.0.1": fetch.Blocked, "100.100.100.200": fetch.Blocked, "192.0.0.192": fetch.Blocked, "192.0.2.1": fetch.Blocked, "198.18.0.1": fetch.Blocked,
		"198.51.100.1": fetch.Blocked, "203.0.113.1": fetch.Blocked, "224.0.0.1": fetch.Blocked, "239.255.255.250": fetch.Blocked, "240.0.0.1": fetch.Blocked, "255.255.255.255": fetch.Blocked,
		"[::1]": fetch.Blocked, "[::]": fetch.Blocked, "[0:0:0:0:0:0:0:1]": fetch.Blocked, "[::ffff:127.0.0.1]": fetch.Blocked, "[::ffff:7f00:1]": fetch.Blocked,
		"[::ffff:169.254.169.254]": fetch.Blocked, "[::127.0.0.1]": fetch.Blocked, "[64:ff9b::7f00:1]": fetch.Blocked, "[64:ff9b:1::1]": fetch.Blocked,
		"[2002:7f00:1::]": fetch.Blocked, "[2001::1]": fetch.Blocked, "[2001:db8::1]": fetch.Blocked, "[fe80::1]": fetch.Blocked, "[fe80::1%25eth0]": fetch.Blocked,
		"[fec0::1]": fetch.Blocked, "[fc00::1]": fetch.Blocked, "[fd00:ec2::254]": fetch.Blocked, "[ff02::1]": fetch.Blocked, "[100::1]": fetch.Blocked, "[3fff::1]": fetch.Blocked,
	} {
		for _, scheme := range []string{"http", "https", "HTTP"} {
			if _, err := f.Get(t.Context(), scheme+"://"+host+":"+port+"/"); code(err) != want {
				t.Errorf("%s://%s: %v, want %s", scheme, host, err, want)
			}
		}
	}
	for address, want := range map[string]string{
		"file:///etc/passwd": fetch.Unsupported, "gopher://127.0.0.1/": fetch.Unsupported, "ftp://example.com/": fetch.Unsupported, "//example.com/": fetch.Unsupported,
		"example.com": fetch.Unsupported, "": fetch.Unsupported, "http:": fetch.Unsupported, "http://": fetch.Unsupported, "http:///x": fetch.Unsupported, "http:example.com": fetch.Unsupported,
		"http://user@example.com/": fetch.Unsupported, "http://user:secret@example.com/": fetch.Unsupported, "http://example.com@127.0.0.1/": fetch.Unsupported,
		"http://127.0.0.1:80\\@example.com/": fetch.Unsupported, "http://example.com:0/": fetch.Unsupported, "http://example.com:99999/": fetch.Unsupported, "http://example.com:port/": fetch.Unsupported,
		"http://[::1/": fetch.Unsupported, "http://exa mple.com/": fetch.Unsupported, "http://x\x00.com/": fetch.Unsupported, "javascript:alert(1)": fetch.Unsupported,
		"data:text/html,x": fetch.Unsupported, "http://x.test/" + strings.Repeat("x", 2048): fetch.Unsupported, "http://%31%32%37.0.0.1/": fetch.Unsupported, "http://.../": fetch.Blocked,
	} {
		if _, err := f.Get(t.Context(), address); code(err) != want {
			t.Errorf("%.60q: %v, want %s", address, err, want)
		}
	}
	if reached.Load() != 0 {
		t.Errorf("the server was reached %d times", reached.Load())
	}
}

func TestPublicAddresses(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]bool{"1.1.1.1": true, "93.184.216.34": true, "2606:4700::1111": true, "::ffff:1.1.1.1": true,
		"172.15.255.255": true, "172.32.0.0": true, "100.63.255.255": true, "100.128.0.0": true, "::ffff:10.0.0.1": false, "198.19.255.255": false, "198.20.0.0": true} {
		if got := fetch.Public(netip.AddrPortFrom(netip.MustParseAddr(address), 443)); got != want {
			t.Errorf("%s: %t", address, got)
		}
	}
}

// nameServer starts a server that answers each question with the next of answers, then
// always the last one, and returns a resolver that asks it.
func nameServer(t *testing.T, answers ...string) *net.Resolver {
	t.Helper()
	conn, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	go func() {
		buffer := make([]byte, 512)
		for asked := 0; ; {
			n, from, err := conn.ReadFrom(buffer)
			if err != nil {
				return
			}
			var m dnsmessage.Message
			if m.Unpack(buffer[:n]) != nil || len(m.Questions) != 1 {
				continue
			}
			m.Response, m.Authoritative, m.Additionals = true, true, nil
			if m.Questions[0].Type == dnsmessage.TypeA {
				address := netip.MustParseAddr(answers[min(asked, len(answers)-1)])
				asked++
				m.Answers = []dnsmessage.Resource{{Header: dnsmessage.ResourceHeader{Name: m.Questions[0].Name, Type: dnsmessage.TypeA, Class: dnsmessage.ClassINET},
					Body: &dnsmessage.AResource{A: address.As4()}}}
			}
			if packed, err := m.Pack(); err == nil {
				_, _ = conn.WriteTo(packed, from)
			}
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp4", conn.LocalAddr().String())
	}}
}

func TestNamesThatChangeTheirAddressAreBlocked(t *testing.T) {
	t.Parallel()
	var reached atomic.Int32
	private := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Add(1) }))
	defer private.Close()
	_, port, _ := net.SplitHostPort(private.Listener.Addr().String())
	for name, answers := range map[string][]string{"private at once": {"127.0.0.1"}, "metadata": {"169.254.169.254"}, "after one": {"10.0.0.1", "127.0.0.1"}} {
		f := fetch.NewFetcher(page.Read, nameServer(t, answers...), fetch.Public)
		for range 3 {
			if _, err := f.Get(t.Context(), "http://rebind.example.com:"+port+"/"); code(err) != fetch.Blocked {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	// The first address of a name is allowed and its page redirects to the same name,
	// whose second address is not allowed.
	var first netip.AddrPort
	public := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://rebind.example.com:"+port+"/secret", http.StatusFound)
	}))
	defer public.Close()
	first = public.Listener.Addr().(*net.TCPAddr).AddrPort()
	f := fetch.NewFetcher(page.Read, nameServer(t, "127.0.0.1"), func(to netip.AddrPort) bool { return to == first })
	if _, err := f.Get(t.Context(), fmt.Sprintf("http://rebind.example.com:%d/", first.Port())); code(err) != fetch.Blocked {
		t.Errorf("after a redirect: %v", err)
	}
	if reached.Load() != 0 {
		t.Error("the private server was reached")
	}
}

// site starts a server and returns a Fetcher that may reach only it.
func site(t *testing.T, handler http.HandlerFunc) (f *fetch.Fetcher, address string) {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	own := server.Listener.Addr().(*net.TCPAddr).AddrPort()
	f = fetch.NewFetcher(page.Read, nameServer(t, "127.0.0.1"), func(to netip.AddrPort) bool { return to == own })
	return f, fmt.Sprintf("http://site.example.com:%d", own.Port())
}

func TestRedirects(t *testing.T) {
	t.Parallel()
	f, address := site(t, func(w http.ResponseWriter, r *http.Request) {
		switch to := r.URL.Query().Get("to"); {
		case to != "":
			http.Redirect(w, r, to, http.StatusFound)
		case r.URL.Path == "/loop":
			http.Redirect(w, r, "/loop", http.StatusFound)
		default:
			w.Header().Set("Content-Type", "text/plain")
			_, _ = io.WriteString(w, "hello")
		}
	})
	for to, want := range map[string]string{"/there": "", "http://127.0.0.1/": fetch.Blocked, "http://169.254.169.254/latest/meta-data/": fetch.Blocked, "http://[::1]/": fetch.Blocked,
		"http://2130706433/": fetch.Blocked, "file:///etc/passwd": fetch.Unsupported, "ftp://x.test/": fetch.Unsupported, "http://user:pw@x.test/": fetch.Unsupported, "/loop": fetch.Failed} {
		page, err := f.Get(t.Context(), address+"/?to="+to)
		if want == "" && (err != nil || page.Content != "hello") || want != "" && code(err) != want {
			t.Errorf("to %s: %v %v", to, page, err)
		}
	}
}

func TestPages(t *testing.T) {
	t.Parallel()
	text := "<p>" + strings.Repeat("The runbook says how to roll a deployment back. ", 20) + "</p>"
	article := "<html><head><title>Run&amp;book</title></head><body><nav><a href=/x>menu</a></nav><article><h1>Rolling back</h1>" + text +
		"<table><tr><th>a</th></tr><tr><td>b</td></tr></table><p><a href='/next'>next</a><script>alert(1)</script></p></article></body></html>"
	type answer struct {
		status      int
		contentType string
		body        string
	}
	answers := map[string]answer{
		"/article": {200, "text/html; charset=utf-8", article}, "/plain": {200, "text/plain", "# Title\n\nplain"}, "/latin": {200, "text/plain; charset=iso-8859-1", "caf\xe9"},
		"/binary": {200, "application/pdf", "%PDF"}, "/none": {200, "", "x"}, "/missing": {404, "text/html", "gone"}, "/error": {500, "text/html", "oops"},
		"/huge": {200, "text/html", strings.Repeat("x", fetch.MaxBytes+1)}, "/empty": {200, "text/html", ""}, "/deep": {200, "text/html", strings.Repeat("<div>", 100_000) + "deep"},
		"/bytes": {200, "text/plain; charset=utf-8", "a\xff\x00b"},
	}
	f, address := site(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/bomb" {
			w.Header().Set("Content-Type", "text/html")
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			_, _ = io.Copy(z, io.LimitReader(zeros{}, 64<<20))
			_ = z.Close()
			return
		}
		a := answers[r.URL.Path]
		if a.contentType != "" {
			w.Header().Set("Content-Type", a.contentType)
		} else {
			w.Header()["Content-Type"] = nil
		}
		w.WriteHeader(a.status)
		_, _ = io.Copy(w, bytes.NewReader([]byte(a.body)))
	})
	for path, want := range map[string]string{"/binary": fetch.Failed, "/none": fetch.Failed, "/missing": fetch.Failed, "/error": fetch.Failed, "/huge": fetch.Failed, "/empty": fetch.Failed, "/bomb": fetch.Failed} {
		if page, err := f.Get(t.Context(), address+path); code(err) != want {
			t.Errorf("%s: %v %.40q, want %s", path, err, page.Content, want)
		}
	}
	page, err := f.Get(t.Context(), address+"/article")
	if err != nil || page.Title != "Run&book" || !strings.Contains(page.Content, "roll a deployment back") || strings.Contains(page.Content, "<p>") ||
		strings.Contains(page.Content, "menu") || strings.Contains(page.Content, "alert") || !strings.Contains(page.Content, address+"/next") {
		t.Errorf("article: %v %q %s", err, page.Title, page.Content)
	}
	for path, want := range map[string]fetch.Page{"/plain": {Title: "Title", Content: "# Title\n\nplain"}, "/latin": {Title: "latin", Content: "café"}, "/bytes": {Title: "bytes", Content: "a\uFFFDb"}} {
		if page, err := f.Get(t.Context(), address+path); err != nil || page != want {
			t.Errorf("%s: %+v %v", path, page, err)
		}
	}
	if _, err := f.Get(t.Context(), address+"/deep"); err != nil && code(err) != fetch.Failed {
		t.Errorf("deep: %v", err)
	}
}

func TestAPageMayAskNotToBeIndexed(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		headers []string
		head    string
		want    bool
	}{
		{head: `<meta name="description" content="noindex">`},
		{head: `<meta name="robots" content="index, nofollow, max-snippet:-1">`},
		{head: `<meta name="Robots" content="NOINDEX">`, want: true},
		{head: `<META content='follow , none' name=robots />`, want: true},
		{head: `<meta name="docent" content="noindex">`, want: true},
		{head: `<meta name="googlebot" content="noindex">`},
		{head: `<!-- <meta name="robots" content="noindex"> -->`},
		{head: `</head><body><p><meta name="robots" content="noindex">`},
		{headers: []string{"noarchive, noindex"}, want: true},
		{headers: []string{"nofollow", "noindex"}, want: true},
		{headers: []string{"docent: noindex"}, want: true},
		{headers: []string{"googlebot: nofollow, noindex", "otherbot: none"}},
		{headers: []string{"otherbot: nofollow, Docent: none"}, want: true},
		{headers: []string{"unavailable_after: 25 Jun 2030 15:00:00 PST, noindex"}, want: true},
	} {
		f, address := site(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header()["X-Robots-Tag"] = tt.headers
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			_, _ = io.WriteString(w, "<html><head><title>t</title>"+tt.head+"</head><body><p>How a deployment is rolled back.</p></body></html>")
		})
		if page, err := f.Get(t.Context(), address); err != nil || page.NoIndex != tt.want {
			t.Errorf("%q %s: %v %v", tt.headers, tt.head, page.NoIndex, err)
		}
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

func TestSlowPagesEnd(t *testing.T) {
	t.Parallel()
	stop := make(chan struct{})
	f, address := site(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		w.(http.Flusher).Flush()
		select {
		case <-stop:
		case <-r.Context().Done():
		}
	})
	defer close(stop)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := f.Get(ctx, address); code(err) != fetch.TimedOut {
		t.Errorf("got %v", err)
	}
	ctx, cancel = context.WithCancel(t.Context())
	cancel()
	if _, err := f.Get(ctx, address); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
