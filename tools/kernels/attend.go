package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// head is the numbers of an attention head, height the queries that a kernel takes at once.
const (
	head   = 32
	height = 6
)

// turn writes rows as columns.
func turn(w width) {
	w.text("turn", "func(dst, src *float32, step, stride int)",
		"writes the first 32 numbers of stride rows of src, step bytes apart, as columns. The stride is a multiple of 16.")
	dst, src, step, stride := param("dst"), param("src"), param("step"), param("stride")
	places, mask, t := w.v[0], w.v[1], w.v[2]
	var lanes []uint32
	for i := range uint32(16) {
		lanes = append(lanes, i)
	}
	VMOVD(step.As32(), places.AsX())
	VPBROADCASTD(places.AsX(), places)
	VPMULLD(table("lanes", lanes...), places, places)
	left, next := GP64(), GP64()
	MOVQ(stride, left)
	SHLQ(Imm(2), stride)
	IMUL3Q(number(w.lanes), step, step)
	loop("rows", left, w.lanes, func() {
		at, d := GP64(), GP64()
		MOVQ(src, at)
		MOVQ(dst, next)
		MOVQ(U32(head), d)
		loop("number", d, 1, func() {
			from := Mem{Base: at, Index: places, Scale: 1}
			if w.lanes == 16 {
				KXNORW(reg.K1, reg.K1, reg.K1)
				VGATHERDPS(from, reg.K1, t)
			} else {
				VPCMPEQD(mask, mask, mask)
				VGATHERDPS(mask, from, t)
			}
			VMOVUPS(t, Mem{Base: next})
			ADDQ(number(4), at)
			ADDQ(stride, next)
		})
		ADDQ(step, src)
		ADDQ(number(w.bytes()), dst)
	})
	VZEROUPPER()
	RET()
}

// scores multiplies queries with keys.
func scores(w width) {
	w.text("scores", "func(dst, queries, keys *float32, step, stride int)",
		"writes the products of 6 queries, step bytes apart, with stride keys in columns. The stride is a multiple of 16.")
	dst, stride := param("dst"), param("stride")
	left := GP64()
	MOVQ(stride, left)
	SHLQ(Imm(2), stride)
	to := newRows(dst, stride)
	from := newRows(param("queries"), param("step"))
	keys := param("keys")
	sizes := []int{2}
	if w.lanes == 16 {
		sizes = []int{4, 1}
	}
	for _, size := range sizes {
		sum := func(r, c int) reg.VecPhysical { return w.v[r*size+c] }
		key := func(c int) reg.VecPhysical { return w.v[height*size+c] }
		q := w.v[height*size+size : height*size+size+1]
		name := map[int]string{4: "four", 2: "two", 1: "one"}[size]
		Label(name)
		CMPQ(left, number(size*w.lanes))
		JL(LabelRef(name + "done"))
		for r := range height {
			for c := range size {
				w.zero(sum(r, c))
			}
		}
		at, d := GP64(), GP64()
		MOVQ(keys, at)
		MOVQ(U32(head/2), d)
		loop(name+"each", d, 1, func() {
			for u := range 2 {
				for c := range size {
					VMOVUPS(Mem{Base: at, Disp: c * w.bytes()}, key(c))
				}
				for r := range height {
					VBROADCASTSS(from.at(r, u*4), q[0])
					for c := range size {
						VFMADD231PS(key(c), q[0], sum(r, c))
					}
				}
				ADDQ(stride, at)
			}
			from.next(8)
		})
		SUBQ(number(head*4), from.base)
		for r := range height {
			for c := range size {
				VMOVUPS(sum(r, c), to.at(r, c*w.bytes()))
			}
		}
		to.next(size * w.bytes())
		ADDQ(number(size*w.bytes()), keys)
		SUBQ(number(size*w.lanes), left)
		JMP(LabelRef(name))
		Label(name + "done")
	}
	VZEROUPPER()
	RET()
}

// power are the coefficients of the polynomial nearest to 2 to the power of x, relative to it, for x from -0.5 to 0.5:
// its error is 3e-6.
var power = []float64{0.999999261, 0.693121814, 0.240247449, 0.0559178629, 0.00957010084}

// softmax makes weights of scores.
func softmax(w width) {
	w.text("softmax", "func(x *float32, stride int, inverse *float32)",
		"replaces 6 rows of stride numbers, a multiple of 16, by 2 to the power of their difference to the row's highest, and writes "+
			"the inverses of their sums.")
	x, stride, inverse := param("x"), param("stride"), param("inverse")
	highest, sum, low := w.v[0:2], w.v[2], w.v[3]
	t, n, p := w.v[4], w.v[5], w.v[6]
	c := w.v[7 : 7+len(power)]
	for i, f := range power {
		w.fill(c[i], f)
	}
	w.fill(low, -126)
	rowsLeft, left := GP64(), GP64()
	MOVQ(U32(height), rowsLeft)
	loop("row", rowsLeft, 1, func() {
		at := GP64()
		MOVQ(x, at)
		MOVQ(stride, left)
		VMOVUPS(Mem{Base: at}, highest[0])
		loop("highest", left, w.lanes, func() {
			VMAXPS(Mem{Base: at}, highest[0], highest[0])
			ADDQ(number(w.bytes()), at)
		})
		w.across(VMAXPS, highest[0], highest[1])
		VBROADCASTSS(highest[0].AsX(), highest[0])
		w.zero(sum)
		MOVQ(stride, left)
		loop("power", left, w.lanes, func() {
			VMOVUPS(Mem{Base: x}, t)
			VSUBPS(highest[0], t, t)
			VMAXPS(low, t, t)
			if w.lanes == 16 {
				VRNDSCALEPS(Imm(8), t, n)
			} else {
				VROUNDPS(Imm(8), t, n)
			}
			VSUBPS(n, t, t)
			VMOVAPS(c[len(c)-1], p)
			for i := len(c) - 2; i >= 0; i-- {
				VFMADD213PS(c[i], t, p)
			}
			if w.lanes == 16 {
				VSCALEFPS(n, p, p)
			} else {
				VCVTPS2DQ(n, n)
				VPSLLD(Imm(23), n, n)
				VPADDD(n, p, p)
			}
			VADDPS(p, sum, sum)
			VMOVUPS(p, Mem{Base: x})
			ADDQ(number(w.bytes()), x)
		})
		w.across(VADDPS, sum, t)
		VMOVSS(float(1), t.AsX())
		VDIVSS(sum.AsX(), t.AsX(), t.AsX())
		VMOVSS(t.AsX(), Mem{Base: inverse})
		ADDQ(number(4), inverse)
	})
	VZEROUPPER()
	RET()
}

// mix adds values by their weights.
func mix(w width) {
	w.text("mix", "func(dst, weights, values *float32, n, width, stride, step int, inverse *float32)",
		"writes 6 rows of 32 numbers, width bytes apart: the sums of n values, step bytes apart, times weights, in rows stride bytes apart, times the inverse of the row.")
	const size = 2
	sum := func(r, c int) reg.VecPhysical { return w.v[r*size+c] }
	value := w.v[12:14]
	b := w.v[14]
	halves := head / size / w.lanes
	for half := range halves {
		label := []string{"low", "high"}[half]
		weights := newRows(param("weights"), param("stride"))
		values, step, n := param("values"), param("step"), param("n")
		offset := half * size * w.bytes()
		for r := range height {
			for c := range size {
				w.zero(sum(r, c))
			}
		}
		loop(label, n, 1, func() {
			for c := range size {
				VMOVUPS(Mem{Base: values, Disp: offset + c*w.bytes()}, value[c])
			}
			for r := range height {
				VBROADCASTSS(weights.at(r, 0), b)
				for c := range size {
					VFMADD231PS(value[c], b, sum(r, c))
				}
			}
			ADDQ(step, values)
			weights.next(4)
		})
		to, inverse := newRows(param("dst"), param("width")), param("inverse")
		for r := range height {
			VBROADCASTSS(Mem{Base: inverse, Disp: r * 4}, b)
			for c := range size {
				VMULPS(b, sum(r, c), sum(r, c))
				VMOVUPS(sum(r, c), to.at(r, offset+c*w.bytes()))
			}
		}
	}
	VZEROUPPER()
	RET()
}
