package httpapi_test

import (
	"compress/gzip"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"go.etcd.io/bbolt"

	"docent/shared/logtest"
	"docent/shared/quota"
)

// unknownID is the id of no resource.
const unknownID = "0190d2a0-ffff-7fff-bfff-ffffffffffff"

// numberedID returns a UUID for each n.
func numberedID(n int) string { return fmt.Sprintf("0190d2a0-0000-7000-8000-%012d", n) }

// workerLog is the log of the workers of all tests.
var workerLog logtest.Buffer

func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.NewJSONHandler(&workerLog, nil)))
	os.Exit(m.Run())
}

// stream asks a question with a body that is read from from.
func (a *api) stream(key string, length int64, from io.Reader) response {
	a.t.Helper()
	r := httptest.NewRequestWithContext(a.t.Context(), http.MethodPut, "/v1/answers/"+unknownID, from)
	r.ContentLength = length
	r.Header.Set("Authorization", "Bearer "+key)
	w := httptest.NewRecorder()
	a.handler.ServeHTTP(w, r)
	return response{w.Result(), w.Body.Bytes()}
}

// endless is a text without end.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

// broken is a connection that was cut.
type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errors.New("cut") }

// counter counts the bytes that are read through it.
type counter struct {
	from io.Reader
	read int
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.from.Read(p)
	c.read += n
	return n, err
}

// ask asks a question.
func (a *api) ask(key, id, question string) response {
	a.t.Helper()
	return a.do(call{"PUT", "/answers/" + id, key, map[string]string{"question": question}, nil})
}

var linkForm = regexp.MustCompile(`<([^>]*)>; rel="([a-z]+)"`)

// link returns the query of the link to a neighbouring page, nil if there is none. It fails the
// test if the URL does not start with the base address.
func (r response) link(t testing.TB, rel string) url.Values {
	t.Helper()
	for _, m := range linkForm.FindAllStringSubmatch(r.Header.Get("Link"), -1) {
		u, err := url.Parse(m[1])
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(m[1], baseURL+"/") {
			t.Errorf("link %s does not start with %s", m[1], baseURL)
		}
		if m[2] == rel {
			return u.Query()
		}
	}
	return nil
}

// members returns one text member of each entry of a list.
func (a *api) members(c call, name string) []string {
	a.t.Helper()
	var entries []map[string]any
	a.do(c).want(a.t, 200).json(a.t, &entries)
	texts := make([]string, len(entries))
	for i, e := range entries {
		texts[i], _ = e[name].(string)
	}
	return texts
}

// unpacked returns the text of a body with bodyEncoding gzip.
func unpacked(t *testing.T, body string) string {
	t.Helper()
	r, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(body)))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// stored closes the product and returns every stored item as table, key and value.
func (a *api) stored() (items []string) {
	a.t.Helper()
	if err := a.local.Close(); err != nil {
		a.t.Fatal(err)
	}
	db, err := bbolt.Open(filepath.Join(a.dataDir, "docent.db"), 0o600, &bbolt.Options{ReadOnly: true})
	if err != nil {
		a.t.Fatal(err)
	}
	defer func() {
		if err := db.Close(); err != nil {
			a.t.Error(err)
		}
	}()
	err = db.View(func(tx *bbolt.Tx) error {
		return tx.ForEach(func(name []byte, bucket *bbolt.Bucket) error {
			return bucket.ForEach(func(k, v []byte) error {
				if keeps := string(name) + string(k); strings.Contains(keeps, "t/events") || strings.Contains(keeps, "@events\x00") ||
					strings.Contains(keeps, "t/usage") || strings.Contains(keeps, "@usage\x00") {
					return nil // events are kept for a year
				}
				items = append(items, fmt.Sprintf("%s %q %s", name, k, v))
				return nil
			})
		})
	})
	if err != nil {
		a.t.Fatal(err)
	}
	if len(items) == 0 {
		a.t.Fatal("nothing is stored at all")
	}
	return items
}

// holding returns the stored items that contain any of texts, shortened for messages.
func holding(items []string, texts ...string) (found []string) {
	for _, item := range items {
		for _, text := range texts {
			if strings.Contains(item, text) {
				found = append(found, fmt.Sprintf("%.200q", item))
				break
			}
		}
	}
	return found
}

// used returns the day's count of questions, from the reply to a repeated question.
func (a *api) used(key, id, question string) int {
	a.t.Helper()
	left, err := strconv.Atoi(a.ask(key, id, question).want(a.t, 204).Header.Get("X-RateLimit-Remaining"))
	if err != nil {
		a.t.Fatal(err)
	}
	return quota.AnswersPerDay - left
}
