package kernel

import (
	"errors"
	"fmt"
)

// maxWeight is the largest weight: the AVX2 kernel adds two products of a byte and a weight in 16 bits.
const maxWeight = 64

// MaxIn is the number of rows of weights from which the sum of their products could overflow.
const MaxIn = 1 << 16

// ErrWeights: the weights are not of a shape or in a range that the kernels handle.
var ErrWeights = errors.New("weights that no kernel takes")

// Linear is a layer's weights in the order in which the kernels read them: for each 16 columns, for each 4 rows, the
// 4 numbers of each column.
type Linear struct {
	in, out int
	weights []int8
	sums    []int32 // of each column
	scales  []float32
	bias    []float32
}

// NewLinear returns the layer x*(weights*scales) + bias. The weights are in rows; each column has a scale. Errors wrap
// ErrWeights.
func NewLinear(in, out int, weights []int8, scales, bias []float32) (*Linear, error) {
	if in <= 0 || in > MaxIn || in%Lanes != 0 || out <= 0 || out%Panel != 0 {
		return nil, fmt.Errorf("%w: %d rows and %d columns", ErrWeights, in, out)
	}
	if len(weights) != in*out || len(scales) != out || len(bias) != out {
		return nil, fmt.Errorf("%w: %d weights, %d scales, %d biases for %d rows and %d columns", ErrWeights, len(weights), len(scales), len(bias), in, out)
	}
	l := &Linear{in: in, out: out, weights: make([]int8, in*out), sums: make([]int32, out), scales: scales, bias: bias}
	for k := range in {
		row := weights[k*out : (k+1)*out]
		for n, w := range row {
			if w < -maxWeight || w > maxWeight {
				return nil, fmt.Errorf("%w: weight %d, must be within %d", ErrWeights, w, maxWeight)
			}
			l.weights[l.place(k, n)] = w
			l.sums[n] += int32(w)
		}
	}
	return l, nil
}

// place returns where the weight of row k and column n is.
func (l *Linear) place(k, n int) int {
	return n/Lanes*Lanes*l.in + k/4*4*Lanes + n%Lanes*4 + k%4
}
