package kernel

import "math"

// Plain returns the kernels in Go, for every processor. They are the measure of the others.
func Plain() *Set {
	return &Set{
		name: "Go", tile: 1, multiply: multiplyPlain, quantize: quantizePlain, gelu: geluPlain, addNorm: addNormPlain,
		turn: turnPlain, scores: scoresPlain, softmax: softmaxPlain, mix: mixPlain,
	}
}

func multiplyPlain(l *Linear, x *Bytes, rows int, out Blocks) {
	for n := 0; n < l.out; n += Lanes {
		panel := l.weights[n*l.in : (n+Lanes)*l.in]
		for r := range rows {
			var sums [Lanes]int32
			for k, row := 0, x.Data[r*l.in:(r+1)*l.in]; k < len(row); k += 4 {
				a := [4]int32{int32(row[k]), int32(row[k+1]), int32(row[k+2]), int32(row[k+3])}
				w := (*[4 * Lanes]int8)(panel[k*Lanes:])
				for c := range Lanes {
					sums[c] += a[0]*int32(w[c*4]) + a[1]*int32(w[c*4+1]) + a[2]*int32(w[c*4+2]) + a[3]*int32(w[c*4+3])
				}
			}
			dst := out.Numbers[n/Panel*out.Block+r*out.Row+n%Panel:][:Lanes]
			for c, sum := range sums {
				dst[c] = float32(sum+x.Zeros[r]*l.less[n+c])*x.Scales[r]*l.scales[n+c] + l.bias[n+c]
			}
		}
	}
}

func quantizePlain(dst []uint8, src []float32) (float32, int32) {
	low, high := float32(0), float32(0)
	for _, x := range src {
		low, high = min(low, x), max(high, x)
	}
	scale, inverse, zero := spread(low, high)
	for i, x := range src {
		dst[i] = uint8(max(0, min(255, int32(math.RoundToEven(float64(x*inverse)))+zero)))
	}
	return scale, zero
}

// spread returns how the numbers from low, at most 0, to high, at least 0, become bytes: x*inverse + zero.
func spread(low, high float32) (scale, inverse float32, zero int32) {
	scale = (high - low) / 255
	if !(scale > smallest) {
		return 0, 0, 0
	}
	inverse = 1 / scale
	return scale, inverse, int32(math.RoundToEven(float64(-low * inverse)))
}

// smallest is a step between bytes below which all numbers are 0, so that its inverse is finite.
const smallest = 1e-30

func geluPlain(x []float32) {
	for i, v := range x {
		x[i] = float32(0.5 * float64(v) * (1 + math.Erf(float64(v)/math.Sqrt2)))
	}
}

// epsilon keeps the variance from being 0.
const epsilon = 1e-12

func addNormPlain(x, y, gain, bias []float32) {
	var sum float32
	for i := range x {
		x[i] += y[i]
		sum += x[i]
	}
	mean := sum / float32(len(x))
	var squares float32
	for i := range x {
		x[i] -= mean
		squares += x[i] * x[i]
	}
	scale := float32(1 / math.Sqrt(float64(squares/float32(len(x))+epsilon)))
	for i := range x {
		x[i] = x[i]*scale*gain[i] + bias[i]
	}
}

func turnPlain(dst, src []float32, n, step, stride int) {
	for r := range n {
		for d, x := range src[r*step:][:Head] {
			dst[d*stride+r] = x
		}
	}
}

func scoresPlain(dst, queries, keys []float32, step, stride int) {
	for i := range Lines {
		row := dst[i*stride:][:stride]
		clear(row)
		for d, q := range queries[i*step:][:Head] {
			for j, k := range keys[d*stride:][:stride] {
				row[j] += q * k
			}
		}
	}
}

func softmaxPlain(x []float32, stride int, inverse *[Lines]float32) {
	for i := range Lines {
		row := x[i*stride:][:stride]
		highest := row[0]
		for _, v := range row {
			highest = max(highest, v)
		}
		var sum float32
		for j, v := range row {
			row[j] = float32(math.Exp2(float64(v - highest)))
			sum += row[j]
		}
		inverse[i] = 1 / sum
	}
}

func mixPlain(dst, weights, values []float32, n, width, stride, step int, inverse *[Lines]float32) {
	for i := range Lines {
		row := dst[i*width:][:Head]
		clear(row)
		for j, w := range weights[i*stride:][:n] {
			for d, v := range values[j*step:][:Head] {
				row[d] += w * v
			}
		}
		for d := range row {
			row[d] *= inverse[i]
		}
	}
}
