package put_test

import (
	"io"
	"net/http"
	"slices"
	"testing"

	"docent/client"
	"docent/cmd/docent/internal/put"
)

func TestAnUnknownNameIsWarnedOfOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t, "a.md", "b.md")
	b.config.Access = &client.Access{Users: []string{"nobody@x.y", "ada"}, Groups: []string{"HR"}}
	b.api.Refuse = func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodPut {
			return false
		}
		_, _ = io.WriteString(w, `{"id":"d","accessUnknown":{"users":["nobody@x.y"],"groups":["HR"]}}`)
		return true
	}
	if sum, err := put.Run(t.Context(), b.config); err != nil || sum.Put != 2 {
		t.Fatalf("%+v, %v", sum, err)
	}
	want := []string{"warning: HR is not a user or group of the team yet, so the name gives nobody access", "warning: nobody@x.y is not a user or group of the team yet, so the name gives nobody access"}
	if slices.Sort(b.warned); !slices.Equal(b.warned, want) {
		t.Errorf("warned %q", b.warned)
	}
}
