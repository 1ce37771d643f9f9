package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

var (
	lineHyphen = regexp.MustCompile(`(\pL)[-\x{ad}]\n\s*(\p{Ll})`)
	linkTarget = regexp.MustCompile(`\]\((?:https?|mailto):[^)]*\)`)
)

// plain removes the marks of Markdown that are letters.
func plain(markdown string) string { return linkTarget.ReplaceAllString(markdown, "]") }

// wordsOf returns the words of a text, in small letters and without the signs of formulas that look like letters.
func wordsOf(text string) []string {
	return strings.FieldsFunc(strings.ToLower(norm.NFKC.String(text)), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r)
	})
}

func counted(words []string) map[string]int {
	count := map[string]int{}
	for _, w := range words {
		count[w]++
	}
	return count
}

func pairs(words []string) map[string]int {
	count := map[string]int{}
	for i := 1; i < len(words); i++ {
		count[words[i-1]+" "+words[i]]++
	}
	return count
}

func common(a, b map[string]int) int {
	n := 0
	for w, c := range a {
		n += min(c, b[w])
	}
	return n
}

// printMissing prints the words that one side has more often.
func printMissing(theirs, ours map[string]int) {
	for _, side := range []struct {
		name string
		a, b map[string]int
	}{{"only the other program", theirs, ours}, {"only extract", ours, theirs}} {
		var words []string
		for w, n := range side.a {
			if n > side.b[w] {
				words = append(words, fmt.Sprintf("%s×%d", w, n-side.b[w]))
			}
		}
		sort.Strings(words)
		fmt.Fprintf(os.Stderr, "%s: %s\n", side.name, strings.Join(words[:min(len(words), 100)], " "))
	}
}

// reference returns the words that another program finds in a file, in the order of reading.
func reference(name string) ([]string, error) {
	folder := name + ".reference"
	var text string
	var err error
	switch filepath.Ext(name) {
	case ".pdf":
		if text, err = pdfText(name); err == nil {
			text = withoutRunning(text)
		}
	case ".docx":
		text, err = exported(name, folder, "txt:Text (encoded):UTF8", "*.txt")
	case ".xlsx":
		// Comma, quotes, UTF-8, from line 1, as shown, all sheets.
		text, err = exported(name, folder, "csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,true,false,false,false,-1", "*.csv")
	default:
		if _, err = exported(name, folder, "pdf:impress_pdf_Export", "*.pdf"); err == nil {
			text, err = pdfText(filepath.Join(folder, strings.TrimSuffix(filepath.Base(name), filepath.Ext(name))+".pdf"))
		}
	}
	return wordsOf(text), err
}

// pdfText returns the text of a PDF in the order of reading, with words that a line's end cuts joined.
func pdfText(name string) (string, error) {
	out, err := exec.Command("pdftotext", name, "-").Output()
	if err != nil {
		return "", fmt.Errorf("pdftotext: %w", err)
	}
	return lineHyphen.ReplaceAllString(string(out), "$1$2"), nil
}

// exported returns what LibreOffice makes of a file. It is made once.
func exported(name, folder, format, pattern string) (string, error) {
	made, err := filepath.Glob(filepath.Join(folder, pattern))
	if err != nil {
		return "", err
	}
	if len(made) == 0 {
		out, err := exec.Command("soffice", "--headless", "--convert-to", format, "--outdir", folder, name).CombinedOutput()
		if err != nil {
			return "", fmt.Errorf("soffice: %w: %s", err, out)
		}
		if made, err = filepath.Glob(filepath.Join(folder, pattern)); err != nil || len(made) == 0 {
			return "", fmt.Errorf("soffice made nothing of %s: %s", name, out)
		}
	}
	var text strings.Builder
	for _, m := range made {
		b, err := os.ReadFile(m)
		if err != nil {
			return "", err
		}
		text.Write(b)
		text.WriteByte('\n')
	}
	return text.String(), nil
}
