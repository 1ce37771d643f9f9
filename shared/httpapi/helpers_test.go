package httpapi_test

import (
	"fmt"
	"log/slog"
	"os"
	"testing"
)

// unknownID is an id that nothing has.
const unknownID = "0190d2a0-ffff-7fff-bfff-ffffffffffff"

// numberedID is a UUID for each n.
func numberedID(n int) string { return fmt.Sprintf("0190d2a0-0000-7000-8000-%012d", n) }

// workerLog takes what the workers of all tests log.
var workerLog syncBuffer

func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.NewJSONHandler(&workerLog, nil)))
	os.Exit(m.Run())
}
