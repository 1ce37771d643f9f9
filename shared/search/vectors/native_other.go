//go:build !amd64

package vectors

func dot(a, b []int8) int32 { return dotPlain(a, b) }

func hamming(dst []uint16, query, sketches []uint64) { hammingPlain(dst, query, sketches) }
