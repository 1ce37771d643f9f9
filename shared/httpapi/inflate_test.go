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
	for _, near := range []int{1, 64 * kilobyte, megabyte, 2 * megabyte, 3 * megabyte, httpapi.MaxBody} {
		for size := near - 1; size <= near+1; size++ {
			want := strings.Repeat("a", size)
			got, err := httpapi.Inflate(packed(t, want))
			if size > httpapi.MaxBody {
				if !apierr.IsCode(err, apierr.CodeTooLarge) {
					t.Errorf("%d bytes: %v", size, err)
				}
				continue
			}
			if err != nil || string(got) != want {
				t.Errorf("%d bytes: got %d, %v", size, len(got), err)
			}
		}
	}
}

// TestATrailerThatLiesIsRefused names fewer and more bytes than there are.
func TestATrailerThatLiesIsRefused(t *testing.T) {
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
