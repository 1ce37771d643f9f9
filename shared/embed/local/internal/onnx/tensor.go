package onnx

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
)

// Numbers of the fields of a tensor, from onnx.proto.
const (
	tensorDims      = 1
	tensorType      = 2
	tensorFloatData = 4
	tensorInt32Data = 5
	tensorName      = 8
	tensorRawData   = 9
)

// Types of a tensor's elements, from onnx.proto.
const (
	typeFloat = 1
	typeUint8 = 2
	typeInt8  = 3
)

// maxDims is the number of dimensions of a tensor.
const maxDims = 8

// tensor is where the file has the elements. Small tensors can have them in a list of numbers instead of raw bytes.
type tensor struct {
	name    string
	dims    []int
	kind    int
	raw     field
	numbers []field
}

func (m *Model) readTensor(f field) (tensor, error) {
	var t tensor
	err := each(m.sub(f), func(f field) error {
		switch f.number {
		case tensorDims:
			return t.addDims(m.file, f)
		case tensorType:
			t.kind = int(f.value)
		case tensorName:
			name, err := contents(m.file, f, maxNameBytes)
			t.name = string(name)
			return err
		case tensorRawData:
			if f.wire != bytesField {
				return errWire
			}
			t.raw = f
		case tensorFloatData, tensorInt32Data:
			if len(t.numbers) == 1<<16 {
				return errWire
			}
			t.numbers = append(t.numbers, f)
		}
		return nil
	})
	return t, err
}

// addDims adds one dimension, or a packed list of them.
func (t *tensor) addDims(file io.ReaderAt, f field) error {
	values := []uint64{f.value}
	if f.wire == bytesField {
		data, err := contents(file, f, maxDims*binary.MaxVarintLen64)
		if err != nil {
			return err
		}
		if values, err = varints(data); err != nil {
			return err
		}
	}
	for _, v := range values {
		if v > math.MaxInt32 || len(t.dims) == maxDims {
			return errWire
		}
		t.dims = append(t.dims, int(v))
	}
	return nil
}

func varints(data []byte) ([]uint64, error) {
	var values []uint64
	for len(data) > 0 {
		v, n := binary.Uvarint(data)
		if n <= 0 {
			return nil, errWire
		}
		values, data = append(values, v), data[n:]
	}
	return values, nil
}

// elements returns the product of dims, or -1 if it is over limit.
func elements(dims []int, limit int64) int64 {
	n := int64(1)
	for _, d := range dims {
		if n *= int64(d); n > limit {
			return -1
		}
	}
	return n
}

// Dims returns the dimensions of a tensor. It returns false if there is no tensor of that name.
func (m *Model) Dims(name string) ([]int, bool) {
	t, found := m.tensors[name]
	return slices.Clone(t.dims), found
}

// Floats returns the elements of a tensor of floats that has these dimensions; none for a single number.
func (m *Model) Floats(name string, dims ...int) ([]float32, error) {
	data, err := m.elements(name, typeFloat, 4, dims)
	if err != nil {
		return nil, err
	}
	floats := make([]float32, len(data)/4)
	for i := range floats {
		floats[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[i*4:]))
		if x := float64(floats[i]); math.IsNaN(x) || math.IsInf(x, 0) {
			return nil, fmt.Errorf("%w: tensor %q has a number that is not finite", ErrFormat, name)
		}
	}
	return floats, nil
}

// Uint8s returns the elements of a tensor of unsigned bytes that has these dimensions.
func (m *Model) Uint8s(name string, dims ...int) ([]uint8, error) {
	return m.elements(name, typeUint8, 1, dims)
}

// Int8s returns the elements of a tensor of signed bytes that has these dimensions.
func (m *Model) Int8s(name string, dims ...int) ([]int8, error) {
	data, err := m.elements(name, typeInt8, 1, dims)
	if err != nil {
		return nil, err
	}
	signed := make([]int8, len(data))
	for i, b := range data {
		signed[i] = int8(b)
	}
	return signed, nil
}

// elements returns the elements as little-endian bytes.
func (m *Model) elements(name string, kind int, size int64, dims []int) ([]byte, error) {
	t, found := m.tensors[name]
	if !found {
		return nil, fmt.Errorf("%w: no tensor %q", ErrFormat, name)
	}
	if t.kind != kind || !slices.Equal(t.dims, dims) {
		return nil, fmt.Errorf("%w: tensor %q has type %d and dimensions %v, want %d and %v", ErrFormat, name, t.kind, t.dims, kind, dims)
	}
	var data []byte
	var err error
	if t.raw.size > 0 {
		if elements(dims, t.raw.size)*size != t.raw.size {
			return nil, fmt.Errorf("%w: tensor %q has %d bytes for dimensions %v", ErrFormat, name, t.raw.size, dims)
		}
		data, err = contents(m.file, t.raw, t.raw.size)
	} else {
		data, err = m.listed(t)
	}
	if err != nil {
		return nil, fmt.Errorf("read tensor %q: %w", name, err)
	}
	if elements(dims, int64(len(data)))*size != int64(len(data)) {
		return nil, fmt.Errorf("%w: tensor %q has %d bytes for dimensions %v", ErrFormat, name, len(data), dims)
	}
	return data, nil
}

// maxListed is the number of bytes that a list of numbers may have.
const maxListed = 1 << 20

// listed returns the elements of a tensor that the file has as a list of numbers.
func (m *Model) listed(t tensor) ([]byte, error) {
	var data []byte
	for _, f := range t.numbers {
		if f.wire == bytesField && f.size > maxListed-int64(len(data)) {
			return nil, fmt.Errorf("%w: a list of more than %d bytes", ErrFormat, maxListed)
		}
		switch {
		case f.number == tensorFloatData && t.kind == typeFloat && f.wire == bytesField:
			floats, err := contents(m.file, f, maxListed)
			if err != nil {
				return nil, err
			}
			data = append(data, floats...)
		case f.number == tensorFloatData && t.kind == typeFloat && f.wire == fixed32Field:
			data = binary.LittleEndian.AppendUint32(data, uint32(f.value))
		case f.number == tensorInt32Data && t.kind != typeFloat && f.wire == bytesField:
			packed, err := contents(m.file, f, maxListed)
			if err != nil {
				return nil, err
			}
			values, err := varints(packed)
			if err != nil {
				return nil, fmt.Errorf("%w: %w", ErrFormat, err)
			}
			for _, v := range values {
				data = append(data, byte(v))
			}
		case f.number == tensorInt32Data && t.kind != typeFloat && f.wire == varintField:
			data = append(data, byte(f.value))
		default:
			return nil, fmt.Errorf("%w: numbers of another type than the tensor's", ErrFormat)
		}
	}
	return data, nil
}
