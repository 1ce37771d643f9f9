package local

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"docent/shared/embed"
	"docent/shared/embed/embedtest"
	"docent/shared/embed/local/internal/kernel"
	"docent/testkit/weights"
)

func TestContract(t *testing.T) {
	t.Parallel()
	e := New(weights.Folder(t), MiniLM)
	if e.Kernels() == kernel.Plain().Name() {
		t.Skip("the suite takes minutes without a processor's vector instructions")
	}
	embedtest.Run(t, e)
}

// sample is a text and the bytes of its vector, by a forward pass in 32-bit floats.
type sample struct {
	Text   string `json:"text"`
	Vector string `json:"vector"`
}

func samples(t *testing.T) []sample {
	t.Helper()
	data, err := os.ReadFile("testdata/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var all []sample
	if err := json.Unmarshal(data, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

func (s sample) want(t *testing.T) embed.Vector {
	t.Helper()
	data, err := base64.StdEncoding.DecodeString(s.Vector)
	if err != nil {
		t.Fatal(err)
	}
	v := make(embed.Vector, len(data))
	for i, b := range data {
		v[i] = float32(int8(b))
	}
	embed.Normalize(v)
	return v
}

func TestVectorsEqualThoseComputedWithFloats(t *testing.T) {
	t.Parallel()
	folder := weights.Folder(t)
	for _, kernels := range kernel.Sets() {
		t.Run(kernels.Name(), func(t *testing.T) {
			t.Parallel()
			e := newEngine(folder, MiniLM, kernels)
			for _, s := range samples(t) {
				if kernels.Name() == kernel.Plain().Name() && len(s.Text) > 30 {
					continue // a second each
				}
				got, err := e.Embed(t.Context(), []string{s.Text}, embed.Passage)
				if err != nil {
					t.Fatal(err)
				}
				if c := embed.Cosine(got[0], s.want(t)); !(c >= 0.99) {
					t.Errorf("%.60q: cosine %.4f to the vector by floats, want 0.99", s.Text, c)
				}
			}
		})
	}
}

func TestMissingModel(t *testing.T) {
	t.Parallel()
	e := New(t.TempDir(), MiniLM)
	if err := e.Load(); !errors.Is(err, embed.ErrModel) || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Load: %v, want %v", err, embed.ErrModel)
	}
	if _, err := e.Embed(t.Context(), []string{"a"}, embed.Question); !errors.Is(err, embed.ErrModel) {
		t.Errorf("Embed: %v, want %v", err, embed.ErrModel)
	}
}

func TestModelOfAnotherSize(t *testing.T) {
	t.Parallel()
	for _, size := range []int{0, -64, 100, 256, 1 << 30} {
		e := New(weights.Folder(t), embed.Model{Name: "other", Size: size})
		if err := e.Load(); !errors.Is(err, embed.ErrModel) {
			t.Errorf("size %d: %v, want %v", size, err, embed.ErrModel)
		}
	}
}

func TestLoadTriesAgain(t *testing.T) {
	t.Parallel()
	source, folder := weights.Folder(t), t.TempDir()
	e := New(folder, MiniLM)
	for _, name := range []string{ModelFile, TokenizerFile} {
		if err := e.Load(); !errors.Is(err, embed.ErrModel) {
			t.Fatalf("before %s is there: %v", name, err)
		}
		if err := os.Symlink(filepath.Join(source, name), filepath.Join(folder, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.Load(); err != nil {
		t.Error(err)
	}
}

func TestWordsThatTheModelKnows(t *testing.T) {
	t.Parallel()
	e := New(weights.Folder(t), MiniLM)
	for word, want := range map[string]bool{"party": true, "summer": true, "colection": false, "delteing": false, "Party": false, "": false} {
		if e.Knows(word) != want {
			t.Errorf("%q is known: %t", word, !want)
		}
	}
	if New(t.TempDir(), MiniLM).Knows("party") {
		t.Error("a model without files knows a word")
	}
}
