package onnx_test

import (
	"bytes"
	"errors"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"docent/shared/embed/local/internal/onnx"
	"docent/shared/embed/local/internal/onnx/onnxtest"
)

func sound() []byte {
	return onnxtest.Model([]onnxtest.Message{
		onnxtest.Tensor("weights", onnxtest.Int8, []byte{1, 0xff, 3, 4, 5, 6}, 2, 3),
		onnxtest.Tensor("table", onnxtest.Uint8, []byte{1, 0xff}, 2),
		onnxtest.Tensor("bias", onnxtest.Float, onnxtest.Raw(1.5, -2), 2),
		onnxtest.FloatList("scales", []float32{0.25, 4}, 2),
		onnxtest.ByteList("zeros", onnxtest.Int8, []int32{0, -1, 127}, 3),
		onnxtest.FloatList("scale", []float32{0.5}),
		onnxtest.Tensor("infinite", onnxtest.Float, onnxtest.Raw(float32(math.Inf(1))), 1),
		onnxtest.Tensor("short", onnxtest.Float, onnxtest.Raw(1), 2),
		onnxtest.Tensor("immense", onnxtest.Int8, []byte{1}, 1<<31-1, 1<<31-1, 1<<31-1),
	}, []onnxtest.Message{
		onnxtest.Node("MatMulInteger", "multiply", "product", "x", "weights"),
		onnxtest.Constant("constant", onnxtest.Tensor("", onnxtest.Float, onnxtest.Raw(8))),
	})
}

func open(data []byte) (*onnx.Model, error) {
	return onnx.Open(bytes.NewReader(data), int64(len(data)))
}

func TestRead(t *testing.T) {
	t.Parallel()
	m, err := open(sound())
	if err != nil {
		t.Fatal(err)
	}
	weights, err := m.Int8s("weights", 2, 3)
	if err != nil || !slices.Equal(weights, []int8{1, -1, 3, 4, 5, 6}) {
		t.Errorf("weights %v, %v", weights, err)
	}
	table, err := m.Uint8s("table", 2)
	if err != nil || !slices.Equal(table, []uint8{1, 255}) {
		t.Errorf("table %v, %v", table, err)
	}
	zeros, err := m.Int8s("zeros", 3)
	if err != nil || !slices.Equal(zeros, []int8{0, -1, 127}) {
		t.Errorf("zeros %v, %v", zeros, err)
	}
	for name, want := range map[string][]float32{"bias": {1.5, -2}, "scales": {0.25, 4}} {
		if got, err := m.Floats(name, 2); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s %v, %v", name, got, err)
		}
	}
	for name, want := range map[string]float32{"scale": 0.5, "constant": 8} {
		if got, err := m.Floats(name); err != nil || !slices.Equal(got, []float32{want}) {
			t.Errorf("%s %v, %v", name, got, err)
		}
	}
	nodes := m.Nodes()
	if len(nodes) != 2 || nodes[0].Operator != "MatMulInteger" || nodes[0].Name != "multiply" || !slices.Equal(nodes[0].Inputs, []string{"x", "weights"}) {
		t.Errorf("nodes %+v", nodes)
	}
	if dims, found := m.Dims("weights"); !found || !slices.Equal(dims, []int{2, 3}) {
		t.Errorf("dimensions %v, %v", dims, found)
	}
	for _, read := range []func() error{
		func() error { _, err := m.Int8s("none", 2); return err },
		func() error { _, err := m.Int8s("weights", 3, 2); return err },
		func() error { _, err := m.Uint8s("weights", 2, 3); return err },
		func() error { _, err := m.Floats("infinite", 1); return err },
		func() error { _, err := m.Floats("short", 2); return err },
		func() error { _, err := m.Int8s("immense", 1<<31-1, 1<<31-1, 1<<31-1); return err },
	} {
		if err := read(); !errors.Is(err, onnx.ErrFormat) {
			t.Errorf("error %v, want %v", err, onnx.ErrFormat)
		}
	}
}

// readAll reads every tensor that the sound file has.
func readAll(t *testing.T, data []byte) {
	m, err := open(data)
	if err != nil {
		if !errors.Is(err, onnx.ErrFormat) {
			t.Fatalf("error %v, want %v", err, onnx.ErrFormat)
		}
		return
	}
	check := func(n int, err error) {
		if err == nil && n > len(data) || err != nil && !errors.Is(err, onnx.ErrFormat) {
			t.Fatalf("%d elements of a file of %d bytes, %v", n, len(data), err)
		}
	}
	for _, name := range []string{"weights", "table", "bias", "scales", "zeros", "scale", "constant", ""} {
		dims, _ := m.Dims(name)
		floats, err := m.Floats(name, dims...)
		check(len(floats), err)
		signed, err := m.Int8s(name, dims...)
		check(len(signed), err)
		unsigned, err := m.Uint8s(name, dims...)
		check(len(unsigned), err)
	}
}

func TestDamagedFiles(t *testing.T) {
	t.Parallel()
	whole := sound()
	for n := range len(whole) - 1 {
		if _, err := open(whole[:n]); !errors.Is(err, onnx.ErrFormat) {
			t.Fatalf("cut off at %d: %v, want %v", n, err, onnx.ErrFormat)
		}
	}
	for i := range whole {
		for _, flip := range []byte{1, 2, 0x80, 0xff} {
			damaged := slices.Clone(whole)
			damaged[i] ^= flip
			readAll(t, damaged)
		}
	}
}

// TestHostileLengths opens files that announce far more than they have, which must take no memory.
func TestHostileLengths(t *testing.T) {
	t.Parallel()
	var m onnxtest.Message
	huge := m.Varint(1, 1)
	huge = append(huge, 7<<3|2, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f)
	files := map[string][]byte{
		"graph beyond the file":  huge,
		"a name of a megabyte":   onnxtest.Model([]onnxtest.Message{onnxtest.Tensor(strings.Repeat("a", 1<<20), onnxtest.Int8, nil, 0)}, nil),
		"two tensors of a name":  onnxtest.Model([]onnxtest.Message{onnxtest.Tensor("a", 3, nil, 0), onnxtest.Tensor("a", 3, nil, 0)}, nil),
		"nine dimensions":        onnxtest.Model([]onnxtest.Message{onnxtest.Tensor("a", 3, nil, 1, 1, 1, 1, 1, 1, 1, 1, 1)}, nil),
		"a negative dimension":   onnxtest.Model([]onnxtest.Message{m.Varint(1, math.MaxUint64)}, nil),
		"no graph":               m.Varint(1, 8),
		"another wire type":      {7<<3 | 3},
		"a number without end":   {1 << 3, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff},
		"a node that is no node": m.Bytes(7, m.Varint(1, 1)),
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for name, data := range files {
		if _, err := open(data); !errors.Is(err, onnx.ErrFormat) {
			t.Errorf("%s: %v, want %v", name, err, onnx.ErrFormat)
		}
	}
	if runtime.ReadMemStats(&after); after.TotalAlloc-before.TotalAlloc > 64<<20 {
		t.Errorf("allocated %d MB", (after.TotalAlloc-before.TotalAlloc)>>20)
	}
}

func FuzzOpen(f *testing.F) {
	f.Add(sound())
	f.Add([]byte{})
	f.Fuzz(readAll)
}
