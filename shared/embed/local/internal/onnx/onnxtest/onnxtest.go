// Package onnxtest writes ONNX files for tests.
package onnxtest

import (
	"encoding/binary"
	"math"
)

// Types of a tensor's elements.
const (
	Float = 1
	Uint8 = 2
	Int8  = 3
)

// Message is the bytes of a protocol buffer.
type Message []byte

// Varint appends a field that is a number.
func (m Message) Varint(number int, value uint64) Message {
	return binary.AppendUvarint(binary.AppendUvarint(m, uint64(number)<<3), value)
}

// Bytes appends a field that is a string or a message.
func (m Message) Bytes(number int, contents []byte) Message {
	m = binary.AppendUvarint(m, uint64(number)<<3|2)
	m = binary.AppendUvarint(m, uint64(len(contents)))
	return append(m, contents...)
}

// Tensor returns a tensor with raw elements.
func Tensor(name string, kind int, raw []byte, dims ...int) Message {
	return header(name, kind, dims).Bytes(9, raw)
}

func header(name string, kind int, dims []int) Message {
	var m Message
	for _, d := range dims {
		m = m.Varint(1, uint64(d))
	}
	return m.Varint(2, uint64(kind)).Bytes(8, []byte(name))
}

// Raw returns floats as a tensor has them.
func Raw(numbers ...float32) []byte {
	var raw []byte
	for _, x := range numbers {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(x))
	}
	return raw
}

// FloatList returns a tensor whose elements are a list of floats.
func FloatList(name string, numbers []float32, dims ...int) Message {
	return header(name, Float, dims).Bytes(4, Raw(numbers...))
}

// ByteList returns a tensor whose bytes are a list of numbers.
func ByteList(name string, kind int, numbers []int32, dims ...int) Message {
	var packed []byte
	for _, x := range numbers {
		packed = binary.AppendUvarint(packed, uint64(int64(x)))
	}
	return header(name, kind, dims).Bytes(5, packed)
}

// Node returns an operation.
func Node(operator, name, output string, inputs ...string) Message {
	var m Message
	for _, input := range inputs {
		m = m.Bytes(1, []byte(input))
	}
	return m.Bytes(2, []byte(output)).Bytes(3, []byte(name)).Bytes(4, []byte(operator))
}

// Constant returns the operation whose output is a tensor.
func Constant(output string, tensor Message) Message {
	return Node("Constant", "constant", output).Bytes(5, Message(nil).Bytes(1, []byte("value")).Bytes(5, tensor))
}

// Model returns a file with tensors and nodes.
func Model(tensors, nodes []Message) []byte {
	var graph Message
	for _, n := range nodes {
		graph = graph.Bytes(1, n)
	}
	for _, t := range tensors {
		graph = graph.Bytes(5, t)
	}
	return Message(nil).Varint(1, 8).Bytes(7, graph.Bytes(2, []byte("graph")))
}
