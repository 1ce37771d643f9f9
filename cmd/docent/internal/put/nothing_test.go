package put_test

import (
	"strings"
	"testing"

	"docent/cmd/docent/internal/put"
)

func TestAFolderWithoutAFileToPutIsAnError(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for text, files := range map[string][]string{
		"no file that Docent reads was found below " + b.dir: nil,
		": 2 files have other types (see docent put --help)": {"a.png", "b.go"},
	} {
		for _, f := range files {
			b.write(f, "x")
		}
		if _, err := put.Run(t.Context(), b.config); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%q: %v", files, err)
		}
	}
	if n := b.api.Calls("GET /v1/documents"); n != 0 {
		t.Errorf("%d requests for nothing", n)
	}
}
