package kernel

import "golang.org/x/sys/cpu"

//go:generate go -C ../../../../../tools/kernels run . -of neon -neon ../../shared/embed/local/internal/kernel/kernel_arm64.s

//go:noescape
func multiplySDOT(weights *int8, in int, less *int32, scales *float32, bias *float32, x *uint8, xScales *float32, xZeros *int32, rows int, out *float32, outRow int)

//go:noescape
func scoresNEON(dst *float32, queries *float32, keys *float32, step int, stride int)

//go:noescape
func mixNEON(dst *float32, weights *float32, values *float32, n int, width int, stride int, step int, inverse *float32)

//go:noescape
func geluNEON(x *float32, n int)

//go:noescape
func softmaxNEON(x *float32, stride int, inverse *float32)

// native returns the kernels in assembly that this processor can run. What takes little time is plain Go.
func native() []*Set {
	if !cpu.ARM64.HasASIMDDP {
		return nil
	}
	s := Plain()
	s.name, s.tile = "NEON SDOT", 4
	s.multiply = func(l *Linear, x *Bytes, rows int, out Blocks) {
		for n := 0; n < l.out; n += Lanes {
			multiplySDOT(&l.weights[n*l.in], l.in, &l.less[n], &l.scales[n], &l.bias[n],
				&x.Data[0], &x.Scales[0], &x.Zeros[0], rows, &out.Numbers[n/Panel*out.Block+n%Panel], out.Row*4)
		}
	}
	s.gelu = func(x []float32) { geluNEON(&x[0], len(x)) }
	s.scores = func(dst, queries, keys []float32, step, stride int) {
		scoresNEON(&dst[0], &queries[0], &keys[0], step*4, stride)
	}
	s.softmax = func(x []float32, stride int, inverse *[Lines]float32) { softmaxNEON(&x[0], stride, &inverse[0]) }
	s.mix = func(dst, weights, values []float32, n, width, stride, step int, inverse *[Lines]float32) {
		mixNEON(&dst[0], &weights[0], &values[0], n, width*4, stride*4, step*4, &inverse[0])
	}
	return []*Set{s}
}
