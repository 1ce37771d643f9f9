// Command benchextract measures what extract reads of public files: how many words of those that another program
// finds, how many pairs of words in the same order, and the seconds and memory of each file.
//
// PDF files are compared with pdftotext, of poppler-utils, without the headers and footers that repeat. Word files are
// compared with the text that LibreOffice exports, workbooks with its CSV, slides with its PDF. The files are those of
// files.txt, read from clones of the repositories:
//
//	for r in apache/tika py-pdf/sample-files jsvine/pdfplumber pdfminer/pdfminer.six; do git clone https://github.com/$r; done
//	go run ./scripts/benchextract -clone apache/tika=tika -clone py-pdf/sample-files=sample-files \
//	    -clone jsvine/pdfplumber=pdfplumber -clone pdfminer/pdfminer.six=pdfminer.six
//
// With -pages, it puts the PDF files into docent serve and asks the questions of questions.jsonl, whose pages are known:
//
//	make bin/docent weights && go run ./scripts/benchextract -pages
//
// Files that an earlier run has fetched need no clone.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
)

// clones are folders of repositories by their names.
type clones map[string]string

func (c clones) String() string { return "" }

func (c clones) Set(value string) error {
	name, folder, ok := strings.Cut(value, "=")
	if !ok {
		return errors.New("want owner/name=folder")
	}
	c[name] = folder
	return nil
}

// options are the flags of the command.
type options struct {
	have    clones
	folder  string // where files and the other programs' texts are kept
	only    string // a text in the paths of the files to measure
	show    bool   // print what differs
	child   string // the one file to read, in a process of its own
	pages   bool   // ask questions about pages instead
	program string // with pages: docent
}

func main() {
	o := options{have: clones{}}
	flag.Var(o.have, "clone", "owner/name=folder of a git clone; once for each repository")
	flag.StringVar(&o.folder, "folder", filepath.Join(os.TempDir(), "benchextract"), "where files and the other programs' texts are kept")
	flag.StringVar(&o.only, "only", "", "measure only files whose path has this text")
	flag.BoolVar(&o.show, "show", false, "print the words that only one side has")
	flag.StringVar(&o.child, "read", "", "read one file and print what it cost, for the program itself")
	flag.BoolVar(&o.pages, "pages", false, "ask docent serve the questions of questions.jsonl, and measure whether it finds their pages")
	flag.StringVar(&o.program, "docent", "bin/docent", "with -pages: the program")
	flag.Parse()
	if err := o.run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func (o options) run() error {
	if o.child != "" {
		return read(o.child)
	}
	all, err := parseFiles(list)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(o.folder, 0o750); err != nil {
		return err
	}
	if !o.pages {
		return o.measureAll(all)
	}
	asked, err := parseQuestions(bytes.NewReader(questions), all)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return o.measurePages(ctx, all, asked)
}

// measureAll compares the text of each file with that of another program, and prints a table.
func (o options) measureAll(all []file) error {
	fmt.Println("| File | Pages | Words | Found | Of its own | Pairs in order | Seconds | MB |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
	var sum score
	files := 0
	for _, f := range all {
		if !strings.Contains(f.Path, o.only) {
			continue
		}
		name, err := fetch(o.have, o.folder, f)
		if err != nil {
			return err
		}
		s, err := measure(name, o.show)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if f.Pages > 0 && s.Pages != f.Pages {
			return fmt.Errorf("%s: extract finds %d pages, files.txt says %d", name, s.Pages, f.Pages)
		}
		fmt.Printf("| %s | %d | %d | %.1f %% | %.1f %% | %.1f %% | %.2f | %d |\n", filepath.Base(name), s.Pages, s.Words,
			percent(s.Found, s.Words), percent(s.Found, s.Own), percent(s.Pairs, s.Words-1), s.Seconds, s.MB)
		sum.Words, sum.Own, sum.Found, sum.Pairs, sum.Pages = sum.Words+s.Words, sum.Own+s.Own, sum.Found+s.Found, sum.Pairs+s.Pairs, sum.Pages+s.Pages
		sum.Seconds, sum.MB = sum.Seconds+s.Seconds, max(sum.MB, s.MB)
		files++
	}
	fmt.Printf("| %d files | %d | %d | %.1f %% | %.1f %% | %.1f %% | %.2f | %d at most |\n", files, sum.Pages, sum.Words,
		percent(sum.Found, sum.Words), percent(sum.Found, sum.Own), percent(sum.Pairs, sum.Words-files), sum.Seconds, sum.MB)
	return nil
}

func percent(part, whole int) float64 { return 100 * float64(part) / float64(max(whole, 1)) }

// fetch writes a file of a commit to the folder and returns its name there.
func fetch(have clones, folder string, f file) (string, error) {
	name := filepath.Join(folder, f.name())
	if _, err := os.Stat(name); err == nil {
		return name, nil
	}
	clone, ok := have[f.Repository]
	if !ok {
		return "", fmt.Errorf("%s is missing: give -clone %s=folder", f.Path, f.Repository)
	}
	text, err := exec.Command("git", "-C", clone, "show", f.Commit+":"+f.Path).Output()
	if err != nil {
		return "", fmt.Errorf("git show %s:%s: %w", f.Commit, f.Path, err)
	}
	return name, os.WriteFile(name, text, 0o600)
}

// score is the measurement of one file.
type score struct {
	Pages, Words, Own, Found, Pairs int
	Seconds                         float64
	MB                              int
}

// measure reads a file in a process of its own, so that the memory is needed for this file alone.
func measure(name string, show bool) (score, error) {
	self, err := os.Executable()
	if err != nil {
		return score{}, err
	}
	command := exec.Command(self, "-read", name)
	command.Stderr = os.Stderr
	out, err := command.Output()
	if err != nil {
		return score{}, err
	}
	var got result
	if err := json.Unmarshal(out, &got); err != nil {
		return score{}, err
	}
	words, err := reference(name)
	if err != nil {
		return score{}, err
	}
	own := wordsOf(plain(got.Markdown))
	s := score{Pages: got.Pages, Words: len(words), Own: len(own), Seconds: got.Seconds, MB: peak(command.ProcessState)}
	s.Found = common(counted(own), counted(words))
	s.Pairs = common(pairs(own), pairs(words))
	if show {
		printMissing(counted(words), counted(own))
	}
	return s, nil
}
