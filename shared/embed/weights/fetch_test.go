package weights_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"docent/shared/embed/weights"
)

var (
	tokenizer = []byte(`{"tokenizer": true}`)
	model     = bytes.Repeat([]byte("weights "), 1000)
)

func newRelease(t *testing.T) weights.Release {
	t.Helper()
	r, err := weights.NewRelease(tokenizer, model)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// repository serves a release by reply and counts the requests.
func repository(t *testing.T, reply http.HandlerFunc) (address string, asked *atomic.Int64) {
	t.Helper()
	asked = &atomic.Int64{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		reply(w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL, asked
}

func content(body []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(body) }
}

// names lists what is in a folder.
func names(t *testing.T, folder string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestFetchDownloadsOnce(t *testing.T) {
	t.Parallel()
	r := newRelease(t)
	address, asked := repository(t, func(w http.ResponseWriter, q *http.Request) {
		if user, password, _ := q.BasicAuth(); q.URL.Path != "/maven"+r.Path || user != "me" || password != "secret" {
			t.Errorf("%s as %s", q.URL, user)
		}
		_, _ = w.Write(r.Jar)
	})
	o := weights.Options{Repository: strings.Replace(address, "//", "//me:secret@", 1) + "/maven/"}
	folder := filepath.Join(t.TempDir(), "a", "b")
	if err := r.Check(folder); !errors.Is(err, weights.ErrMissing) {
		t.Errorf("error %v, want %v", err, weights.ErrMissing)
	}
	for i := range 2 {
		if downloaded, err := r.Fetch(t.Context(), folder, o); err != nil || downloaded != (i == 0) {
			t.Errorf("fetch %d: downloaded %v, error %v", i, downloaded, err)
		}
	}
	if n := asked.Load(); n != 1 {
		t.Errorf("%d requests", n)
	}
	for name, want := range map[string][]byte{weights.TokenizerFile: tokenizer, weights.ModelFile: model} {
		if got, err := os.ReadFile(filepath.Join(folder, name)); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %d bytes, error %v", name, len(got), err)
		}
	}
	if found := names(t, folder); len(found) != 2 {
		t.Errorf("the folder has %v", found)
	}
}

func TestFetchCopiesWhatIsNear(t *testing.T) {
	t.Parallel()
	r := newRelease(t)
	address, asked := repository(t, content(r.Jar))
	near := t.TempDir()
	for i, want := range []int64{1, 1, 2} {
		folder := filepath.Join(t.TempDir(), "model")
		if downloaded, err := r.Fetch(t.Context(), folder, weights.Options{Repository: address, Near: near}); err != nil || downloaded != (i != 1) || asked.Load() != want {
			t.Errorf("fetch %d: downloaded %v after %d requests, error %v", i, downloaded, asked.Load(), err)
		}
		if err := r.Check(folder); err != nil {
			t.Error(err)
		}
		switch i {
		case 0:
			if _, err := r.Fetch(t.Context(), near, weights.Options{Repository: address}); err != nil {
				t.Fatal(err)
			}
			asked.Store(1)
		case 1:
			if err := os.Truncate(filepath.Join(near, weights.ModelFile), 1); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestFetchRepairs(t *testing.T) {
	t.Parallel()
	r := newRelease(t)
	address, _ := repository(t, content(r.Jar))
	for name, damage := range map[string]func(folder string) error{
		"a file cut off":  func(f string) error { return os.Truncate(filepath.Join(f, weights.ModelFile), 100) },
		"a file too long": func(f string) error { return os.Truncate(filepath.Join(f, weights.ModelFile), int64(len(model)+1)) },
		"another tokenizer": func(f string) error {
			return os.WriteFile(filepath.Join(f, weights.TokenizerFile), make([]byte, len(tokenizer)), 0o600)
		},
		"a missing file": func(f string) error { return os.Remove(filepath.Join(f, weights.TokenizerFile)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			if _, err := r.Fetch(t.Context(), folder, weights.Options{Repository: address}); err != nil {
				t.Fatal(err)
			}
			if err := damage(folder); err != nil {
				t.Fatal(err)
			}
			if err := r.Check(folder); !errors.Is(err, weights.ErrDamaged) && !errors.Is(err, weights.ErrMissing) {
				t.Errorf("error %v", err)
			}
			if downloaded, err := r.Fetch(t.Context(), folder, weights.Options{Repository: address}); err != nil || !downloaded {
				t.Errorf("downloaded %v, error %v", downloaded, err)
			}
			if err := r.Check(folder); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestRepositoriesThatMisbehave(t *testing.T) {
	t.Parallel()
	r := newRelease(t)
	wrong := bytes.Clone(r.Jar)
	wrong[len(wrong)/2] ^= 1
	other, err := weights.Zip(map[string][]byte{"a-tokenizer.json": tokenizer, "a.onnx": model[:len(model)-1]})
	if err != nil {
		t.Fatal(err)
	}
	large, err := weights.Zip(map[string][]byte{"a-tokenizer.json": tokenizer, "a.onnx": make([]byte, 1<<20)})
	if err != nil {
		t.Fatal(err)
	}
	none, err := weights.Zip(map[string][]byte{"a-tokenizer.json": tokenizer})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name    string
		release weights.Release
		reply   http.HandlerFunc
		want    string // of the error
	}{
		{"another archive", r, content(wrong), "SHA-256"},
		{"an archive cut off", r, content(r.Jar[:100]), "has 100 bytes"},
		{"a connection cut off", r, func(w http.ResponseWriter, q *http.Request) {
			w.Header().Set("Content-Length", "1000")
			_, _ = w.Write(r.Jar[:100])
		}, "unexpected EOF"},
		{"an endless archive", r, func(w http.ResponseWriter, q *http.Request) {
			for {
				if _, err := w.Write(r.Jar); err != nil {
					return
				}
			}
		}, "larger than"},
		{"no archive", r, http.NotFound, "status 404"},
		{"a page of a proxy", r, content([]byte("<html>sign in</html>")), "SHA-256"},
		{"another redirect each time", r, func(w http.ResponseWriter, q *http.Request) { http.Redirect(w, q, q.URL.Path+"/x", http.StatusFound) }, "10 redirects"},
		{"no ZIP file", r.Holding([]byte("no ZIP file")), content([]byte("no ZIP file")), "zip: not a valid zip file"},
		{"another model in the archive", r.Holding(other), content(other), "a.onnx has"},
		{"a model that unpacks to more", r.Holding(large), content(large), "a.onnx has"},
		{"no model in the archive", r.Holding(none), content(none), "a.onnx"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			address, _ := repository(t, c.reply)
			folder := t.TempDir()
			downloaded, err := c.release.Fetch(t.Context(), folder, weights.Options{Repository: strings.Replace(address, "//", "//me:SECRET@", 1)})
			if downloaded || err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "SECRET") {
				t.Errorf("downloaded %v, error %v, want %q", downloaded, err, c.want)
			}
			if err := c.release.Check(folder); !errors.Is(err, weights.ErrMissing) {
				t.Errorf("error %v", err)
			}
			for _, name := range names(t, folder) {
				if name != weights.TokenizerFile {
					t.Errorf("left %s", name)
				}
			}
		})
	}
}

func TestAddressesThatAreNone(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"repo.test", "ftp://repo.test", "https://", "file:///etc", ":", "https://repo.test/?x=1", "https://me:SECRET@ repo.test"} {
		if _, err := newRelease(t).Fetch(t.Context(), t.TempDir(), weights.Options{Repository: address}); err == nil || strings.Contains(err.Error(), "SECRET") {
			t.Errorf("%q: error %v", address, err)
		}
	}
}

// TestFetchThatIsStopped ends a fetch in the middle of the archive and checks that nothing is left, and that the
// next one succeeds.
func TestFetchThatIsStopped(t *testing.T) {
	t.Parallel()
	r := newRelease(t)
	ctx, stop := context.WithCancel(t.Context())
	address, asked := repository(t, func(w http.ResponseWriter, q *http.Request) {
		if ctx.Err() != nil {
			_, _ = w.Write(r.Jar)
			return
		}
		_, _ = w.Write(r.Jar[:50])
		_ = http.NewResponseController(w).Flush()
		stop()
		<-q.Context().Done()
	})
	folder := t.TempDir()
	if _, err := r.Fetch(ctx, folder, weights.Options{Repository: address}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if found := names(t, folder); len(found) != 0 {
		t.Errorf("left %v", found)
	}
	if _, err := r.Fetch(t.Context(), folder, weights.Options{Repository: address}); err != nil || asked.Load() != 2 {
		t.Errorf("error %v after %d requests", err, asked.Load())
	}
}

// fetchFrom names the repository in the environment of processes that tests start.
const fetchFrom = "DOCENT_TEST_FETCH_FROM"

// TestFetchThatIsKilled kills a process in the middle of the archive.
func TestFetchThatIsKilled(t *testing.T) {
	t.Parallel()
	r := newRelease(t)
	if address := os.Getenv(fetchFrom); address != "" {
		_, err := r.Fetch(t.Context(), os.Args[len(os.Args)-1], weights.Options{Repository: address})
		t.Fatalf("the fetch ended: %v", err)
	}
	reading := make(chan struct{})
	address, _ := repository(t, func(w http.ResponseWriter, q *http.Request) {
		_, _ = w.Write(r.Jar[:50])
		_ = http.NewResponseController(w).Flush()
		close(reading)
		<-q.Context().Done()
	})
	folder := t.TempDir()
	process := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestFetchThatIsKilled$", "--", folder)
	process.Env = append(os.Environ(), fetchFrom+"="+address)
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	<-reading
	if err := process.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = process.Wait()
	if found := names(t, folder); len(found) != 0 {
		t.Errorf("left %v", found)
	}
}

// TestFetchThroughAProxy fetches in a process whose environment names a proxy, from a repository that only the proxy
// reaches.
func TestFetchThroughAProxy(t *testing.T) {
	t.Parallel()
	r := newRelease(t)
	if os.Getenv(fetchFrom) != "" {
		if _, err := r.Fetch(t.Context(), t.TempDir(), weights.Options{Repository: os.Getenv(fetchFrom)}); err != nil {
			t.Error(err)
		}
		return
	}
	proxy, asked := repository(t, func(w http.ResponseWriter, q *http.Request) {
		if q.URL.String() != "http://repo.test/maven2"+r.Path {
			t.Errorf("the proxy was asked for %s", q.URL)
		}
		_, _ = w.Write(r.Jar)
	})
	process := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestFetchThroughAProxy$")
	process.Env = append(os.Environ(), fetchFrom+"=http://repo.test/maven2", "HTTP_PROXY="+proxy, "http_proxy="+proxy, "NO_PROXY=", "no_proxy=")
	if out, err := process.CombinedOutput(); err != nil || asked.Load() != 1 {
		t.Errorf("%d requests to the proxy, error %v\n%s", asked.Load(), err, out)
	}
}

// TestAbandonedFilesAreRemoved checks the files that killed processes leave. A young one may be another process's.
func TestAbandonedFilesAreRemoved(t *testing.T) {
	t.Parallel()
	r := newRelease(t)
	address, _ := repository(t, content(r.Jar))
	folder := t.TempDir()
	for name, age := range map[string]time.Duration{".unfinished-1": 2 * weights.AbandonedAfter, ".unfinished-2": 0, "notes": 2 * weights.AbandonedAfter} {
		path, at := filepath.Join(folder, name), time.Now().Add(-age)
		if err := errors.Join(os.WriteFile(path, []byte("half"), 0o600), os.Chtimes(path, at, at)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := r.Fetch(t.Context(), folder, weights.Options{Repository: address}); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(names(t, folder), " "); got != ".unfinished-2 model.onnx notes tokenizer.json" {
		t.Errorf("the folder has %s", got)
	}
}

func TestConcurrentFetches(t *testing.T) {
	t.Parallel()
	r := newRelease(t)
	address, _ := repository(t, content(r.Jar))
	folder := t.TempDir()
	failed := make(chan error)
	for range 8 {
		go func() {
			_, err := r.Fetch(t.Context(), folder, weights.Options{Repository: address})
			failed <- errors.Join(err, r.Check(folder))
		}()
	}
	for range 8 {
		if err := <-failed; err != nil {
			t.Error(err)
		}
	}
	if found := names(t, folder); len(found) != 2 {
		t.Errorf("the folder has %v", found)
	}
}

// TestSlowRepositories checks that a reply may take long, but not stop.
func TestSlowRepositories(t *testing.T) {
	t.Parallel()
	r := newRelease(t)
	for _, c := range []struct {
		name  string
		pause time.Duration // before each read
		size  int           // bytes of each read
		want  string        // of the error; empty: there is none
	}{
		{"slow", weights.ReplyTime / 2, len(r.Jar) / 10, ""},
		{"stuck", weights.ReplyTime + time.Second, len(r.Jar), "no byte arrived for 30s"},
		{"endlessly slow", weights.ReplyTime - time.Second, 1, "deadline exceeded"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				repository := &slow{content: r.Jar, pause: c.pause, size: c.size}
				_, err := r.Fetch(t.Context(), t.TempDir(), weights.Options{Transport: repository})
				if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
					t.Errorf("error %v, want %q", err, c.want)
				}
			})
		})
	}
}

// slow is a repository that pauses before each read.
type slow struct {
	content []byte
	pause   time.Duration
	size    int
	ctx     context.Context
}

func (s *slow) RoundTrip(r *http.Request) (*http.Response, error) {
	s.ctx = r.Context()
	return &http.Response{StatusCode: http.StatusOK, Body: s}, nil
}

func (s *slow) Read(p []byte) (int, error) {
	select {
	case <-time.After(s.pause):
	case <-s.ctx.Done():
		return 0, s.ctx.Err()
	}
	if len(s.content) == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), s.size)], s.content)
	s.content = s.content[n:]
	return n, nil
}

func (s *slow) Close() error { return nil }
