package picture_test

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"docent/testkit/picture"
)

func TestAPictureIsWellFormedXML(t *testing.T) {
	t.Parallel()
	p := &picture.Picture{}
	p.Legend(1, picture.Entry{Name: "a & b", Colour: "#123456"})
	p.Curves("0 < 1", []string{"one", "two"}, []picture.Curve{{Colour: "#123456", Values: []float64{1, 100}}, {Values: []float64{0, 1}, Dashed: true}})
	p.Curves("nothing", nil, nil)
	path := filepath.Join(t.TempDir(), "x.svg")
	if err := p.Save(path); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	d := xml.NewDecoder(strings.NewReader(string(data)))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	// From 0.01 to 100 the curve rises from the middle of the scale to its top.
	for _, part := range []string{"a &amp; b", "0 &lt; 1", ">two<", "150,188 900,68", "4 3"} {
		if !strings.Contains(string(data), part) {
			t.Errorf("the picture lacks %q", part)
		}
	}
}
