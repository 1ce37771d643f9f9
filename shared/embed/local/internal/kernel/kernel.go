// Package kernel has the inner loops of a BERT forward pass with weights of int8, in one form for each kind of
// processor. Forms differ in speed, and in the last bits of what they compute.
package kernel

import "fmt"

// Shapes that callers keep to, so that no kernel handles remainders.
const (
	Block = 48 // rows of activations: a multiple of every Set's Tile, and of Lanes
	Panel = 64 // columns of weights are a multiple
	Lanes = 16 // numbers of a row are a multiple
	Head  = 32 // numbers of an attention head
	Lines = 6  // rows of queries that attend at once
)

// Set is the kernels for one kind of processor.
type Set struct {
	name     string
	tile     int
	pairs    bool // needs the order of Linear
	multiply func(l *Linear, x *Bytes, rows int, out Blocks)
	quantize func(dst []uint8, src []float32) (scale float32, zero int32)
	gelu     func(x []float32)
	addNorm  func(x, y, gain, bias []float32)
	turn     func(dst, src []float32, n, step, stride int)
	scores   func(dst, queries, keys []float32, step, stride int)
	softmax  func(x []float32, stride int, inverse *[Lines]float32)
	mix      func(dst, weights, values []float32, n, width, stride, step int, inverse *[Lines]float32)
}

// Name names the instructions that the kernels use.
func (s *Set) Name() string { return s.name }

// Tile returns of what the rows of a product must be a multiple.
func (s *Set) Tile() int { return s.tile }

// Sets returns the kernels that this processor has the instructions for, the fastest first. The last is Plain.
func Sets() []*Set { return append(native(), Plain()) }

// Bytes are rows of activations as unsigned bytes: a number is (byte - zero) * scale of its row.
type Bytes struct {
	Width  int
	Data   []uint8
	Scales []float32
	Zeros  []int32
}

// NewBytes returns room for rows of width numbers.
func NewBytes(rows, width int) *Bytes {
	return &Bytes{Width: width, Data: make([]uint8, rows*width), Scales: make([]float32, rows), Zeros: make([]int32, rows)}
}

// Blocks is where a product goes: column c of row r to Numbers[c/Panel*Block + r*Row + c%Panel].
type Blocks struct {
	Numbers []float32
	Block   int
	Row     int
}

// need panics unless the slice that is named has n elements. The kernels in assembly check nothing.
func need(what string, has, n int) {
	if has < n || n < 0 {
		panic(fmt.Sprintf("kernel: %s has %d elements, needs %d", what, has, n))
	}
}

func multiple(what string, n, of int) {
	if n <= 0 || n%of != 0 {
		panic(fmt.Sprintf("kernel: %s is %d, must be a positive multiple of %d", what, n, of))
	}
}

// Multiply writes the first rows of x, a multiple of s.Tile, times the weights of l, plus its bias.
func (s *Set) Multiply(l *Linear, x *Bytes, rows int, out Blocks) {
	multiple("rows", rows, s.tile)
	if x.Width != l.in {
		panic(fmt.Sprintf("kernel: rows of %d numbers for weights of %d rows", x.Width, l.in))
	}
	need("activations", len(x.Data), rows*x.Width)
	need("scales", min(len(x.Scales), len(x.Zeros)), rows)
	need("product", len(out.Numbers), (l.out/Panel-1)*out.Block+(rows-1)*out.Row+Panel)
	s.multiply(l, x, rows, out)
}

// Quantize makes row r of x the bytes of src, whose length is the width of x.
func (s *Set) Quantize(x *Bytes, r int, src []float32) {
	multiple("width", x.Width, Panel)
	need("row", len(src), x.Width)
	x.Scales[r], x.Zeros[r] = s.quantize(x.Data[r*x.Width:(r+1)*x.Width], src[:x.Width])
}

// Gelu replaces each number by its Gaussian error linear unit.
func (s *Set) Gelu(x []float32) {
	multiple("numbers", len(x), Lanes)
	s.gelu(x)
}

// AddNorm replaces x by the layer normalisation of x+y, with mean 0 and variance 1, times gain plus bias.
func (s *Set) AddNorm(x, y, gain, bias []float32) {
	multiple("numbers", len(x), Panel)
	need("addend", len(y), len(x))
	need("gain and bias", min(len(gain), len(bias)), len(x))
	s.addNorm(x, y, gain, bias)
}

// Turn writes the first Head numbers of n rows of src, which begin step apart, as columns: number d of row r goes to
// dst[d*stride+r]. The stride is a multiple of Lanes and at least n; src has stride rows. Columns from n on are undefined.
func (s *Set) Turn(dst, src []float32, n, step, stride int) {
	multiple("stride", stride, Lanes)
	need("stride", stride, n)
	need("columns", len(dst), Head*stride)
	need("rows", len(src), (stride-1)*step+Head)
	s.turn(dst, src, n, step, stride)
}

// Scores writes the products of Lines queries, which begin step apart, with each of the stride keys that Turn wrote.
// Row i of dst begins at i*stride.
func (s *Set) Scores(dst, queries, keys []float32, step, stride int) {
	multiple("stride", stride, Lanes)
	need("scores", len(dst), Lines*stride)
	need("queries", len(queries), (Lines-1)*step+Head)
	need("keys", len(keys), Head*stride)
	s.scores(dst, queries, keys, step, stride)
}

// Softmax replaces the first n numbers of each of Lines rows of stride numbers by 2 to the power of their difference to
// the row's highest, and the others by 0. It writes the inverse of each row's sum, by which Mix multiplies.
func (s *Set) Softmax(x []float32, n, stride int, inverse *[Lines]float32) {
	multiple("stride", stride, Lanes)
	need("numbers", len(x), Lines*stride)
	multiple("keys", n, 1)
	need("stride", stride, n)
	for i := range Lines {
		for j := n; j < stride; j++ {
			x[i*stride+j] = lowest
		}
	}
	s.softmax(x, stride, inverse)
}

// lowest is a score whose weight is nothing next to any other.
const lowest = -1e30

// Mix writes Lines rows of Head numbers, width apart: the sum of n values, which begin step apart, each multiplied by its
// weight, and by the inverse of the row. Row i of weights begins at i*stride.
func (s *Set) Mix(dst, weights, values []float32, n, width, stride, step int, inverse *[Lines]float32) {
	multiple("values", n, 1)
	need("mixture", len(dst), (Lines-1)*width+Head)
	need("weights", len(weights), (Lines-1)*stride+n)
	need("values", len(values), (n-1)*step+Head)
	s.mix(dst, weights, values, n, width, stride, step, inverse)
}
