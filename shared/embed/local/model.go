package local

import (
	"fmt"
	"math"
	"strings"

	"docent/shared/embed/local/internal/kernel"
	"docent/shared/embed/local/internal/onnx"
)

// maxTokens is how many tokens of a text are read, with the two that mark its beginning and end.
const maxTokens = 256

// maxLayers bounds what a file can ask for.
const maxLayers = 48

// model is the weights of a BERT encoder, with layers as all-MiniLM-L6-v2 has them: heads of 32 numbers, erf-based
// GELU, layer normalisation after the sum.
type model struct {
	width     int
	words     []uint8   // a row for each token
	wordScale float32   // of words, whose zero is 128
	positions []float32 // a row for each position, with what the first type of token and the zero of words add
	embedNorm norm
	layers    []layer
}

type norm struct{ gain, bias []float32 }

type layer struct {
	attend    *kernel.Linear // queries, keys and values
	output    *kernel.Linear
	outNorm   norm
	widen     *kernel.Linear
	narrow    *kernel.Linear
	layerNorm norm
	inner     int // numbers between widen and narrow
}

// reader reads the parts of a model, and remembers the first error.
type reader struct {
	file    *onnx.Model
	kernels *kernel.Set
	weights map[string]string // name of a layer's MatMulInteger to that of its weights
	err     error
}

// readModel reads a model of that size with a vocabulary, for the kernels. Errors wrap onnx.ErrFormat or kernel.ErrWeights, or are the file's.
func readModel(file *onnx.Model, kernels *kernel.Set, size, vocabulary int) (*model, error) {
	r := &reader{file: file, kernels: kernels, weights: map[string]string{}}
	for _, n := range file.Nodes() {
		if n.Operator == "MatMulInteger" && len(n.Inputs) > 1 {
			name, _ := strings.CutPrefix(n.Name, "/encoder/layer.")
			r.weights[strings.TrimSuffix(name, "/MatMul_quant")] = strings.TrimSuffix(n.Inputs[1], "_quantized")
		}
	}
	if size <= 0 || size%kernel.Panel != 0 || size > 4096 {
		return nil, fmt.Errorf("%w: a model of size %d", kernel.ErrWeights, size)
	}
	m := &model{width: size}
	r.embeddings(m, vocabulary)
	m.embedNorm = r.norm("embeddings.LayerNorm", size)
	for i := 0; i < maxLayers && r.err == nil; i++ {
		if _, more := r.weights[fmt.Sprintf("%d/attention/self/query", i)]; !more {
			break
		}
		m.layers = append(m.layers, r.layer(i, size))
	}
	if r.err == nil && len(m.layers) == 0 {
		r.err = fmt.Errorf("%w: no layers of the expected names", onnx.ErrFormat)
	}
	return m, r.err
}

func (r *reader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

func (r *reader) floats(name string, dims ...int) []float32 {
	if r.err != nil {
		return make([]float32, max(1, product(dims)))
	}
	numbers, err := r.file.Floats(name, dims...)
	if err != nil {
		r.fail(err)
		return make([]float32, max(1, product(dims)))
	}
	return numbers
}

func product(dims []int) int {
	n := 1
	for _, d := range dims {
		n *= d
	}
	return n
}

func (r *reader) norm(name string, size int) norm {
	return norm{gain: r.floats(name+".weight", size), bias: r.floats(name+".bias", size)}
}

// table returns the rows of a table of unsigned bytes, and their scale. The zero must be 128.
func (r *reader) table(name string, rows, size int) ([]uint8, float32) {
	scale := r.floats(name + "_scale")[0]
	zero, err := r.file.Uint8s(name + "_zero_point")
	if err == nil && zero[0] != tableZero {
		err = fmt.Errorf("%w: zero of %s is %d, must be %d", onnx.ErrFormat, name, zero[0], tableZero)
	}
	if err != nil {
		r.fail(err)
		return make([]uint8, rows*size), 0
	}
	data, err := r.file.Uint8s(name+"_quantized", rows, size)
	if err != nil {
		r.fail(err)
		return make([]uint8, rows*size), 0
	}
	return data, scale
}

const tableZero = 128

func (r *reader) embeddings(m *model, vocabulary int) {
	const prefix, suffix = "embeddings.", "_embeddings.weight"
	dims, _ := r.file.Dims(prefix + "position" + suffix + "_quantized")
	if len(dims) != 2 || dims[0] < maxTokens || dims[0] > 1<<16 {
		r.fail(fmt.Errorf("%w: positions have dimensions %v", onnx.ErrFormat, dims))
		return
	}
	types, typeScale := r.table(prefix+"token_type"+suffix, 2, m.width)
	positions, positionScale := r.table(prefix+"position"+suffix, dims[0], m.width)
	m.words, m.wordScale = r.table(prefix+"word"+suffix, vocabulary, m.width)
	m.positions = make([]float32, maxTokens*m.width)
	for i := range m.positions {
		m.positions[i] = positionScale*float32(int(positions[i])-tableZero) + typeScale*float32(int(types[i%m.width])-tableZero) -
			m.wordScale*tableZero
	}
}

func (r *reader) layer(i, size int) layer {
	name := func(part string) string { return fmt.Sprintf("%d/%s", i, part) }
	bias := func(part string) string { return fmt.Sprintf("encoder.layer.%d.%s", i, part) }
	dims, _ := r.file.Dims(r.weights[name("intermediate/dense")] + "_quantized")
	if len(dims) != 2 || dims[1] < 1 || dims[1] > 1<<15 {
		r.fail(fmt.Errorf("%w: inner weights of layer %d have dimensions %v", onnx.ErrFormat, i, dims))
		return layer{}
	}
	inner := dims[1]
	l := layer{inner: inner}
	l.attend = r.attend(i, size)
	l.output = r.linear(name("attention/output/dense"), bias("attention.output.dense.bias"), size, size)
	l.outNorm = r.norm(bias("attention.output.LayerNorm"), size)
	l.widen = r.linear(name("intermediate/dense"), bias("intermediate.dense.bias"), size, inner)
	l.narrow = r.linear(name("output/dense"), bias("output.dense.bias"), inner, size)
	l.layerNorm = r.norm(bias("output.LayerNorm"), size)
	return l
}

// matrix is weights in rows, with a scale and a bias for each column.
type matrix struct {
	weights      []int8
	scales, bias []float32
}

func (r *reader) matrix(node, bias string, in, out int) matrix {
	name := r.weights[node]
	m := matrix{scales: r.floats(name+"_scale", out), bias: r.floats(bias, out)}
	if r.err != nil {
		return m
	}
	zeros, err := r.file.Int8s(name+"_zero_point", out)
	if err != nil {
		r.fail(err)
		return m
	}
	for _, zero := range zeros {
		if zero != 0 {
			r.fail(fmt.Errorf("%w: %s has a zero other than 0", kernel.ErrWeights, name))
			return m
		}
	}
	m.weights, err = r.file.Int8s(name+"_quantized", in, out)
	if err != nil {
		r.fail(err)
	}
	return m
}

func (r *reader) linear(node, bias string, in, out int) *kernel.Linear {
	m := r.matrix(node, bias, in, out)
	return r.pack(in, out, m)
}

func (r *reader) pack(in, out int, m matrix) *kernel.Linear {
	if r.err != nil {
		return nil
	}
	l, err := r.kernels.Linear(in, out, m.weights, m.scales, m.bias)
	if err != nil {
		r.fail(err)
	}
	return l
}

// attend joins the weights of queries, keys and values. The queries include the factor of the scores, 1/√32, and that
// from the exponential to powers of 2.
func (r *reader) attend(i, size int) *kernel.Linear {
	joined := matrix{weights: make([]int8, 3*size*size)}
	for p, part := range []string{"query", "key", "value"} {
		m := r.matrix(fmt.Sprintf("%d/attention/self/%s", i, part), fmt.Sprintf("encoder.layer.%d.attention.self.%s.bias", i, part), size, size)
		if r.err != nil {
			return nil
		}
		if part == "query" {
			factor := float32(math.Log2E / math.Sqrt(kernel.Head))
			for n := range size {
				m.scales[n] *= factor
				m.bias[n] *= factor
			}
		}
		for k := range size {
			copy(joined.weights[k*3*size+p*size:], m.weights[k*size:(k+1)*size])
		}
		joined.scales = append(joined.scales, m.scales...)
		joined.bias = append(joined.bias, m.bias...)
	}
	return r.pack(size, 3*size, joined)
}
