// Package scimtest replays requests of identity providers against a SCIM server. A
// fixture is a file of steps: a request, and what its reply must be. {{name}} is
// replaced by what an earlier step saved, {{run}} by a text that is unique to the run.
package scimtest

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

//go:embed okta/*.json entra/*.json other/*.json rfc/*.json
var fixtures embed.FS

type fixture struct {
	Name    string            `json:"name"`
	Headers map[string]string `json:"headers"`
	Steps   []step            `json:"steps"`
}

type step struct {
	Name    string `json:"name"`
	Request struct {
		Method        string            `json:"method"`
		Path          string            `json:"path"`
		Query         map[string]string `json:"query"`
		Headers       map[string]string `json:"headers"`
		Body          any               `json:"body"`
		Raw           *string           `json:"raw"`
		Authorization *string           `json:"authorization"`
	} `json:"request"`
	Expect struct {
		Status  []int   `json:"status"`
		JSON    [][]any `json:"json"`
		Headers [][]any `json:"headers"`
	} `json:"expect"`
	Save map[string][]any `json:"save"`
}

// Steps is the number of steps of all fixtures.
const Steps = 299

// Run replays every fixture, as a subtest each, at base, which ends in /scim/v2. A step fails
// unless it gets one of its allowed replies, whether the fixture says must or should.
func Run(t *testing.T, client *http.Client, base, key string) {
	t.Helper()
	files, err := fs.Glob(fixtures, "*/*.json")
	if err != nil {
		t.Fatal(err)
	}
	steps := 0
	for i, file := range files {
		text, err := fixtures.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var f fixture
		if err := json.Unmarshal(text, &f); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		steps += len(f.Steps)
		t.Run(strings.TrimSuffix(path.Base(file), ".json"), func(t *testing.T) {
			r := replay{T: t, client: client, base: base, key: key, saved: map[string]string{"run": fmt.Sprintf("r%03d%x", i, len(base))}}
			for _, s := range f.Steps {
				r.step(f, s)
			}
		})
	}
	if steps != Steps {
		t.Errorf("%d steps, want %d", steps, Steps)
	}
}

type replay struct {
	*testing.T
	client    *http.Client
	base, key string
	saved     map[string]string
}

func (r replay) step(f fixture, s step) {
	r.Helper()
	res, body := r.send(f, s)
	var doc any
	whole := json.Unmarshal(body, &doc) == nil
	for name, at := range s.Save {
		if v, ok := dig(doc, at); ok {
			r.saved[name] = fmt.Sprint(v)
		}
	}
	complain := func(format string, args ...any) {
		r.Errorf("%s: %s: %d %s", s.Name, fmt.Sprintf(format, args...), res.StatusCode, body)
	}
	if !slices.Contains(s.Expect.Status, res.StatusCode) {
		complain("want status %v", s.Expect.Status)
		return
	}
	if whole || s.Request.Method != http.MethodPatch {
		for _, check := range s.Expect.JSON {
			at := r.fill(check[0]).([]any)
			v, there := dig(doc, at)
			var want any
			if len(check) > 2 {
				want = r.fill(check[2])
			}
			if !holds(check[1].(string), v, there, want) {
				complain("%v %v %v", at, check[1], want)
			}
		}
	}
	for _, check := range s.Expect.Headers {
		v := res.Header.Get(check[0].(string))
		if !holds(check[1].(string), v, v != "", r.fill(check[2])) {
			complain("header %v, is %q", check, v)
		}
	}
}

func (r replay) send(f fixture, s step) (*http.Response, []byte) {
	r.Helper()
	address := r.base + r.fill(s.Request.Path).(string)
	query := url.Values{}
	for name, value := range s.Request.Query {
		query.Set(name, r.fill(value).(string))
	}
	if len(query) > 0 {
		address += "?" + query.Encode()
	}
	var body io.Reader
	switch {
	case s.Request.Raw != nil:
		body = strings.NewReader(*s.Request.Raw)
	case s.Request.Body != nil:
		text, err := json.Marshal(r.fill(s.Request.Body))
		if err != nil {
			r.Fatal(err)
		}
		body = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(r.Context(), s.Request.Method, address, body)
	if err != nil {
		r.Fatal(err)
	}
	for _, headers := range []map[string]string{f.Headers, s.Request.Headers} {
		for name, value := range headers {
			req.Header.Set(name, r.fill(value).(string))
		}
	}
	if body == nil {
		req.Header.Del("Content-Type")
	}
	if a := s.Request.Authorization; a == nil {
		req.Header.Set("Authorization", "Bearer "+r.key)
	} else if *a != "" {
		req.Header.Set("Authorization", *a)
	}
	res, err := r.client.Do(req)
	if err != nil {
		r.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		r.Fatal(err)
	}
	return res, text
}

var variable = regexp.MustCompile(`\{\{(\w+)(:upper)?\}\}`)

// fill replaces the variables in a JSON value by what was saved.
func (r replay) fill(value any) any {
	switch v := value.(type) {
	case string:
		return variable.ReplaceAllStringFunc(v, func(m string) string {
			parts := variable.FindStringSubmatch(m)
			saved, ok := r.saved[parts[1]]
			switch {
			case !ok:
				return m
			case parts[2] != "":
				return strings.ToUpper(saved)
			}
			return saved
		})
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = r.fill(e)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			out[r.fill(k).(string)] = r.fill(e)
		}
		return out
	}
	return value
}
