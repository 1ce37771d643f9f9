// Package onnx reads the weights and the operations of an ONNX model: the tensors by name, and which tensors an
// operation takes. It reads the file in parts, so that memory holds no more than the caller asks for. A file
// that is damaged or hostile leads to an error, never to a crash or to more memory than its own size.
package onnx

import (
	"errors"
	"fmt"
	"io"
)

// ErrFormat means that the file is not an ONNX model, or it is damaged.
var ErrFormat = errors.New("not a sound ONNX file")

// Bounds of a file.
const (
	maxTensors    = 8192
	maxNodes      = 65536
	maxNodeInputs = 64
	maxNameBytes  = 1024
)

// Numbers of the fields that are read, from onnx.proto.
const (
	modelGraph       = 7
	graphNode        = 1
	graphInitializer = 5
	nodeInput        = 1
	nodeName         = 3
	nodeOperator     = 4
	nodeAttribute    = 5
	nodeOutput       = 2
	attributeTensor  = 5
)

// Node is an operation of the graph.
type Node struct {
	Name     string
	Operator string
	Inputs   []string // names of tensors and of other nodes' outputs
}

// Model is an open ONNX file.
type Model struct {
	file    io.ReaderAt
	tensors map[string]tensor
	nodes   []Node
}

// Open reads the structure of a file of size bytes. The file must stay open while tensors are read. Errors wrap
// ErrFormat, or are the file's.
func Open(file io.ReaderAt, size int64) (*Model, error) {
	m := &Model{file: file, tensors: map[string]tensor{}}
	err := each(newSection(file, 0, size), func(f field) error {
		if f.number != modelGraph {
			return nil
		}
		return m.readGraph(f)
	})
	if err == nil && len(m.nodes) == 0 {
		err = fmt.Errorf("%w: no graph", ErrFormat)
	}
	if err != nil {
		return nil, fmt.Errorf("read the model's graph: %w", err)
	}
	return m, nil
}

// Nodes returns the operations in the order of the file. The caller does not change them.
func (m *Model) Nodes() []Node { return m.nodes }

// each calls yield with the fields of s, and makes errors of the wire format ErrFormat.
func each(s *section, yield func(field) error) error {
	for {
		f, err := s.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = yield(f)
		}
		if errors.Is(err, errWire) {
			err = fmt.Errorf("%w: %s at offset %d", ErrFormat, err.Error(), s.offset)
		}
		if err != nil {
			return err
		}
	}
}

func (m *Model) sub(f field) *section { return newSection(m.file, f.start, f.size) }

func (m *Model) readGraph(f field) error {
	if f.wire != bytesField {
		return errWire
	}
	return each(m.sub(f), func(f field) error {
		switch {
		case f.number != graphNode && f.number != graphInitializer:
			return nil
		case f.wire != bytesField:
			return errWire
		case f.number == graphNode:
			return m.readNode(f)
		}
		t, err := m.readTensor(f)
		if err != nil {
			return err
		}
		return m.addTensor(t.name, t)
	})
}

func (m *Model) addTensor(name string, t tensor) error {
	if _, twice := m.tensors[name]; twice || len(m.tensors) == maxTensors {
		return fmt.Errorf("%w: tensor %q is there twice, or there are more than %d", ErrFormat, name, maxTensors)
	}
	m.tensors[name] = t
	return nil
}

// readNode enters a node. The value of a constant is entered as a tensor that has the name of the node's output.
func (m *Model) readNode(f field) error {
	if len(m.nodes) == maxNodes {
		return fmt.Errorf("%w: more than %d nodes", ErrFormat, maxNodes)
	}
	var n Node
	var output string
	var value *tensor
	err := each(m.sub(f), func(f field) error {
		var text []byte
		var err error
		switch f.number {
		case nodeInput, nodeName, nodeOperator, nodeOutput:
			if text, err = contents(m.file, f, maxNameBytes); err != nil {
				return err
			}
		}
		switch f.number {
		case nodeInput:
			if len(n.Inputs) == maxNodeInputs {
				return errWire
			}
			n.Inputs = append(n.Inputs, string(text))
		case nodeOutput:
			output = string(text)
		case nodeName:
			n.Name = string(text)
		case nodeOperator:
			n.Operator = string(text)
		case nodeAttribute:
			value, err = m.readAttribute(f)
		}
		return err
	})
	if err != nil {
		return err
	}
	m.nodes = append(m.nodes, n)
	if n.Operator == "Constant" && value != nil {
		return m.addTensor(output, *value)
	}
	return nil
}

// readAttribute returns the tensor of an attribute, or nil if it has another type.
func (m *Model) readAttribute(f field) (*tensor, error) {
	if f.wire != bytesField {
		return nil, errWire
	}
	var value *tensor
	err := each(m.sub(f), func(f field) error {
		if f.number != attributeTensor || f.wire != bytesField {
			return nil
		}
		t, err := m.readTensor(f)
		value = &t
		return err
	})
	return value, err
}
