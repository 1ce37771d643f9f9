package jsoninput_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"docent/shared/jsoninput"
)

var wide = jsoninput.Limits{Depth: jsoninput.MaxDepth, Values: 1 << 30, Members: 1 << 30, Literal: 1 << 30}

func TestLimitsAreExact(t *testing.T) {
	t.Parallel()
	limits := jsoninput.Limits{Depth: 3, Values: 6, Members: 2, Literal: 4}
	for _, tt := range []struct {
		name, text, exceeded string
	}{
		{"values", `[1,2,3,4,5]`, ""},
		{"one value more", `[1,2,3,4,5,6]`, "6 values"},
		{"values that are empty objects", `[{},{},{},{},{},{}]`, "6 values"},
		{"names are values", `[{"a":1,"b":2}]`, ""},
		{"names and one value more", `[{"a":1,"b":2},1]`, "6 values"},
		{"depth", `[[[]]]`, ""},
		{"one level more", `[[[[]]]]`, "3 levels"},
		{"members", `{"a":1,"b":2}`, ""},
		{"one member more", `{"a":1,"b":2,"c":3}`, "2 members"},
		{"the same member again", `{"a":1,"a":2,"a":3}`, "2 members"},
		{"members of two objects", `[{"a":1},{"a":1}]`, "6 values"},
		{"members of two small objects", `{"a":{"b":1}}`, ""},
		{"a literal", `true`, ""},
		{"a longer literal", `12345`, "4 characters"},
		{"a long string", `"` + strings.Repeat("x", 100) + `"`, ""},
		{"structure in a string", `"[[[[{:::,,,\"[[[["`, ""},
		{"an escape before the end", `["\\",1]`, ""},
		{"no JSON at all", `]]]}}}:`, ""},
	} {
		for _, size := range []int{1, 3, len(tt.text)} {
			w := jsoninput.New(limits)
			_, err := io.CopyBuffer(struct{ io.Writer }{w}, struct{ io.Reader }{strings.NewReader(tt.text)}, make([]byte, size))
			var exceeded *jsoninput.LimitError
			switch {
			case tt.exceeded == "" && err != nil:
				t.Errorf("%s in parts of %d: %v", tt.name, size, err)
			case tt.exceeded != "" && (!errors.As(err, &exceeded) || !strings.Contains(err.Error(), tt.exceeded)):
				t.Errorf("%s in parts of %d: %v, want %s", tt.name, size, err, tt.exceeded)
			}
			if _, again := w.Write([]byte("1")); tt.exceeded != "" && !errors.Is(again, err) {
				t.Errorf("%s: a part after the refusal: %v", tt.name, again)
			}
		}
	}
}

// TestLinesBeginAnew: what a line of JSON Lines leaves open ends with it. Values are counted over all lines, and nothing else is checked.
func TestLinesBeginAnew(t *testing.T) {
	t.Parallel()
	limits := jsoninput.Limits{Depth: 3, Values: 12, Members: 2, Literal: 4, Lines: true}
	for _, tt := range []struct{ name, text, exceeded string }{
		{"objects that stay open", "{\n{\n{\n{\n[[[]]]", ""},
		{"a string that stays open", "{\"a\":\"b\n{\"a\":\"[[[[ ::: 12345\"}", ""},
		{"a string that ends in a backslash", "\"\\\n{\"a\":\"[[[[ ::: 12345\"}", ""},
		{"members of none", ":\n:\n:", ""},
		{"a literal on each", "true\nnull\n1234", ""},
		{"a line that is too deep", "{\n[[[[]]]]", ""},
		{"a line with too many members", "{\n{\"a\":1,\"b\":2,\"c\":3}", ""},
		{"a line with a literal that is too long", "{\n12345", ""},
		{"values of a deep line", strings.Repeat("[", 13), "12 values"},
		{"values of a line after a string that stays open", "\"\n" + strings.Repeat("[", 12), "12 values"},
		{"values of all lines", strings.Repeat("{\n", 12), ""},
		{"one value more", strings.Repeat("{\n", 13), "12 values"},
	} {
		for _, size := range []int{1, len(tt.text)} {
			w := jsoninput.New(limits)
			_, err := io.CopyBuffer(struct{ io.Writer }{w}, struct{ io.Reader }{strings.NewReader(tt.text)}, make([]byte, size))
			if got := fmt.Sprint(err); (err != nil) != (tt.exceeded != "") || !strings.Contains(got, tt.exceeded) {
				t.Errorf("%s in parts of %d: %v, want %q", tt.name, size, err, tt.exceeded)
			}
		}
	}
}

// TestExceedingStopsTheWalk: the text after the first excess is not read.
func TestExceedingStopsTheWalk(t *testing.T) {
	t.Parallel()
	limits := wide
	limits.Values = 10
	values, err := jsoninput.Check(bytes.Repeat([]byte("{},"), 1<<20), limits)
	if err == nil || values != 11 {
		t.Errorf("%d values, %v", values, err)
	}
}

// FuzzCheck: of every valid text the walker counts what encoding/json reads, in
// whatever parts it arrives.
func FuzzCheck(f *testing.F) {
	for _, seed := range []string{`{"a":[1,-2.5e10,true,null,"x\"y\\"],"b":{}}`, ` [ ] `, `"\u0022"`, `0`, `{"":{"":[[]]}}`, `[1 ,2]`, "{}\n{}"} {
		f.Add([]byte(seed), 1)
	}
	f.Fuzz(func(t *testing.T, text []byte, size int) {
		values, err := jsoninput.Check(text, wide)
		parts := jsoninput.New(wide)
		size = max(1, size%16)
		for i := 0; i < len(text); i += size {
			_, _ = parts.Write(text[i:min(i+size, len(text))]) // its error is compared by the count
		}
		if parts.Values() != values {
			t.Errorf("%d values in parts of %d, %d at once", parts.Values(), size, values)
		}
		if !json.Valid(text) {
			return
		}
		want, depth, members := shapeOf(t, text)
		if depth > jsoninput.MaxDepth {
			if err == nil {
				t.Errorf("a depth of %d is accepted", depth)
			}
			return
		}
		if err != nil || values != want {
			t.Fatalf("%d values, %v; encoding/json reads %d", values, err, want)
		}
		exact := wide
		exact.Values, exact.Depth, exact.Members = want, depth, members
		if _, err := jsoninput.Check(text, exact); err != nil {
			t.Errorf("exactly its own shape: %v", err)
		}
		for name, less := range map[string]jsoninput.Limits{
			"values":  {Depth: depth, Values: want - 1, Members: members, Literal: wide.Literal},
			"depth":   {Depth: depth - 1, Values: want, Members: members, Literal: wide.Literal},
			"members": {Depth: depth, Values: want, Members: members - 1, Literal: wide.Literal},
		} {
			if _, err := jsoninput.Check(text, less); err == nil && less.Depth >= 0 && less.Members >= 0 {
				t.Errorf("one less of the %s is accepted", name)
			}
		}
	})
}

// shapeOf counts with the decoder of encoding/json.
func shapeOf(t *testing.T, text []byte) (values, depth, members int) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	type level struct {
		object bool
		tokens int
	}
	open := []level{{}}
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return values, depth, members
		}
		if err != nil {
			t.Fatal(err)
		}
		if delim, ok := token.(json.Delim); ok && (delim == '}' || delim == ']') {
			if last := open[len(open)-1]; last.object {
				members = max(members, last.tokens/2)
			}
			open = open[:len(open)-1]
			continue
		}
		values++
		open[len(open)-1].tokens++
		if delim, ok := token.(json.Delim); ok {
			open = append(open, level{object: delim == '{'})
			depth = max(depth, len(open)-1)
		}
	}
}

func BenchmarkCheck(b *testing.B) {
	for name, text := range map[string]string{
		"one long text": `{"body":"` + strings.Repeat("a word and another. ", 50_000) + `"}`,
		"many values":   "[" + strings.Repeat(`{"value":"0190d2a0-0000-7000-8000-0000000000aa"},`, 20_000) + "0]",
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if _, err := jsoninput.Check([]byte(text), wide); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func ExampleCheck() {
	_, err := jsoninput.Check([]byte(`{"a":[{},{},{}]}`), jsoninput.Limits{Depth: 64, Values: 4, Members: 100, Literal: 100})
	fmt.Println("the text", err)
	// Output: the text has more than 4 values
}
