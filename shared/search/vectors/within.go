package vectors

import "unsafe"

// AppendWithin appends to dst the places in distances of those that are at most limit. Neither a distance nor limit may
// be above 32,767.
func AppendWithin(dst []int, distances []uint16, limit uint16) []int {
	const ones, high = 0x0001_0001_0001_0001, 0x8000_8000_8000_8000
	bound, i := uint64(limit)*ones|high, 0
	// Four at a time: the highest bit of a part remains if its distance is not above the limit.
	for ; i+4 <= len(distances); i += 4 {
		four := *(*uint64)(unsafe.Pointer(&distances[i])) //nolint:gosec // four of the slice, in the order of the machine
		if (bound-four)&high == 0 {
			continue
		}
		for j := i; j < i+4; j++ {
			if distances[j] <= limit {
				dst = append(dst, j)
			}
		}
	}
	for ; i < len(distances); i++ {
		if distances[i] <= limit {
			dst = append(dst, i)
		}
	}
	return dst
}
