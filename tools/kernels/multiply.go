package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// product is the arguments of a kernel that multiplies.
const product = "weights *int8, stride int, in int, less *int32, scales *float32, bias *float32, " +
	"x *uint8, xScales *float32, xZeros *int32, rows int, out *float32, outRow int"

// multiplyVNNI multiplies tiles of 6 rows with 64 columns.
func multiplyVNNI() {
	const height, across = 6, 4
	w := wide
	TEXT("multiplyVNNI", NOSPLIT, "func("+product+")")
	Doc("multiplyVNNI writes rows of x, a multiple of 6, times 4 panels of weights.")
	Pragma("noescape")
	sum := func(r, c int) reg.VecPhysical { return w.v[r*across+c] }
	weight := func(c int) reg.VecPhysical { return w.v[height*across+c] }
	byteOf := []reg.VecPhysical{w.v[28], w.v[29], w.v[30]}

	panel, stride, in := param("weights"), param("stride"), param("in")
	stride3 := GP64()
	LEAQ(Mem{Base: stride, Index: stride, Scale: 2}, stride3)
	x := newRows(param("x"), in)
	out, outRow := param("out"), param("outRow")
	scale, zeros := param("xScales"), param("xZeros")
	left := param("rows")
	weightAt := func(base reg.GPVirtual, c, offset int) Mem {
		switch c {
		case 0:
			return Mem{Base: base, Disp: offset}
		case 3:
			return Mem{Base: base, Index: stride3, Scale: 1, Disp: offset}
		}
		return Mem{Base: base, Index: stride, Scale: uint8(c), Disp: offset}
	}
	ahead := GP64()
	loop("tile", left, height, func() {
		t := param("less")
		for r := range height {
			VPBROADCASTD(Mem{Base: zeros, Disp: r * 4}, byteOf[0])
			for c := range across {
				VPMULLD(Mem{Base: t, Disp: c * 64}, byteOf[0], sum(r, c))
			}
		}
		k := GP64()
		MOVQ(in, k)
		const step = 4
		loop("step", k, 4*step, func() {
			// The weights of the next 64 columns arrive while these are multiplied: a question has few rows, and would wait for them.
			LEAQ(Mem{Base: panel, Index: stride, Scale: across}, ahead)
			for u := range step {
				for c := range across {
					PREFETCHT1(weightAt(ahead, c, u*64))
					VMOVDQU32(weightAt(panel, c, u*64), weight(c))
				}
				for r := range height {
					b := byteOf[r%len(byteOf)]
					VPBROADCASTD(x.at(r, u*4), b)
					for c := range across {
						dotBytes(weight(c), b, sum(r, c))
					}
				}
			}
			x.next(4 * step)
			ADDQ(number(64*step), panel)
		})
		// Back to the beginning of the panel, and on to the next tile of x.
		SHLQ(Imm(4), in)
		SUBQ(in, panel)
		SHRQ(Imm(4), in)
		ADDQ(x.by5, x.base)
		finish(w, height, across, sum, weight, byteOf[0], scale, out, outRow)
		ADDQ(number(height*4), scale)
		ADDQ(number(height*4), zeros)
	})
	VZEROUPPER()
	RET()
}

// finish turns the sums of a tile into numbers, writes them, and moves out on to the next tile.
func finish(w width, height, across int, sum func(r, c int) reg.VecPhysical, spare func(c int) reg.VecPhysical, t reg.VecPhysical, scale, out, outRow reg.GPVirtual) {
	p := param("scales")
	for c := range across {
		VMOVUPS(Mem{Base: p, Disp: c * w.bytes()}, spare(c))
	}
	Load(Param("bias"), p)
	for r := range height {
		VBROADCASTSS(Mem{Base: scale, Disp: r * 4}, t)
		for c := range across {
			VCVTDQ2PS(sum(r, c), sum(r, c))
			VMULPS(t, sum(r, c), sum(r, c))
			VFMADD213PS(Mem{Base: p, Disp: c * w.bytes()}, spare(c), sum(r, c))
			VMOVUPS(sum(r, c), Mem{Base: out, Disp: c * w.bytes()})
		}
		ADDQ(outRow, out)
	}
}

// multiplyAVX2 multiplies tiles of 4 rows with 16 columns. Pairs of products are added in 16 bits: two bytes with their weights
// cannot overflow. Four cannot for most weights, which the list of pairs has first.
func multiplyAVX2() {
	const height, across = 4, 2
	w := narrow
	TEXT("multiplyAVX2", NOSPLIT, "func(order *uint16, easy int, hard int, "+product+")")
	Doc("multiplyAVX2 writes rows of x, a multiple of 4, times a panel of weights. It takes 8 bytes of a row at a time, at",
		"the offsets of order: easy ones, whose products can be added in 16 bits, and hard ones.")
	Pragma("noescape")
	sum := func(r, c int) reg.VecPhysical { return w.v[r*across+c] }
	weight := func(half, c int) reg.VecPhysical { return w.v[8+half*across+c] }
	spare, b, t, t2 := w.v[12], w.v[13], w.v[14], w.v[15]
	ones := table("ones", 0x00010001, 0x00010001, 0x00010001, 0x00010001, 0x00010001, 0x00010001, 0x00010001, 0x00010001)

	x, in := param("x"), param("in")
	in3 := GP64()
	LEAQ(Mem{Base: in, Index: in, Scale: 2}, in3)
	out, outRow := param("out"), param("outRow")
	scale, zeros := param("xScales"), param("xZeros")
	left := param("rows")
	panel := param("weights")
	row := func(r int, offset reg.GPVirtual, by int) Mem {
		return Mem{Base: offset, Index: []reg.GPVirtual{in, in, in, in3}[r], Scale: []uint8{1, 1, 2, 1}[r], Disp: by}
	}
	loop("tile", left, height, func() {
		p := param("less")
		for r := range height {
			VPBROADCASTD(Mem{Base: zeros, Disp: r * 4}, b)
			for c := range across {
				VPMULLD(Mem{Base: p, Disp: c * 32}, b, sum(r, c))
			}
		}
		next := param("order")
		for _, kind := range []string{"easy", "hard"} {
			count := param(kind)
			TESTQ(count, count)
			JZ(LabelRef("no" + kind))
			loop(kind, count, 1, func() {
				at, place := GP64(), GP64()
				MOVWQZX(Mem{Base: next}, at)
				ADDQ(number(2), next)
				MOVQ(at, place)
				SHLQ(Imm(4), place)
				ADDQ(panel, place)
				ADDQ(x, at)
				for half := range 2 {
					for c := range across {
						VMOVDQU(Mem{Base: place, Disp: half*64 + c*32}, weight(half, c))
					}
				}
				for r := range height {
					source := func(by int) Mem {
						if r == 0 {
							return Mem{Base: at, Disp: by}
						}
						return row(r, at, by)
					}
					if kind == "easy" {
						// Both columns of the first four bytes, then the second four.
						VPBROADCASTD(source(0), b)
						VPMADDUBSW(weight(0, 0), b, t)
						VPMADDUBSW(weight(0, 1), b, t2)
						VPBROADCASTD(source(4), b)
						for c, first := range []reg.VecPhysical{t, t2} {
							second := weight(1, c)
							if c == across-1 {
								VPMADDUBSW(second, b, b)
								VPADDW(b, first, first)
							} else {
								VPMADDUBSW(second, b, spare)
								VPADDW(spare, first, first)
							}
							VPMADDWD(ones, first, first)
							VPADDD(first, sum(r, c), sum(r, c))
						}
						continue
					}
					for half := range 2 {
						VPBROADCASTD(source(half*4), b)
						for c := range across {
							VPMADDUBSW(weight(half, c), b, t)
							VPMADDWD(ones, t, t)
							VPADDD(t, sum(r, c), sum(r, c))
						}
					}
				}
			})
			Label("no" + kind)
		}
		LEAQ(Mem{Base: x, Index: in, Scale: 4}, x)
		finish(w, height, across, sum, func(c int) reg.VecPhysical { return weight(0, c) }, b, scale, out, outRow)
		ADDQ(number(height*4), scale)
		ADDQ(number(height*4), zeros)
	})
	VZEROUPPER()
	RET()
}
