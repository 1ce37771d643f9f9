package plaintext_test

import (
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"docent/shared/plaintext"
)

func TestDecode(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ data, want, err string }{
		"UTF-8":                    {"Caf\u00e9 \U0001F600", "Caf\u00e9 \U0001F600", ""},
		"UTF-8 with a mark":        {"\ufeff# A", "# A", ""},
		"nothing":                  {"", "", ""},
		"a mark alone":             {"\xff\xfe", "", ""},
		"UTF-16":                   {"\xff\xfeA\x00\xe9\x00\x3d\xd8\x00\xde", "A\u00e9\U0001F600", ""},
		"UTF-16, big end first":    {"\xfe\xff\x00A\xd8\x3d\xde\x00", "A\U0001F600", ""},
		"half of a character":      {"\xff\xfeA\x00B", "", "it begins like UTF-16 but is not valid UTF-16"},
		"half of a pair":           {"\xff\xfe\x3d\xd8A\x00", "", "it begins like UTF-16 but is not valid UTF-16"},
		"half of a pair at an end": {"\xff\xfe\x3d\xd8", "", "it begins like UTF-16 but is not valid UTF-16"},
		"UTF-32":                   {"\xff\xfe\x00\x00A\x00\x00\x00", "", "it is UTF-32; save it as UTF-8"},
		"Latin-1":                  {"Caf\xe9", "", "it is not valid UTF-8"},
		"no mark":                  {"A\x00B\x00", "", "it contains NUL bytes, so it is binary, or UTF-16 without a byte order mark"},
	} {
		got, err := plaintext.Decode([]byte(tt.data))
		if got != tt.want || tt.err == "" && err != nil || tt.err != "" && (err == nil || err.Error() != tt.err) {
			t.Errorf("%s: got %q, %v", name, got, err)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte("\ufeff# A"))
	f.Add([]byte("\xff\xfe\x3d\xd8\x00\xde"))
	f.Add([]byte("\xfe\xff\x00A\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		text, err := plaintext.Decode(data)
		if err != nil {
			return
		}
		if !utf8.ValidString(text) || strings.Contains(text, "\x00") {
			t.Fatalf("%q was decoded", text)
		}
		if len(text) > 2*len(data) {
			t.Errorf("%d bytes became %d", len(data), len(text))
		}
		inUTF16 := []byte("\xfe\xff")
		for _, unit := range utf16.Encode([]rune(text)) {
			inUTF16 = append(inUTF16, byte(unit>>8), byte(unit))
		}
		if again, err := plaintext.Decode(inUTF16); again != text || err != nil {
			t.Errorf("%q became %q, %v", text, again, err)
		}
	})
}
