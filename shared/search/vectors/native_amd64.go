package vectors

import "golang.org/x/sys/cpu"

//go:generate go -C ../../../tools/kernels run . -of vectors -pkg vectors -out ../../shared/search/vectors/vectors_amd64.s -stubs ../../shared/search/vectors/stubs_amd64.go

func dot(a, b []int8) int32 {
	const step = 32
	n := len(a) / step * step
	if n == 0 || !cpu.X86.HasAVX2 {
		return dotPlain(a, b)
	}
	return dotAVX2(&a[0], &b[0], n) + dotPlain(a[n:], b[n:])
}

func hamming(dst []uint16, query, sketches []uint64) {
	if len(query) != 6 || len(dst) == 0 || !cpu.X86.HasPOPCNT {
		hammingPlain(dst, query, sketches)
		return
	}
	hamming6POPCNT(&dst[0], &query[0], &sketches[0], len(dst))
}
