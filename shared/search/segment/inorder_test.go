package segment_test

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/google/uuid"

	"docent/shared/blob"
	"docent/shared/blob/dir"
	"docent/shared/search/segment"
)

// inOrder opens a file to merge it, with little of it in memory.
func inOrder(t fataler, data []byte) (*segment.Segment, error) {
	return segment.OpenInWindows(t.Context(), oneFile{data: data}, "s", int64(len(data)), 10)
}

// wordySample returns a file that is so large between its head and its term index that these are not read together.
func wordySample(t fataler) []byte {
	var docs []document
	for i := range 300 {
		words := ""
		for k := range 40 {
			words += fmt.Sprintf("word%d-%d ", i, k)
		}
		docs = append(docs, document{id: uuid.UUID{byte(i >> 8), byte(i)}, version: 1, passages: []string{words}})
	}
	return build(t, docs)
}

// TestADamagedPartOfAMergeIsNamed changes bytes all over a file that a merge reads in parts, so that some are noticed late.
func TestADamagedPartOfAMergeIsNamed(t *testing.T) {
	t.Parallel()
	for name, of := range map[string]struct{ data, empty []byte }{
		"postings": {wordySample(t), build(t, nil)}, "vectors": {vectorSample(t), buildVectors(t, nil)}, "sets": {setSample(t), build(t, nil)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data := of.data
			empty, err := segment.Open(of.empty)
			if err != nil {
				t.Fatal(err)
			}
			late := 0
			step := 1
			if len(data) > 20_000 {
				step = 61
			}
			for i := 0; i < len(data); i += step {
				changed := bytes.Clone(data)
				changed[i] ^= 0x10
				s, err := inOrder(t, changed)
				if err == nil {
					late++
					_, err = segment.Combine([]*segment.Segment{empty, s}, nil)
					if part := new(segment.PartError); !errors.As(err, &part) || part.Part != 1 {
						err = fmt.Errorf("not said which segment: %w", err)
					}
				}
				if !errors.Is(err, segment.ErrDamaged) {
					t.Errorf("byte %d of %d is changed: %v", i, len(data), err)
				}
			}
			if late == 0 && name != "sets" { // which are small
				t.Error("all was read at once")
			}
		})
	}
}

// TestAFileThatDisappearsDuringAMerge: the error says that it is missing, so that the caller can look who merged it.
func TestAFileThatDisappearsDuringAMerge(t *testing.T) {
	t.Parallel()
	blobs, err := dir.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer blobs.Close()
	data := sample(t)
	if err := blobs.Put(t.Context(), "s", data); err != nil {
		t.Fatal(err)
	}
	s, err := segment.OpenInWindows(t.Context(), blobs, "s", int64(len(data)), 10)
	if err != nil {
		t.Fatal(err)
	}
	if err := blobs.Delete(t.Context(), "s"); err != nil {
		t.Fatal(err)
	}
	_, err = segment.Combine([]*segment.Segment{s}, nil)
	if part := new(segment.PartError); !errors.As(err, &part) || part.Part != 0 || !errors.Is(part.Err, blob.ErrNotFound) {
		t.Errorf("merged: %v", err)
	}
}
