package kernel

import (
	"errors"
	"fmt"
)

// maxWeight is the largest weight: the AVX2 kernel adds two products of a byte and a weight in 16 bits.
const maxWeight = 64

// Bounds of a layer: sums of 255*64 in 32 bits, and offsets of 16 bits.
const (
	maxIn  = 1 << 15
	maxOut = 1 << 16
)

// ErrWeights means that the weights are not of a shape or in a range that the kernels handle.
var ErrWeights = errors.New("weights that no kernel takes")

// Linear is a layer's weights in the order in which the kernels read them: for each 16 columns, for each 4 rows, the
// 4 numbers of each column.
type Linear struct {
	in, out int
	weights []int8
	less    []int32 // minus the sum of each column
	scales  []float32
	bias    []float32

	// For the AVX2 kernel, of each 16 columns: the offsets of 8 rows each, in which easy ones are first.
	order []uint16
	easy  []int
}

// Linear returns the layer x*(weights*scales) + bias for these kernels. The weights are in rows; each column has a
// scale. Errors wrap ErrWeights.
func (s *Set) Linear(in, out int, weights []int8, scales, bias []float32) (*Linear, error) {
	if in <= 0 || in > maxIn || in%Panel != 0 || out <= 0 || out > maxOut || out%Panel != 0 {
		return nil, fmt.Errorf("%w: %d rows and %d columns", ErrWeights, in, out)
	}
	if len(weights) != in*out || len(scales) != out || len(bias) != out {
		return nil, fmt.Errorf("%w: %d weights, %d scales, %d biases for %d rows and %d columns", ErrWeights, len(weights), len(scales), len(bias), in, out)
	}
	l := &Linear{in: in, out: out, weights: make([]int8, in*out), less: make([]int32, out), scales: scales, bias: bias}
	for n := 0; n < out; n += Lanes {
		if !l.pack(n, weights) {
			return nil, fmt.Errorf("%w: weights beyond %d", ErrWeights, maxWeight)
		}
	}
	if s.pairs {
		l.sort()
	}
	return l, nil
}

// pack enters the 16 columns from n on. It reports whether all weights are within maxWeight.
func (l *Linear) pack(n int, weights []int8) bool {
	panel, less := l.weights[n*l.in:(n+Lanes)*l.in], l.less[n:n+Lanes]
	for k := range l.in {
		row := weights[k*l.out+n:][:Lanes]
		group := panel[k/4*4*Lanes:][:4*Lanes]
		for c, w := range row {
			if w < -maxWeight || w > maxWeight {
				return false
			}
			group[c*4+k%4] = w
			less[c] -= int32(w)
		}
	}
	return true
}

// sort lists each 8 rows of each 16 columns. They are easy if the products of bytes with rows 0, 1, 4 and 5, and with rows
// 2, 3, 6 and 7, can be added in 16 bits in any order.
func (l *Linear) sort() {
	l.order, l.easy = make([]uint16, 0, l.in/8*(l.out/Lanes)), make([]int, 0, l.out/Lanes)
	hard := make([]uint16, 0, l.in/8)
	for n := 0; n < l.out; n += Lanes {
		panel := l.weights[n*l.in : (n+Lanes)*l.in]
		begin := len(l.order)
		hard = hard[:0]
		for k := 0; k < l.in; k += 8 {
			if easy(panel[k*Lanes:][:8*Lanes]) {
				l.order = append(l.order, uint16(k))
			} else {
				hard = append(hard, uint16(k))
			}
		}
		l.easy = append(l.easy, len(l.order)-begin)
		l.order = append(l.order, hard...)
	}
}

// easy reports whether no sum of four products with bytes can leave 16 bits.
func easy(rows []int8) bool {
	const most = 32767 / 255
	for i := 0; i < 4*Lanes; i += 2 {
		var above, below int
		for _, w := range [4]int8{rows[i], rows[i+1], rows[4*Lanes+i], rows[4*Lanes+i+1]} {
			above, below = above+max(0, int(w)), below-min(0, int(w))
		}
		if above > most || below > most {
			return false
		}
	}
	return true
}
