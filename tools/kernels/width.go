package main

import (
	"fmt"
	"math"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// width is the vectors that a kernel computes with.
type width struct {
	suffix string // of the names of functions
	lanes  int    // 32-bit numbers of a vector
	v      []reg.VecPhysical
}

var (
	wide = width{"512", 16, []reg.VecPhysical{
		reg.Z0, reg.Z1, reg.Z2, reg.Z3, reg.Z4, reg.Z5, reg.Z6, reg.Z7, reg.Z8, reg.Z9, reg.Z10, reg.Z11, reg.Z12, reg.Z13, reg.Z14, reg.Z15,
		reg.Z16, reg.Z17, reg.Z18, reg.Z19, reg.Z20, reg.Z21, reg.Z22, reg.Z23, reg.Z24, reg.Z25, reg.Z26, reg.Z27, reg.Z28, reg.Z29, reg.Z30, reg.Z31,
	}}
	narrow = width{"256", 8, []reg.VecPhysical{
		reg.Y0, reg.Y1, reg.Y2, reg.Y3, reg.Y4, reg.Y5, reg.Y6, reg.Y7, reg.Y8, reg.Y9, reg.Y10, reg.Y11, reg.Y12, reg.Y13, reg.Y14, reg.Y15,
	}}
)

func (w width) bytes() int { return w.lanes * 4 }

// text begins a function of which the signature's parameters have the given names and types.
func (w width) text(name, signature, doc string) {
	TEXT(name+w.suffix, NOSPLIT, signature)
	Doc(name + w.suffix + " " + doc)
	Pragma("noescape")
}

func param(name string) reg.GPVirtual { return Load(Param(name), GP64()).(reg.GPVirtual) }

// number is a constant of the size that additions take.
func number(n int) Constant {
	if n < 128 {
		return U8(n)
	}
	return U32(n)
}

// zero clears a vector.
func (w width) zero(r reg.VecPhysical) {
	if w.lanes == 16 {
		VPXORD(r, r, r)
	} else {
		VPXOR(r, r, r)
	}
}

// constants are the names of the constants that have been written.
var constants = map[string]Mem{}

// float returns where a constant is.
func float(x float64) Mem { return word(math.Float32bits(float32(x))) }

// word returns where a 32-bit constant is.
func word(bits uint32) Mem {
	name := fmt.Sprintf("c%08x", bits)
	if m, found := constants[name]; found {
		return m
	}
	constants[name] = ConstData(name, U32(bits))
	return constants[name]
}

// fill makes all numbers of r the same constant.
func (w width) fill(r reg.VecPhysical, x float64) { VBROADCASTSS(float(x), r) }

// table returns where 32-bit constants follow each other.
func table(name string, numbers ...uint32) Mem {
	if m, found := constants[name]; found {
		return m
	}
	m := GLOBL(name, RODATA|NOPTR)
	for i, x := range numbers {
		DATA(i*4, U32(x))
	}
	constants[name] = m
	return m
}

// across joins all numbers of r into its lowest one, by an instruction such as VADDPS. It changes t.
func (w width) across(op func(...Op), r, t reg.VecPhysical) {
	if w.lanes == 16 {
		VEXTRACTF64X4(Imm(1), r, t.AsY())
		op(t.AsY(), r.AsY(), r.AsY())
	}
	VEXTRACTF128(Imm(1), r.AsY(), t.AsX())
	op(t.AsX(), r.AsX(), r.AsX())
	VPERMILPS(Imm(0x4e), r.AsX(), t.AsX())
	op(t.AsX(), r.AsX(), r.AsX())
	VPERMILPS(Imm(0xb1), r.AsX(), t.AsX())
	op(t.AsX(), r.AsX(), r.AsX())
}

// loop repeats body, with what ends it, while the counter is above zero. The body must run at least once.
func loop(label string, counter reg.GPVirtual, by int, body func()) {
	Label(label)
	body()
	SUBQ(number(by), counter)
	JNZ(LabelRef(label))
}

// dotBytes adds to each number of sum the products of 4 unsigned bytes of a with 4 signed ones of b (VPDPBUSD).
func dotBytes(b, a, sum reg.VecPhysical) {
	Instruction(&ir.Instruction{Opcode: "VPDPBUSD", Operands: []Op{b, a, sum}, Inputs: []Op{b, a, sum}, Outputs: []Op{sum}})
}

// rows is the addresses of six rows that are equally far apart, which must be known in the function.
type rows struct {
	base, by, by3, by5 reg.GPVirtual
}

// newRows returns rows from base on, by bytes apart.
func newRows(base, by reg.GPVirtual) rows {
	r := rows{base, by, GP64(), GP64()}
	LEAQ(Mem{Base: by, Index: by, Scale: 2}, r.by3)
	LEAQ(Mem{Base: by, Index: by, Scale: 4}, r.by5)
	return r
}

// at returns the address of offset bytes into row i.
func (r rows) at(i, offset int) Mem {
	switch i {
	case 0:
		return Mem{Base: r.base, Disp: offset}
	case 3:
		return Mem{Base: r.base, Index: r.by3, Scale: 1, Disp: offset}
	case 5:
		return Mem{Base: r.base, Index: r.by5, Scale: 1, Disp: offset}
	}
	return Mem{Base: r.base, Index: r.by, Scale: uint8(i), Disp: offset}
}

// next moves all rows on by n bytes.
func (r rows) next(n int) { ADDQ(number(n), r.base) }
