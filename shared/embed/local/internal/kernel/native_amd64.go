package kernel

import "golang.org/x/sys/cpu"

//go:generate go -C ../../../../../tools/kernels run . -of embed -pkg kernel -out ../../shared/embed/local/internal/kernel/kernel_amd64.s -stubs ../../shared/embed/local/internal/kernel/stubs_amd64.go

// native returns the kernels in assembly that this processor can run, the fastest first.
func native() []*Set {
	var sets []*Set
	if cpu.X86.HasAVX512F && cpu.X86.HasAVX512BW && cpu.X86.HasAVX512DQ && cpu.X86.HasAVX512VL && cpu.X86.HasAVX512VNNI && cpu.X86.HasFMA {
		sets = append(sets, vnni())
	}
	if cpu.X86.HasAVX2 && cpu.X86.HasFMA {
		sets = append(sets, avx2())
	}
	return sets
}

func vnni() *Set {
	return &Set{
		name: "AVX-512 VNNI",
		tile: 6,
		multiply: func(l *Linear, x *Bytes, rows int, out Blocks) {
			for n := 0; n < l.out; n += Panel {
				multiplyVNNI(&l.weights[n*l.in], Lanes*l.in, l.in, &l.less[n], &l.scales[n], &l.bias[n],
					&x.Data[0], &x.Scales[0], &x.Zeros[0], rows, &out.Numbers[n/Panel*out.Block], out.Row*4)
			}
		},
		quantize: func(dst []uint8, src []float32) (float32, int32) {
			scale, inverse, zero := spread(bounds512(&src[0], len(src)))
			quantize512(&dst[0], &src[0], len(src), inverse, zero)
			return scale, zero
		},
		gelu: func(x []float32) { gelu512(&x[0], len(x)) },
		addNorm: func(x, y, gain, bias []float32) {
			addNorm512(&x[0], &y[0], &gain[0], &bias[0], len(x), 1/float32(len(x)))
		},
		turn: func(dst, src []float32, _, step, stride int) { turn512(&dst[0], &src[0], step*4, stride) },
		scores: func(dst, queries, keys []float32, step, stride int) {
			scores512(&dst[0], &queries[0], &keys[0], step*4, stride)
		},
		softmax: func(x []float32, stride int, inverse *[Lines]float32) { softmax512(&x[0], stride, &inverse[0]) },
		mix: func(dst, weights, values []float32, n, width, stride, step int, inverse *[Lines]float32) {
			mix512(&dst[0], &weights[0], &values[0], n, width*4, stride*4, step*4, &inverse[0])
		},
	}
}

func avx2() *Set {
	return &Set{
		name:  "AVX2",
		tile:  4,
		pairs: true,
		multiply: func(l *Linear, x *Bytes, rows int, out Blocks) {
			for n := 0; n < l.out; n += Lanes {
				easy := l.easy[n/Lanes]
				multiplyAVX2(&l.order[n/Lanes*(l.in/8)], easy, l.in/8-easy, &l.weights[n*l.in], Lanes*l.in, l.in, &l.less[n], &l.scales[n], &l.bias[n],
					&x.Data[0], &x.Scales[0], &x.Zeros[0], rows, &out.Numbers[n/Panel*out.Block+n%Panel], out.Row*4)
			}
		},
		quantize: func(dst []uint8, src []float32) (float32, int32) {
			scale, inverse, zero := spread(bounds256(&src[0], len(src)))
			quantize256(&dst[0], &src[0], len(src), inverse, zero)
			return scale, zero
		},
		gelu: func(x []float32) { gelu256(&x[0], len(x)) },
		addNorm: func(x, y, gain, bias []float32) {
			addNorm256(&x[0], &y[0], &gain[0], &bias[0], len(x), 1/float32(len(x)))
		},
		turn: func(dst, src []float32, _, step, stride int) { turn256(&dst[0], &src[0], step*4, stride) },
		scores: func(dst, queries, keys []float32, step, stride int) {
			scores256(&dst[0], &queries[0], &keys[0], step*4, stride)
		},
		softmax: func(x []float32, stride int, inverse *[Lines]float32) { softmax256(&x[0], stride, &inverse[0]) },
		mix: func(dst, weights, values []float32, n, width, stride, step int, inverse *[Lines]float32) {
			mix256(&dst[0], &weights[0], &values[0], n, width*4, stride*4, step*4, &inverse[0])
		},
	}
}
