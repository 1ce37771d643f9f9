package local

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"docent/shared/embed"
	"docent/shared/embed/local/internal/kernel"
	"docent/shared/embed/local/internal/onnx"
	"docent/shared/embed/local/internal/onnx/onnxtest"
)

const (
	smallSize  = 64
	smallInner = 128
	smallWords = 7
)

// smallTokens is a tokenizer of smallWords tokens.
const smallTokens = `{"normalizer":{"type":"BertNormalizer","clean_text":true,"handle_chinese_chars":true,"lowercase":true},
"pre_tokenizer":{"type":"BertPreTokenizer"},
"model":{"type":"WordPiece","unk_token":"[UNK]","continuing_subword_prefix":"##","max_input_chars_per_word":100,
"vocab":{"[UNK]":0,"[CLS]":1,"[SEP]":2,"the":3,"server":4,"##s":5,"!":6}}}`

// smallModel returns a file of two layers with random weights.
func smallModel() []byte {
	r := rand.New(rand.NewPCG(1, 2))
	var tensors, nodes []onnxtest.Message
	floats := func(name string, n int, around float32) {
		numbers := make([]float32, n)
		for i := range numbers {
			numbers[i] = around + float32(r.NormFloat64())/10
		}
		tensors = append(tensors, onnxtest.Tensor(name, onnxtest.Float, onnxtest.Raw(numbers...), n))
	}
	random := func(n, within int) []byte {
		data := make([]byte, n)
		for i := range data {
			data[i] = byte(r.IntN(2*within) - within)
		}
		return data
	}
	table := func(name string, rows int) {
		name = "embeddings." + name + "_embeddings.weight"
		tensors = append(tensors, onnxtest.FloatList(name+"_scale", []float32{0.01}), onnxtest.ByteList(name+"_zero_point", onnxtest.Uint8, []int32{128}),
			onnxtest.Tensor(name+"_quantized", onnxtest.Uint8, random(rows*smallSize, 128), rows, smallSize))
	}
	norm := func(name string) {
		floats(name+".weight", smallSize, 1)
		floats(name+".bias", smallSize, 0)
	}
	table("word", smallWords)
	table("token_type", 2)
	table("position", maxTokens)
	norm("embeddings.LayerNorm")
	for layer := range 2 {
		linear := func(node, bias string, in, out int) {
			name := fmt.Sprintf("w%d%s", layer, node)
			nodes = append(nodes, onnxtest.Node("MatMulInteger", fmt.Sprintf("/encoder/layer.%d/%s/MatMul_quant", layer, node), name+"out", "x", name+"_quantized"))
			floats(name+"_scale", out, 0.01)
			tensors = append(tensors, onnxtest.ByteList(name+"_zero_point", onnxtest.Int8, make([]int32, out), out),
				onnxtest.Tensor(name+"_quantized", onnxtest.Int8, random(in*out, 64), in, out))
			floats(fmt.Sprintf("encoder.layer.%d.%s.bias", layer, bias), out, 0)
		}
		for _, part := range []string{"query", "key", "value"} {
			linear("attention/self/"+part, "attention.self."+part, smallSize, smallSize)
		}
		linear("attention/output/dense", "attention.output.dense", smallSize, smallSize)
		linear("intermediate/dense", "intermediate.dense", smallSize, smallInner)
		linear("output/dense", "output.dense", smallInner, smallSize)
		norm(fmt.Sprintf("encoder.layer.%d.attention.output.LayerNorm", layer))
		norm(fmt.Sprintf("encoder.layer.%d.output.LayerNorm", layer))
	}
	return onnxtest.Model(tensors, nodes)
}

func smallFolder(t testing.TB, model, tokens []byte) string {
	t.Helper()
	folder := t.TempDir()
	for name, data := range map[string][]byte{ModelFile: model, TokenizerFile: tokens} {
		if err := os.WriteFile(filepath.Join(folder, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

var small = embed.Model{Name: "small", Size: smallSize}

// TestKernelsAgree needs no weights from elsewhere.
func TestKernelsAgree(t *testing.T) {
	t.Parallel()
	folder := smallFolder(t, smallModel(), []byte(smallTokens))
	texts := []string{"the", "The servers!", "the server the servers the server!", string(bytes.Repeat([]byte("the servers! "), 100))}
	want, err := newEngine(folder, small, kernel.Plain()).Embed(t.Context(), texts, embed.Passage)
	if err != nil {
		t.Fatal(err)
	}
	for _, kernels := range kernel.Sets() {
		got, err := newEngine(folder, small, kernels).Embed(t.Context(), texts, embed.Passage)
		if err != nil {
			t.Fatal(err)
		}
		for i := range got {
			if c := embed.Cosine(got[i], want[i]); !(c > 0.999) {
				t.Errorf("%s, text %d: cosine %v to the plain form", kernels.Name(), i, c)
			}
		}
	}
}

// TestBatchMatesChangeNoBit embeds texts alone and together, with scratch space that other texts have used.
func TestBatchMatesChangeNoBit(t *testing.T) {
	t.Parallel()
	e := newEngine(smallFolder(t, smallModel(), []byte(smallTokens)), small, kernel.Sets()[0])
	texts := []string{"the", string(bytes.Repeat([]byte("the servers! "), 100)), "the server!", "server", "x"}
	together, err := e.Embed(t.Context(), texts, embed.Passage)
	if err != nil {
		t.Fatal(err)
	}
	for i, text := range texts {
		alone, err := e.Embed(t.Context(), []string{text}, embed.Question)
		if err != nil || !slices.Equal(alone[0], together[i]) {
			t.Errorf("text %d differs alone (%v)", i, err)
		}
	}
}

// TestDamagedModel changes bytes all over the file and cuts it off. Loading returns an error, or the engine computes
// with the changed weights; it never crashes.
func TestDamagedModel(t *testing.T) {
	t.Parallel()
	whole := smallModel()
	load := func(data []byte) error {
		file, err := onnx.Open(bytes.NewReader(data), int64(len(data)))
		if err == nil {
			_, err = readModel(file, kernel.Sets()[0], smallSize, smallWords)
		}
		if err != nil && !errors.Is(err, onnx.ErrFormat) && !errors.Is(err, kernel.ErrWeights) {
			t.Fatalf("error %v is about neither the file nor the weights", err)
		}
		return err
	}
	if err := load(whole); err != nil {
		t.Fatal(err)
	}
	for n := 0; n < len(whole); n += 997 {
		if load(whole[:n]) == nil {
			t.Errorf("cut off at %d: no error", n)
		}
	}
	for i := 0; i < len(whole); i += 499 {
		for _, flip := range []byte{1, 0x80, 0xff} {
			damaged := slices.Clone(whole)
			damaged[i] ^= flip
			_ = load(damaged)
		}
	}
}

func TestDamagedFilesAreTheModels(t *testing.T) {
	t.Parallel()
	model, tokens := smallModel(), []byte(smallTokens)
	for name, folder := range map[string]string{
		"model cut off":          smallFolder(t, model[:len(model)-1], tokens),
		"empty model":            smallFolder(t, nil, tokens),
		"tokenizer cut off":      smallFolder(t, model, tokens[:len(tokens)-1]),
		"another vocabulary":     smallFolder(t, model, bytes.Replace(tokens, []byte(`,"!":6`), nil, 1)),
		"a layer without a name": smallFolder(t, bytes.Replace(model, []byte("MatMul_quant"), []byte("MatMul_other"), 1), tokens),
	} {
		e := New(folder, small)
		if _, err := e.Embed(t.Context(), []string{"the"}, embed.Passage); !errors.Is(err, embed.ErrModel) {
			t.Errorf("%s: %v, want %v", name, err, embed.ErrModel)
		}
	}
}
