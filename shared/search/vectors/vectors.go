// Package vectors compares the stored forms of embedded texts: bit sketches, which are scanned, and vectors of
// int8, which rank what the scan finds.
package vectors

import "math/bits"

// Dot returns the dot product of a and b, which must have equal lengths of at most 131,071, so that the sum cannot
// overflow.
func Dot(a, b []int8) int32 {
	if len(a) != len(b) {
		panic("vectors: lengths differ")
	}
	return dot(a, b)
}

// Hamming writes to dst[i] the number of bits in which query differs from the i-th of sketches, which follow each other
// with len(query) words each. It panics unless len(sketches) is len(dst)*len(query) and query has 1 to 1,023
// words.
func Hamming(dst []uint16, query, sketches []uint64) {
	if len(query) == 0 || len(query) >= 1024 || len(sketches) != len(dst)*len(query) {
		panic("vectors: sketches do not fit the query")
	}
	hamming(dst, query, sketches)
}

func dotPlain(a, b []int8) int32 {
	var sum int32
	for i, x := range a {
		sum += int32(x) * int32(b[i])
	}
	return sum
}

func hammingPlain(dst []uint16, query, sketches []uint64) {
	if len(query) == 6 {
		hamming6(dst, [6]uint64(query), sketches)
		return
	}
	for i := range dst {
		sketch := sketches[i*len(query) : (i+1)*len(query)]
		n := 0
		for j, word := range query {
			n += bits.OnesCount64(word ^ sketch[j])
		}
		dst[i] = uint16(n)
	}
}

// hamming6 is hammingPlain for 384 bits, which the default model has.
func hamming6(dst []uint16, q [6]uint64, sketches []uint64) {
	for i := range dst {
		s := (*[6]uint64)(sketches[i*6:])
		dst[i] = uint16(bits.OnesCount64(q[0]^s[0]) + bits.OnesCount64(q[1]^s[1]) + bits.OnesCount64(q[2]^s[2]) +
			bits.OnesCount64(q[3]^s[3]) + bits.OnesCount64(q[4]^s[4]) + bits.OnesCount64(q[5]^s[5]))
	}
}
