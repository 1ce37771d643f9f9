package wordpiece

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"docent/testkit/weights"
)

func tokenizer(t testing.TB) *Tokenizer {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(weights.Folder(t), "tokenizer.json"))
	if err != nil {
		t.Fatal(err)
	}
	tokens, err := New(data)
	if err != nil {
		t.Fatal(err)
	}
	return tokens
}

// TestEncodeAsHuggingFace compares with what the tokenizers package of Hugging Face makes of 560 texts of many scripts.
func TestEncodeAsHuggingFace(t *testing.T) {
	t.Parallel()
	var cases []struct {
		Text string  `json:"text"`
		IDs  []int32 `json:"ids"`
	}
	data, err := os.ReadFile("testdata/tokens.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	tokens := tokenizer(t)
	for _, c := range cases {
		want := slices.Concat([]int32{101}, c.IDs, []int32{102})
		if got := tokens.Encode(nil, c.Text, 256); !slices.Equal(got, want) {
			t.Errorf("%.80q: %v, want %v", c.Text, got, want)
		}
	}
}

// small is a tokenizer of few words.
const small = `{"added_tokens":[{"id":1,"content":"[CLS]"},{"id":2,"content":"[SEP]"}],
"normalizer":{"type":"BertNormalizer","clean_text":true,"handle_chinese_chars":true,"strip_accents":null,"lowercase":true},
"pre_tokenizer":{"type":"BertPreTokenizer"},
"model":{"type":"WordPiece","unk_token":"[UNK]","continuing_subword_prefix":"##","max_input_chars_per_word":10,
"vocab":{"[UNK]":0,"[CLS]":1,"[SEP]":2,"re":3,"##start":4,"##s":5,"server":6,"!":7,"中":8,"restart":9,"a":10,"##a":11}}}`

func smallTokenizer(t testing.TB) *Tokenizer {
	t.Helper()
	tokens, err := New([]byte(small))
	if err != nil {
		t.Fatal(err)
	}
	return tokens
}

func TestEncode(t *testing.T) {
	t.Parallel()
	tokens := smallTokenizer(t)
	cases := []struct {
		text  string
		limit int
		want  []int32
	}{
		{"", 10, nil},
		{"restart server", 10, []int32{9, 6}},
		{"Réstarts SERVERS!", 10, []int32{9, 5, 6, 5, 7}},
		{"中中a", 10, []int32{8, 8, 10}},
		{"serverx", 10, []int32{0}},
		{"aaaaaaaaaa", 20, []int32{10, 11, 11, 11, 11, 11, 11, 11, 11, 11}},
		{"aaaaaaaaaaa", 20, []int32{0}},
		{"a[SEP]a[CLS]", 10, []int32{10, 2, 10, 1}},
		{"aaaaaaa", 5, []int32{10, 11, 11}},
		{"a a a a a", 5, []int32{10, 10, 10}},
		{"a", 2, nil},
		{"a", 0, nil},
	}
	for _, c := range cases {
		want := slices.Concat([]int32{-1, 1}, c.want, []int32{2})
		if got := tokens.Encode([]int32{-1}, c.text, c.limit); !slices.Equal(got, want) {
			t.Errorf("Encode(%q, %d) = %v, want %v", c.text, c.limit, got, want)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	for name, change := range map[string][2]string{
		"not JSON":              {`{"added`, `{{`},
		"another model":         {`"WordPiece"`, `"BPE"`},
		"another normalizer":    {`"BertNormalizer"`, `"NFC"`},
		"another pre-tokenizer": {`"BertPreTokenizer"`, `"Whitespace"`},
		"no unknown token":      {`"[UNK]":0`, `"u":0`},
		"no first token":        {`"[CLS]":1`, `"c":1`},
		"negative number":       {`"a":10`, `"a":-10`},
		"number without token":  {`"a":10`, `"a":12`},
		"added token elsewhere": {`"id":1,`, `"id":3,`},
		"empty added token":     {`"content":"[CLS]"`, `"content":""`},
		"words of no length":    {`"max_input_chars_per_word":10`, `"max_input_chars_per_word":0`},
		"no prefix":             {`"##",`, `"",`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			damaged := strings.Replace(small, change[0], change[1], 1)
			if damaged == small {
				t.Fatal("nothing is changed")
			}
			if _, err := New([]byte(damaged)); !errors.Is(err, ErrFormat) {
				t.Errorf("error %v, want %v", err, ErrFormat)
			}
		})
	}
	for n := range len(small) - 1 {
		if _, err := New([]byte(small[:n])); !errors.Is(err, ErrFormat) {
			t.Fatalf("cut off at %d: %v, want %v", n, err, ErrFormat)
		}
	}
}

func FuzzEncode(f *testing.F) {
	for _, text := range []string{"restart server", "Réstarts!", "中[SEP]", "a\u0301\u200d", "\xff", "각가"} {
		f.Add(text, 10)
	}
	tokens := smallTokenizer(f)
	f.Fuzz(func(t *testing.T, text string, limit int) {
		limit %= 300
		ids := tokens.Encode(nil, text, limit)
		if len(ids) > max(limit, 2) || ids[0] != 1 || ids[len(ids)-1] != 2 {
			t.Fatalf("limit %d: %v", limit, ids)
		}
		for _, id := range ids {
			if id < 0 || int(id) >= tokens.Size() {
				t.Fatalf("token %d of %d", id, tokens.Size())
			}
		}
		if again := tokens.Encode(nil, text, max(limit, 2)+1); !slices.Equal(again[:len(ids)-1], ids[:len(ids)-1]) {
			t.Fatalf("limit %d: %v, one more %v", limit, ids, again)
		}
	})
}

func FuzzNew(f *testing.F) {
	f.Add([]byte(small))
	f.Fuzz(func(t *testing.T, data []byte) {
		tokens, err := New(data)
		if err != nil {
			if !errors.Is(err, ErrFormat) {
				t.Fatal(err)
			}
			return
		}
		for _, id := range tokens.Encode(nil, "Restart the server! 中[SEP]", 20) {
			if id < 0 || int(id) >= tokens.Size() {
				t.Fatalf("token %d of %d", id, tokens.Size())
			}
		}
	})
}
