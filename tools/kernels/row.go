package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// bounds finds the lowest and the highest number, and 0.
func bounds(w width) {
	w.text("bounds", "func(x *float32, n int) (low, high float32)", "returns the lowest and highest of 0 and n numbers, a multiple of 64.")
	low, high := w.v[0:2], w.v[2:4]
	for i := range 2 {
		w.zero(low[i])
		w.zero(high[i])
	}
	x, n := param("x"), param("n")
	loop("each", n, 2*w.lanes, func() {
		for i := range 2 {
			VMOVUPS(Mem{Base: x, Disp: i * w.bytes()}, w.v[4+i])
			VMINPS(w.v[4+i], low[i], low[i])
			VMAXPS(w.v[4+i], high[i], high[i])
		}
		ADDQ(number(2*w.bytes()), x)
	})
	VMINPS(low[1], low[0], low[0])
	VMAXPS(high[1], high[0], high[0])
	w.across(VMINPS, low[0], w.v[4])
	w.across(VMAXPS, high[0], w.v[4])
	Store(low[0].AsX(), Return("low"))
	Store(high[0].AsX(), Return("high"))
	VZEROUPPER()
	RET()
}

// quantize makes bytes of numbers.
func quantize(w width) {
	w.text("quantize", "func(dst *uint8, x *float32, n int, inverse float32, zero int32)",
		"writes x*inverse + zero, rounded and within 0 to 255, for n numbers, a multiple of 64.")
	dst, x, n := param("dst"), param("x"), param("n")
	inverse, zero, none := w.v[0], w.v[1], w.v[2]
	address, _ := Param("inverse").Resolve()
	VBROADCASTSS(address.Addr, inverse)
	VMOVD(Load(Param("zero"), GP32()), zero.AsX())
	VPBROADCASTD(zero.AsX(), zero)
	w.zero(none)
	order := w.v[3]
	if w.lanes == 8 {
		VMOVDQU(table("packed", 0, 4, 1, 5, 2, 6, 3, 7), order)
	}
	loop("each", n, 4*w.lanes, func() {
		for i := range 4 {
			r := w.v[4+i]
			VMULPS(Mem{Base: x, Disp: i * w.bytes()}, inverse, r)
			VCVTPS2DQ(r, r)
			VPADDD(zero, r, r)
			if w.lanes == 16 {
				VPMAXSD(none, r, r)
				VPMOVUSDB(r, Mem{Base: dst, Disp: i * 16})
			}
		}
		if w.lanes == 8 {
			VPACKUSDW(w.v[5], w.v[4], w.v[4])
			VPACKUSDW(w.v[7], w.v[6], w.v[6])
			VPACKUSWB(w.v[6], w.v[4], w.v[4])
			VPERMD(w.v[4], order, w.v[4])
			VMOVDQU(w.v[4], Mem{Base: dst})
		}
		ADDQ(number(4*w.lanes), dst)
		ADDQ(number(4*w.bytes()), x)
	})
	VZEROUPPER()
	RET()
}

// normal are the coefficients of the odd polynomial, from the lowest power, that is nearest to the integral of the normal distribution from 0 to x,
// for x up to normalEnd: a least-squares fit whose weights were adjusted until the greatest error was smallest. It makes
// an error of 4e-5 in GELU, and beyond the end one of 3e-5 of x.
var normal = []float64{0.39867339, -0.065887836, 0.0095053946, -0.0010064894, 7.4854909e-05, -3.6571223e-06, 1.0419562e-07, -1.3012876e-09}

const normalEnd = 4

// gelu is x*(0.5 + normal(x)).
func gelu(w width) {
	w.text("gelu", "func(x *float32, n int)", "replaces n numbers, a multiple of 16, by their Gaussian error linear units.")
	x, n := param("x"), param("n")
	c := w.v[4 : 4+len(normal)]
	for i, f := range normal {
		w.fill(c[i], f)
	}
	high, low, half := w.v[12], w.v[13], w.v[14]
	w.fill(high, normalEnd)
	w.fill(low, -normalEnd)
	w.fill(half, 0.5)
	v, t, u, p := w.v[0], w.v[1], w.v[2], w.v[3]
	loop("each", n, w.lanes, func() {
		VMOVUPS(Mem{Base: x}, v)
		VMINPS(high, v, t)
		VMAXPS(low, t, t)
		VMULPS(t, t, u)
		VMOVAPS(c[len(c)-1], p)
		for i := len(c) - 2; i >= 0; i-- {
			VFMADD213PS(c[i], u, p)
		}
		VFMADD213PS(half, t, p)
		VMULPS(v, p, p)
		VMOVUPS(p, Mem{Base: x})
		ADDQ(number(w.bytes()), x)
	})
	VZEROUPPER()
	RET()
}

// addNorm adds and normalises.
func addNorm(w width) {
	w.text("addNorm", "func(x, y, gain, bias *float32, n int, inverse float32)",
		"replaces n numbers x, a multiple of 64, by the normalisation of x+y, times gain plus bias. The inverse is that of n.")
	x, y, gain, bias, n := param("x"), param("y"), param("gain"), param("bias"), param("n")
	left, at := GP64(), GP64()
	address, _ := Param("inverse").Resolve()
	sums, t := w.v[0:4], w.v[4:8]
	pass := func(label string, body func(i int, m Mem)) {
		MOVQ(n, left)
		XORQ(at, at)
		loop(label, left, 4*w.lanes, func() {
			for i := range 4 {
				body(i, Mem{Base: x, Index: at, Scale: 1, Disp: i * w.bytes()})
			}
			ADDQ(number(4*w.bytes()), at)
		})
	}
	same := func(m Mem, base reg.GPVirtual) Mem { m.Base = base; return m }
	total := func() {
		VADDPS(sums[1], sums[0], sums[0])
		VADDPS(sums[3], sums[2], sums[2])
		VADDPS(sums[2], sums[0], sums[0])
		w.across(VADDPS, sums[0], t[0])
		VMULSS(address.Addr, sums[0].AsX(), sums[0].AsX())
	}
	for i := range 4 {
		w.zero(sums[i])
	}
	pass("sum", func(i int, m Mem) {
		VMOVUPS(m, t[i])
		VADDPS(same(m, y), t[i], t[i])
		VADDPS(t[i], sums[i], sums[i])
		VMOVUPS(t[i], m)
	})
	total()
	mean, scale := w.v[8], w.v[9]
	VBROADCASTSS(sums[0].AsX(), mean)
	for i := range 4 {
		w.zero(sums[i])
	}
	pass("squares", func(i int, m Mem) {
		VMOVUPS(m, t[i])
		VSUBPS(mean, t[i], t[i])
		VMOVUPS(t[i], m)
		VFMADD231PS(t[i], t[i], sums[i])
	})
	total()
	VADDSS(float(1e-12), sums[0].AsX(), sums[0].AsX())
	VSQRTSS(sums[0].AsX(), sums[0].AsX(), sums[0].AsX())
	VMOVSS(float(1), t[0].AsX())
	VDIVSS(sums[0].AsX(), t[0].AsX(), t[0].AsX())
	VBROADCASTSS(t[0].AsX(), scale)
	pass("norm", func(i int, m Mem) {
		VMULPS(m, scale, t[i])
		VMOVUPS(same(m, gain), sums[i])
		VFMADD213PS(same(m, bias), sums[i], t[i])
		VMOVUPS(t[i], m)
	})
	VZEROUPPER()
	RET()
}
