package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// each runs a test with each kind of kernels that the processor can run, in addition to Plain.
func each(t *testing.T, test func(t *testing.T, s *Set, r *rand.Rand)) {
	sets := Sets()
	if len(sets) == 1 {
		t.Skip("this processor has none of the instructions that the kernels use")
	}
	for _, s := range sets[:len(sets)-1] {
		t.Run(s.Name(), func(t *testing.T) {
			t.Parallel()
			test(t, s, rand.New(rand.NewPCG(1, 2)))
		})
	}
}

func floats(r *rand.Rand, n int, size float64) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(r.NormFloat64() * size)
	}
	return x
}

// near fails if the numbers differ by more than the tolerance, or by that share of the larger one.
func near(t *testing.T, what string, got, want []float32, tolerance float64) {
	t.Helper()
	for i := range want {
		g, w := float64(got[i]), float64(want[i])
		if !(math.Abs(g-w) <= tolerance*max(1, math.Abs(w))) {
			t.Fatalf("%s: number %d is %v, want %v", what, i, g, w)
		}
	}
}

func linear(t *testing.T, s *Set, r *rand.Rand, in, out int, weight func() int8) *Linear {
	t.Helper()
	weights := make([]int8, in*out)
	for i := range weights {
		weights[i] = weight()
	}
	l, err := s.Linear(in, out, weights, floats(r, out, 0.01), floats(r, out, 1))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestMultiply(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *Set, r *rand.Rand) {
		weights := map[string]func() int8{
			"any":     func() int8 { return int8(r.IntN(2*maxWeight+1) - maxWeight) },
			"usual":   func() int8 { return int8(max(-maxWeight, min(maxWeight, r.NormFloat64()*20))) },
			"highest": func() int8 { return maxWeight },
			"lowest":  func() int8 { return -maxWeight },
		}
		for name, weight := range weights {
			for _, shape := range [][3]int{{64, 64, 12}, {384, 128, 24}, {1536, 64, 36}, {128, 192, 48}} {
				in, out, rows := shape[0], shape[1], shape[2]
				l := linear(t, s, r, in, out, weight)
				x := NewBytes(rows, in)
				for i := range x.Data {
					x.Data[i] = uint8(r.UintN(256))
					if name == "highest" || name == "lowest" {
						x.Data[i] = 255
					}
				}
				for i := range x.Scales {
					x.Scales[i], x.Zeros[i] = float32(r.Float64()), int32(r.IntN(256))
				}
				for _, blocks := range []Blocks{{Block: Panel, Row: out + 16}, {Block: rows * Panel, Row: Panel}} {
					size := out/Panel*max(blocks.Block, rows*Panel) + rows*blocks.Row
					blocks.Numbers = floats(r, size, 1)
					want := blocks
					want.Numbers = slices.Clone(blocks.Numbers)
					s.Multiply(l, x, rows, blocks)
					Plain().Multiply(l, x, rows, want)
					near(t, fmt.Sprintf("%s weights, %v", name, shape), blocks.Numbers, want.Numbers, 1e-5)
				}
			}
		}
	})
}

func TestQuantize(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *Set, r *rand.Rand) {
		rows := [][]float32{
			make([]float32, 384), slices.Repeat([]float32{7}, 384), slices.Repeat([]float32{-7}, 384), slices.Repeat([]float32{1e-35}, 384),
			slices.Repeat([]float32{1e35, -1e35}, 192),
		}
		for range 200 {
			row := floats(r, 384, math.Exp(r.NormFloat64()*3))
			row[r.IntN(384)] *= 50
			rows = append(rows, row)
		}
		got, want := NewBytes(len(rows), 384), NewBytes(len(rows), 384)
		for i, row := range rows {
			s.Quantize(got, i, row)
			Plain().Quantize(want, i, row)
			for j, b := range got.Data[i*384 : (i+1)*384] {
				if w := want.Data[i*384+j]; b != w {
					t.Fatalf("row %d, number %d of %v: %d, want %d", i, j, row[j], b, w)
				}
				if x := float64(int32(b)-got.Zeros[i]) * float64(got.Scales[i]); math.Abs(x-float64(row[j])) > float64(got.Scales[i])*0.51+1e-29 {
					t.Fatalf("row %d: %v became %v, with a step of %v", i, row[j], x, got.Scales[i])
				}
			}
		}
		if !slices.Equal(got.Scales, want.Scales) || !slices.Equal(got.Zeros, want.Zeros) {
			t.Error("scales or zeros differ")
		}
	})
}

func TestGelu(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *Set, r *rand.Rand) {
		got := floats(r, 4096, 3)
		for i := range 2000 {
			got[i] = float32(i-1000) / 100
		}
		inputs, want := slices.Clone(got), slices.Clone(got)
		s.Gelu(got)
		Plain().Gelu(want)
		for i, x := range inputs {
			if difference := math.Abs(float64(got[i] - want[i])); !(difference <= 5e-5*max(1, math.Abs(float64(x)))) {
				t.Fatalf("gelu of %v is %v, want %v", x, got[i], want[i])
			}
		}
	})
}

func TestAddNorm(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *Set, r *rand.Rand) {
		for _, n := range []int{64, 384, 1024} {
			for range 50 {
				x, y, gain, bias := floats(r, n, 3), floats(r, n, 1), floats(r, n, 1), floats(r, n, 1)
				want, wantY := slices.Clone(x), slices.Clone(y)
				s.AddNorm(x, y, gain, bias)
				Plain().AddNorm(want, wantY, gain, bias)
				near(t, "norm", x, want, 1e-4)
				near(t, "addend", y, wantY, 0)
			}
			same := slices.Repeat([]float32{2}, n)
			s.AddNorm(same, make([]float32, n), slices.Repeat([]float32{1}, n), make([]float32, n))
			near(t, "equal numbers", same, make([]float32, n), 1e-4)
		}
	})
}

func TestAttend(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *Set, r *rand.Rand) {
		for _, n := range []int{1, 2, 15, 16, 17, 31, 33, 48, 63, 65, 100, 198, 255, 256} {
			const step, width = 64, 384
			stride := (n + Lanes - 1) / Lanes * Lanes
			queries, keys, values := floats(r, Lines*step, 1), floats(r, stride*step, 1), floats(r, stride*step, 1)
			run := func(s *Set) (turned, weights, mixed []float32, inverse [Lines]float32) {
				turned, weights, mixed = make([]float32, Head*stride), make([]float32, Lines*stride), make([]float32, Lines*width)
				s.Turn(turned, keys, n, step, stride)
				s.Scores(weights, queries, turned, step, stride)
				s.Softmax(weights, n, stride, &inverse)
				s.Mix(mixed, weights, values, n, width, stride, step, &inverse)
				return
			}
			turned, weights, mixed, inverse := run(s)
			wantTurned, wantWeights, wantMixed, wantInverse := run(Plain())
			for d := range Head {
				near(t, fmt.Sprintf("%d keys", n), turned[d*stride:][:n], wantTurned[d*stride:][:n], 0)
			}
			near(t, fmt.Sprintf("weights of %d", n), weights, wantWeights, 2e-5)
			near(t, fmt.Sprintf("inverses of %d", n), inverse[:], wantInverse[:], 2e-5)
			near(t, fmt.Sprintf("mixture of %d", n), mixed, wantMixed, 2e-5)
		}
	})
}

func TestSoftmaxOfDistantScores(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *Set, _ *rand.Rand) {
		const n, stride = 20, 32
		x, inverse := make([]float32, Lines*stride), [Lines]float32{}
		for i := range Lines {
			for j := range n {
				x[i*stride+j] = float32((i - 3) * j * 300)
			}
		}
		want, wantInverse := slices.Clone(x), inverse
		s.Softmax(x, n, stride, &inverse)
		Plain().Softmax(want, n, stride, &wantInverse)
		near(t, "weights", x, want, 1e-5)
		near(t, "inverses", inverse[:], wantInverse[:], 1e-5)
	})
}
