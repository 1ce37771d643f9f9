package main

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
)

// body is a text to send, plain and packed.
type body struct {
	name   string
	plain  []byte
	packed []byte // gzip
}

// prepared are the bodies that all clients share.
var prepared struct {
	once     sync.Once
	values   []body // JSON objects of many values, in members that operations know or ignore
	lines    []body // the same as JSON Lines
	packed   string // base64 of gzip of a text of the largest size
	oversize string // the same with one byte too many
	terms    string // the same with as many different words as fit
	sections string // the same with headings and little else, below long ones
	title    string // of as many different words as fit
	noise    string // a text that hardly compresses, two fifths as long
	zeros    []byte // as large as a body may be
	large    []byte // gzip of a text of the largest size
	blank    []byte // gzip of line ends
	xml      []byte // of many elements, as large as metadata may be
	signed   []byte // a delivery with many values
}

// prepare makes the bodies, from texts of about size bytes.
func prepare(size int) {
	p := &prepared
	p.once.Do(func() {
		for _, v := range values {
			text := v.text(size)
			b := body{v.name, []byte(text), pack(text)}
			if !v.plain {
				b.plain = nil
			}
			p.values = append(p.values, b)
			line := `{"uri":"https://attack.example/line","title":"x","body":"x","sourceType":"issue",` + text[1:] + "\n"
			p.lines = append(p.lines, body{v.name, nil, pack(line[:min(len(line), maxBody)])})
		}
		const sentence = "It compresses well. "
		text := strings.Repeat(sentence, size/len(sentence))
		p.large = pack(text[:len(text)-4096])
		p.packed = base64.StdEncoding.EncodeToString(p.large)
		p.blank, p.xml = pack(strings.Repeat("\n", size)), []byte("<a>"+strings.Repeat("<b/>", size/44)+"</a>")
		p.signed = []byte(ignored("{}")(size))
		p.oversize = base64.StdEncoding.EncodeToString(pack(strings.Repeat("x", maxBody+1)))
		p.terms = base64.StdEncoding.EncodeToString(pack(words(size - 4096)))
		p.sections = base64.StdEncoding.EncodeToString(pack(sections(size - 4096)))
		p.title = letters(0, 1000)
		p.noise = noise(size * 2 / 5)
		p.zeros = bytes.Repeat([]byte("0"), size)
	})
}

// known is the start of an object with the members that operations require, so that they read its other members
// too.
const known = `{"question":"x","query":"x","collectionId":"x","title":"x","body":"x","uri":"https://attack.example/x","name":"x",` +
	`"description":"x","urls":["https://attack.example/x"],"userName":"bomb","schemas":["urn:ietf:params:scim:schemas:core:2.0:User"],` +
	`"jsonrpc":"2.0","id":1,"method":"tools/call",`

// values are objects with many, deep or long values.
var values = []struct {
	name  string
	plain bool // also sent uncompressed
	text  func(size int) string
}{
	{"objects", true, ignored("{}")},
	{"lists", false, ignored("[]")},
	{"zeros", true, ignored("0")},
	{"nulls", false, ignored("null")},
	{"empty strings", false, ignored(`""`)},
	{"long numbers", false, ignored(strings.Repeat("7", 1000))},
	{"exponents", false, ignored("1e99999")},
	{"members in lists", false, ignored(`{"b":[{"c":[0]}]}`)},
	{"deep lists", false, ignored(strings.Repeat("[", 28) + strings.Repeat("]", 28))},
	{"deep objects", false, ignored(strings.Repeat(`{"a":`, 28) + "0" + strings.Repeat("}", 28))},
	{"too deep", false, func(size int) string { return known + `"a":` + strings.Repeat("[", size-len(known)-4) }},
	{"distinct names", true, func(size int) string {
		return keys(size, func(b *strings.Builder, n int) { fmt.Fprintf(b, `"%07d":0`, n) })
	}},
	{"one name", false, func(size int) string {
		return keys(size, func(b *strings.Builder, _ int) { b.WriteString(`"question":"x"`) })
	}},
	{"huge number", false, func(size int) string { return known + `"limit":` + strings.Repeat("9", size-len(known)-10) + "}" }},
	{"huge question", true, func(size int) string { return huge("question", "x", size) }},
	{"huge query", false, func(size int) string { return huge("query", "x", size) }},
	{"escapes", false, func(size int) string { return huge("question", `\u0041`, size) }},
	{"escaped name", false, func(size int) string {
		return known + `"` + strings.Repeat(`\u0041`, (size-len(known)-10)/6) + `":0}`
	}},
	{"wrong list", true, member("urls", "0")},
	{"list of names", false, member("projects", `"x"`)},
	{"names of sources", false, member("dataSourceIds", `""`)},
	{"wrong schemas", false, member("schemas", "0")},
	{"addresses", false, member("emails", `{"value":"x@y.example"}`)},
	{"members of a group", false, member("members", `{"value":"x"}`)},
	{"operations", false, member("Operations", `{"op":"add","path":"active","value":true}`)},
	{"parameters", false, func(size int) string {
		return known + `"params":{"name":"context_research","arguments":{"query":"x","a":[` + repeat("{}", size-len(known)-80) + `]}}}`
	}},
	{"wrong parameters", false, func(size int) string {
		return known + `"params":{"name":"context_get_urls","arguments":{"urls":[` + repeat("0", size-len(known)-80) + `]}}}`
	}},
}

// ignored returns a function that repeats a value in a member that no operation knows, as often as it fits.
func ignored(value string) func(int) string { return member("a", value) }

func member(name, value string) func(int) string {
	return func(size int) string {
		return known + `"` + name + `":[` + repeat(value, size-len(known)-len(name)-10) + "]}"
	}
}

func huge(name, text string, size int) string {
	return known + `"` + name + `":"` + strings.Repeat(text, (size-len(known)-len(name)-10)/len(text)) + `"}`
}

// repeat returns value as often as it fits, separated by commas.
func repeat(value string, size int) string {
	return strings.Repeat(value+",", max(size/(len(value)+1)-1, 0)) + value
}

// keys returns an object with as many members as fit.
func keys(size int, write func(b *strings.Builder, n int)) string {
	var b strings.Builder
	b.WriteString(known)
	for n := 0; b.Len() < size-40; n++ {
		write(&b, n)
		b.WriteByte(',')
	}
	return b.String() + `"z":0}`
}

func pack(text string) []byte {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err == nil {
		_, err = w.Write([]byte(text))
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		panic(err) // writes to a buffer cannot fail
	}
	return b.Bytes()
}

// words returns different words that compress well.
func words(size int) string {
	var b strings.Builder
	for n := 0; b.Len() < size-9; n++ {
		fmt.Fprintf(&b, "w%07x ", n)
	}
	return b.String()
}

// letters returns n different characters of Chinese, each of which is a word.
func letters(from, n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteRune(rune(0x4e00 + from + i))
	}
	return b.String()
}

// sections returns a Markdown text of very many sections of one letter, whose path of headings is as long as one can be.
func sections(size int) string {
	var b strings.Builder
	for level := range 4 {
		b.WriteString(strings.Repeat("#", level+2) + " " + letters(1000+40*level, 40) + "\n")
	}
	const section = "######\nx\n"
	b.WriteString(strings.Repeat(section, (size-b.Len())/len(section)))
	return b.String()
}

// noise returns a text that hardly compresses, of words of 63 letters. It is for tests of replies, not of the
// index.
func noise(size int) string {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+/"
	b := make([]byte, size)
	rand.NewChaCha8([32]byte{}).Read(b)
	for n := range b {
		if b[n] = letters[b[n]%64]; n%64 == 63 {
			b[n] = ' '
		}
	}
	return string(b)
}
