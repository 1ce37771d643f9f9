package formula_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"docent/shared/extract"
	"docent/shared/extract/readers/docx"
	"docent/shared/extract/readers/officetest"
)

func r(text string) string { return "<m:r><m:rPr/><w:rPr/><m:t>" + text + "</m:t></m:r>" }

func el(name string, content ...string) string {
	return "<m:" + name + ">" + strings.Join(content, "") + "</m:" + name + ">"
}

func val(name, value string) string { return "<m:" + name + ` m:val="` + value + `"/>` }

func frac(num, den string) string { return el("f", el("num", num), el("den", den)) }

func TestText(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, formula, want string }{
		{"a fraction", frac(r("1"), r("2")), "1/2"},
		{"one and a half", r("1") + frac(r("1"), r("2")) + r("𝑥"), "1 1/2 x"},
		{"a fraction of sums", frac(r("a+b"), r("2c")) + r("=") + frac(r("Profit"), r("1.5")), "(a+b)/(2c)=Profit/1.5"},
		{"fractions in each other", frac(frac(r("1"), r("2")), r("3")), "(1/2)/3"},
		{"a binomial", el("d", el("e", el("f", el("fPr", val("type", "noBar")), el("num", r("n")), el("den", r("k"))))), "(n¦k)"},
		{"powers", el("sSup", el("e", r("r")), el("sup", r("-2"))) + r("+") + el("sSup", el("e", r("e")), el("sup", r("2x"))) + r("+") + el("sSup", el("e", r("2")), el("sup", r("n"))), "r⁻²+e^(2x)+2^n"},
		{"indices", el("sSubSup", el("e", r("x")), el("sub", r("12")), el("sup", r("2"))) + el("sSub", el("e", r("y")), el("sub", r("i+1"))), "x_12²y\\_(i+1)"},
		{"roots", el("rad", el("radPr", val("degHide", "1")), el("deg"), el("e", r("2"))) + el("rad", el("deg", r("3")), el("e", r("x+1"))), "√2³√(x+1)"},
		{"a sum", el("nary", el("naryPr", val("chr", "∑")), el("sub", r("i=1")), el("sup", r("n")), el("e", r("i"))), "∑\\_(i=1)^n i"},
		{"an integral", el("nary", el("sub", r("0")), el("sup", r("1")), el("e", r("x"))), "∫\\_0¹ x"},
		{"brackets", el("d", el("e", r("a")), el("e", r("b"))) + el("d", el("dPr", val("begChr", "["), val("endChr", "]"), val("sepChr", ";")), el("e", r("a")), el("e", r("b"))), "(a|b)\\[a;b]"},
		{"cases", r("f=") + el("d", el("dPr", val("begChr", "{"), val("endChr", "")), el("e", el("eqArr", el("eqArrPr"), el("e", r("1")), el("e", r("0"))))), "f={1; 0"},
		{"a matrix", el("m", el("mPr"), el("mr", el("e", r("1")), el("e", r("2"))), el("mr", el("e", r("3")), el("e", r("4")))), "1, 2; 3, 4"},
		{"a function and a limit", el("func", el("fName", r("sin")), el("e", r("x"))) + r("+") + el("func", el("fName", el("limLow", el("e", r("lim")), el("lim", r("x→0")))), el("e", r("y"))), "sin x+lim\\_(x→0) y"},
		{"empty parts", el("sSup", el("e", r("x")), el("sup")) + el("sSub", el("e", r("y")), el("sub")), "xy"},
		{"a deleted part", r("a") + "<w:del>" + r("b") + "</w:del><w:ins>" + r("c") + "</w:ins>", "ac"},
		{"a long part without brackets", frac(r(strings.Repeat("a+", 4096)), r("2")), strings.Repeat("a+", 4096) + "/2"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			file := officetest.Docx(t, "<w:p>"+el("oMath", tt.formula)+"</w:p>", nil)
			doc, err := docx.Read(context.Background(), bytes.NewReader(file), int64(len(file)), extract.Limits{})
			if err != nil || len(doc.Pages) != 1 || strings.TrimSpace(doc.Pages[0].Markdown) != tt.want {
				t.Errorf("got %+v, %v, want %s", doc.Pages, err, tt.want)
			}
		})
	}
}
