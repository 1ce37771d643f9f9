package dashboard_test

import (
	"bytes"
	"compress/gzip"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"

	"docent/dashboard"
)

// get returns the reply to a request of a file.
func get(t *testing.T, h http.Handler, method, path string, header ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, path, nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestFiles(t *testing.T) {
	t.Parallel()
	h := dashboard.Pages(true, "")
	files, err := os.ReadDir("dist")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		name := f.Name()
		plain := get(t, h, "GET", "/"+name)
		want, err := os.ReadFile("dist/" + name)
		if err != nil || plain.Code != 200 || !bytes.Equal(plain.Body.Bytes(), want) || plain.Header().Get("Content-Encoding") != "" {
			t.Errorf("%s: %d, %v", name, plain.Code, err)
		}
		immutable := strings.Contains(plain.Header().Get("Cache-Control"), "immutable")
		if hashed := regexp.MustCompile(`-[0-9A-Za-z]{8}\.`).MatchString(name); immutable != hashed {
			t.Errorf("%s: Cache-Control %q", name, plain.Header().Get("Cache-Control"))
		}
		if plain.Header().Get("Content-Type") == "" || plain.Header().Get("Content-Security-Policy") != dashboard.Policy {
			t.Errorf("%s: headers %v", name, plain.Header())
		}
	}
	page, packed := get(t, h, "GET", "/"), get(t, h, "GET", "/", "Accept-Encoding", "br, gzip")
	r, err := gzip.NewReader(packed.Body)
	if err != nil {
		t.Fatal(err)
	}
	var unpacked bytes.Buffer
	if _, err := unpacked.ReadFrom(r); err != nil || unpacked.String() != page.Body.String() {
		t.Errorf("the packed page is %q, %v", unpacked.String(), err)
	}
	for _, c := range []struct {
		method, path string
		status       int
	}{{"HEAD", "/", 200}, {"POST", "/", 405}, {"GET", "/dist/index.html", 404}, {"GET", "/../dashboard.go", 404}, {"GET", "/src/main.tsx", 404}} {
		got := get(t, h, c.method, c.path)
		if got.Code != c.status || got.Header().Get("Content-Security-Policy") == "" {
			t.Errorf("%s %s: %d", c.method, c.path, got.Code)
		}
	}
}

func TestPagesConnectToOneMoreOrigin(t *testing.T) {
	t.Parallel()
	const bucket = "https://bucket.s3.eu-central-1.amazonaws.com"
	policy := get(t, dashboard.Pages(false, bucket), "GET", "/").Header().Get("Content-Security-Policy")
	if !strings.Contains(policy, "; connect-src 'self' "+bucket+"; ") || strings.Count(policy, bucket) != 1 {
		t.Errorf("policy %q", policy)
	}
}

// TestPagesAreText holds because API Gateway passes on bytes that are not text as base64.
func TestPagesAreText(t *testing.T) {
	t.Parallel()
	if got := get(t, dashboard.Pages(false, ""), "GET", "/", "Accept-Encoding", "gzip"); got.Header().Get("Content-Encoding") != "" {
		t.Error("a function compresses")
	}
}

// firstLoad is the most that a browser loads before the first page works, compressed.
const firstLoad = 60 << 10

func TestFirstLoadIsSmall(t *testing.T) {
	t.Parallel()
	dist := os.DirFS("dist")
	index, err := fs.ReadFile(dist, "index.html")
	if err != nil {
		t.Fatal(err)
	}
	load, total := regexp.MustCompile(`(?:href|src)="([^"]+)"`), packedSize(t, index)
	static := regexp.MustCompile(`(?:import|from)"\./([^"]+)"`)
	seen := map[string]bool{}
	var add func(name string)
	add = func(name string) {
		if seen[name] {
			return
		}
		seen[name] = true
		text, err := fs.ReadFile(dist, name)
		if err != nil {
			t.Fatal(err)
		}
		total += packedSize(t, text)
		for _, m := range static.FindAllSubmatch(text, -1) {
			add(string(m[1]))
		}
	}
	for _, m := range load.FindAllSubmatch(index, -1) {
		add(string(m[1]))
	}
	t.Logf("%d files, %d bytes", len(seen)+1, total)
	if len(seen) < 4 || total > firstLoad {
		t.Errorf("the first load has %d bytes in %d files, want at most %d", total, len(seen)+1, firstLoad)
	}
}

func packedSize(t *testing.T, text []byte) int {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Len()
}
