package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// dot multiplies int8 as 16 bits, 32 numbers at a time.
func dot() {
	TEXT("dotAVX2", NOSPLIT, "func(a, b *int8, n int) int32")
	Doc("dotAVX2 returns the dot product of n numbers, a positive multiple of 32.")
	Pragma("noescape")
	w := narrow
	a, b, n := param("a"), param("b"), param("n")
	sums := w.v[0:2]
	for _, s := range sums {
		w.zero(s)
	}
	loop("each", n, 32, func() {
		for i, s := range sums {
			x, y := w.v[2+2*i], w.v[3+2*i]
			VPMOVSXBW(Mem{Base: a, Disp: i * 16}, x)
			VPMOVSXBW(Mem{Base: b, Disp: i * 16}, y)
			VPMADDWD(y, x, x)
			VPADDD(x, s, s)
		}
		ADDQ(number(32), a)
		ADDQ(number(32), b)
	})
	VPADDD(sums[1], sums[0], sums[0])
	VEXTRACTI128(Imm(1), sums[0], w.v[2].AsX())
	x, t := sums[0].AsX(), w.v[2].AsX()
	VPADDD(t, x, x)
	VPSHUFD(Imm(0x4e), x, t)
	VPADDD(t, x, x)
	VPSHUFD(Imm(0xb1), x, t)
	VPADDD(t, x, x)
	sum := GP32()
	VMOVD(x, sum)
	Store(sum, ReturnIndex(0))
	VZEROUPPER()
	RET()
}

// hamming counts the bits of sketches of 6 words, with the query in registers.
func hamming() {
	const words = 6
	TEXT("hamming6POPCNT", NOSPLIT, "func(dst *uint16, query *uint64, sketches *uint64, n int)")
	Doc("hamming6POPCNT writes the distances of n sketches of 6 words each; n is positive.")
	Pragma("noescape")
	dst, query, sketches, n := param("dst"), param("query"), param("sketches"), param("n")
	q := make([]reg.GPVirtual, words)
	for i := range q {
		q[i] = GP64()
		MOVQ(Mem{Base: query, Disp: i * 8}, q[i])
	}
	loop("each", n, 1, func() {
		sum, t := GP64(), GP64()
		for i := range q {
			MOVQ(q[i], t)
			XORQ(Mem{Base: sketches, Disp: i * 8}, t)
			if i == 0 {
				POPCNTQ(t, sum)
				continue
			}
			POPCNTQ(t, t)
			ADDQ(t, sum)
		}
		MOVW(sum.As16(), Mem{Base: dst})
		ADDQ(number(2), dst)
		ADDQ(number(words*8), sketches)
	})
	RET()
}
