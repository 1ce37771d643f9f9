package onnx

import (
	"encoding/binary"
	"errors"
	"io"
)

// Wire types of protocol buffers.
const (
	varintField  = 0
	fixed64Field = 1
	bytesField   = 2
	fixed32Field = 5
)

// errWire: the bytes are not a message, or end within one.
var errWire = errors.New("malformed protocol buffer")

// field is one field of a message.
type field struct {
	number int
	wire   int
	value  uint64 // of a varint or a fixed field
	start  int64  // of the contents of a bytes field, in the file
	size   int64  // of these contents
}

// section reads the fields of a message between two offsets of a file.
type section struct {
	file   io.ReaderAt
	offset int64
	end    int64
	window []byte // bytes of the file from offset on
	buffer []byte // backs window
}

// windowSize is enough for the tags before any contents.
const windowSize = 512

func newSection(file io.ReaderAt, start, size int64) *section {
	return &section{file: file, offset: start, end: start + size, buffer: make([]byte, windowSize)}
}

// next returns the next field, or io.EOF at the end of the section. A bytes field is within the section.
func (s *section) next() (field, error) {
	if s.offset == s.end {
		return field{}, io.EOF
	}
	tag, err := s.varint()
	if err != nil {
		return field{}, err
	}
	f := field{number: int(tag >> 3 & (1<<29 - 1)), wire: int(tag & 7)}
	switch f.wire {
	case varintField:
		f.value, err = s.varint()
	case fixed64Field:
		f.value, err = s.fixed(8)
	case fixed32Field:
		f.value, err = s.fixed(4)
	case bytesField:
		var size uint64
		size, err = s.varint()
		if err == nil && size > uint64(s.end-s.offset) {
			err = errWire
		}
		if err == nil {
			f.start, f.size = s.offset, int64(size)
			s.advance(f.size)
		}
	default:
		err = errWire
	}
	return f, err
}

func (s *section) varint() (uint64, error) {
	if err := s.fill(binary.MaxVarintLen64); err != nil {
		return 0, err
	}
	value, n := binary.Uvarint(s.window)
	if n <= 0 {
		return 0, errWire
	}
	s.advance(int64(n))
	return value, nil
}

func (s *section) fixed(size int) (uint64, error) {
	if err := s.fill(size); err != nil {
		return 0, err
	}
	if len(s.window) < size {
		return 0, errWire
	}
	var b [8]byte
	copy(b[:], s.window[:size])
	s.advance(int64(size))
	return binary.LittleEndian.Uint64(b[:]), nil
}

// fill makes the window hold n bytes, or the rest of the section.
func (s *section) fill(n int) error {
	if len(s.window) >= n {
		return nil
	}
	size := min(windowSize, s.end-s.offset)
	if int64(len(s.window)) >= size {
		return nil
	}
	s.window = s.buffer[:size]
	if _, err := s.file.ReadAt(s.window, s.offset); err != nil {
		s.window = nil
		if errors.Is(err, io.EOF) {
			return errWire
		}
		return err
	}
	return nil
}

func (s *section) advance(n int64) {
	s.offset += n
	s.window = s.window[min(n, int64(len(s.window))):]
}

// contents reads the contents of a bytes field of at most limit bytes.
func contents(file io.ReaderAt, f field, limit int64) ([]byte, error) {
	if f.wire != bytesField || f.size > limit {
		return nil, errWire
	}
	data := make([]byte, f.size)
	if _, err := file.ReadAt(data, f.start); err != nil {
		return nil, err
	}
	return data, nil
}
