package httpapi_test

import (
	"encoding/binary"
	"strings"
	"testing"

	"docent/shared/apierr"
	"docent/shared/httpapi"
)

// TestACompressedBodyOfAnySizeIsReadWhole has sizes around those at which more memory is allocated.
func TestACompressedBodyOfAnySizeIsReadWhole(t *testing.T) {
	t.Parallel()
	const kilobyte, megabyte = 1 << 10, 1 << 20
	for _, size := range []int{1, 64 * kilobyte, 64*kilobyte + 1, megabyte, megabyte + 1, 3 * megabyte, httpapi.MaxBody} {
		want := strings.Repeat("a", size)
		if got, err := httpapi.Inflate(packed(t, want)); err != nil || string(got) != want {
			t.Errorf("%d bytes: got %d, %v", size, len(got), err)
		}
	}
	if _, err := httpapi.Inflate(packed(t, strings.Repeat("a", httpapi.MaxBody+1))); !apierr.IsCode(err, apierr.CodeTooLarge) {
		t.Errorf("one byte too many: %v", err)
	}
}

// TestAWrongGzipTrailerIsRefused names fewer and more bytes than there are.
func TestAWrongGzipTrailerIsRefused(t *testing.T) {
	t.Parallel()
	const size = 3 << 20
	for _, named := range []uint32{0, size - 1, size + 1, 1<<32 - 1} {
		body := packed(t, strings.Repeat("a", size))
		binary.LittleEndian.PutUint32(body[len(body)-4:], named)
		if got, err := httpapi.Inflate(body); !apierr.IsCode(err, apierr.CodeInvalidRequest) {
			t.Errorf("a trailer of %d: %d bytes, %v", named, len(got), err)
		}
	}
}
