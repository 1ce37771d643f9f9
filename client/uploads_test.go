package client_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"docent/client"
)

// uploadServer is a server with one upload. Its send replies to the try, from 1, of sending the file.
func uploadServer(t *testing.T, send func(w http.ResponseWriter, try int, file string)) *httptest.Server {
	t.Helper()
	tries := 0
	var server *httptest.Server
	server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		switch r.Method + " " + r.URL.Path {
		case "POST /v1/uploads":
			if !strings.Contains(string(body), `"sha256":"97c46ec6`) || !strings.Contains(string(body), `"size":10`) {
				t.Errorf("asked with %s", body)
			}
			w.WriteHeader(http.StatusCreated)
			_, _ = io.WriteString(w, `{"id":"the-id","uploadUrl":"`+server.URL+`/bucket?secret=hidden","method":"PUT","headers":{"Content-Type":"application/pdf","If-None-Match":"*"}}`)
		case "PUT /bucket":
			if r.Header.Get("Authorization") != "" || r.Header.Get("Content-Type") != "application/pdf" || r.Header.Get("If-None-Match") != "*" || r.ContentLength != 10 || r.URL.Query().Get("secret") != "hidden" {
				t.Errorf("sent with %v, %d bytes", r.Header, r.ContentLength)
			}
			tries++
			send(w, tries, string(body))
		default:
			t.Errorf("%s %s", r.Method, r.URL.Path)
		}
	}))
	t.Cleanup(server.Close)
	return server
}

func TestAFileIsUploaded(t *testing.T) {
	t.Parallel()
	const file = "%PDF-file\n"
	for name, c := range map[string]struct {
		statuses []int // of the tries
		refused  int
	}{
		"at once":                     {statuses: []int{204}},
		"of S3":                       {statuses: []int{200}},
		"again":                       {statuses: []int{503, 500, 204}},
		"its reply was lost":          {statuses: []int{500, 412}},
		"its reply was lost at serve": {statuses: []int{500, 409}},
		"the address was used":        {statuses: []int{409}, refused: 409},
		"the address has expired":     {statuses: []int{403}, refused: 403},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tries := 0
			server := uploadServer(t, func(w http.ResponseWriter, try int, sent string) {
				if tries = try; sent != file {
					t.Errorf("try %d sent %q", try, sent)
				}
				w.WriteHeader(c.statuses[min(try, len(c.statuses))-1])
			})
			api, _ := connect(t, server.URL)
			id, err := api.Upload(t.Context(), "application/pdf", strings.NewReader(file), int64(len(file)))
			var refused *client.Error
			if c.refused == 0 && (err != nil || id != "the-id") || c.refused != 0 && (!errors.As(err, &refused) || refused.Status != c.refused) {
				t.Errorf("%q, %v", id, err)
			}
			if err != nil && strings.Contains(err.Error(), "hidden") {
				t.Errorf("the error shows the address: %v", err)
			}
			if tries != len(c.statuses) {
				t.Errorf("%d tries, want %d", tries, len(c.statuses))
			}
		})
	}
}
