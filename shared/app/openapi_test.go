package app_test

import (
	"bytes"
	"os"
	"testing"

	"docent/shared/app"
)

// TestOpenAPIIsWritten compares the committed openapi.yaml with the operations.
func TestOpenAPIIsWritten(t *testing.T) {
	t.Parallel()
	written, err := os.ReadFile("../../openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	document, err := app.OpenAPI()
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(document, written) {
		t.Error("openapi.yaml differs from the code: run make openapi")
	}
}
