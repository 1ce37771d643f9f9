package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

const someFiles = "# comment\nacme/a 1 docs/guide.pdf 3\nacme/a 1 docs/speech.pdf 40\nacme/b 2 slides.pptx\n"

func parse(t *testing.T, lines string) ([]question, error) {
	t.Helper()
	files, err := parseFiles(someFiles)
	if err != nil {
		t.Fatal(err)
	}
	return parseQuestions(strings.NewReader(lines), files)
}

// TestTheQuestionsAreSound: each of the forty names a PDF that is fetched and pages that it has.
func TestTheQuestionsAreSound(t *testing.T) {
	t.Parallel()
	files, err := parseFiles(list)
	if err != nil {
		t.Fatal(err)
	}
	all, err := parseQuestions(bytes.NewReader(questions), files)
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != 40 {
		t.Errorf("%d questions", len(all))
	}
	asked := map[string]bool{}
	for _, q := range all {
		asked[q.File] = true
	}
	for _, f := range files {
		if asked[f.name()] && f.Pages == 1 {
			t.Errorf("%s has one page, so a question about it finds the right one always", f.name())
		}
	}
	if len(asked) < 10 {
		t.Errorf("questions about %d files", len(asked))
	}
}

func TestQuestionsAreRead(t *testing.T) {
	t.Parallel()
	got, err := parse(t, `{"question":"Who?","file":"guide.pdf","pages":[3]}`+"\n"+`{"question":"Why?","file":"speech.pdf","pages":[1,40]}`+"\n")
	if err != nil || len(got) != 2 || got[0].Question != "Who?" || got[0].File != "guide.pdf" || !slices.Equal(got[1].Pages, []int{1, 40}) {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestBadQuestionsAreRefused(t *testing.T) {
	t.Parallel()
	const good = `{"question":"Who?","file":"guide.pdf","pages":[3]}` + "\n"
	for name, c := range map[string]struct{ line, want string }{
		"page zero":               {`{"question":"How?","file":"guide.pdf","pages":[0]}`, "pages 1 to 3"},
		"a negative page":         {`{"question":"How?","file":"guide.pdf","pages":[-1]}`, "pages 1 to 3"},
		"a page behind the last":  {`{"question":"How?","file":"guide.pdf","pages":[4]}`, "pages 1 to 3"},
		"one of several pages":    {`{"question":"How?","file":"guide.pdf","pages":[1,4]}`, "pages 1 to 3"},
		"a page twice":            {`{"question":"How?","file":"guide.pdf","pages":[2,2]}`, "twice"},
		"pages without order":     {`{"question":"How?","file":"guide.pdf","pages":[2,1]}`, "twice"},
		"half a page":             {`{"question":"How?","file":"guide.pdf","pages":[1.5]}`, "number"},
		"no page":                 {`{"question":"How?","file":"guide.pdf","pages":[]}`, "no page"},
		"pages left out":          {`{"question":"How?","file":"guide.pdf"}`, "no page"},
		"an unknown file":         {`{"question":"How?","file":"other.pdf","pages":[1]}`, `"other.pdf"`},
		"a path instead of names": {`{"question":"How?","file":"docs/guide.pdf","pages":[1]}`, "not a PDF"},
		"a file without pages":    {`{"question":"How?","file":"slides.pptx","pages":[1]}`, "not a PDF"},
		"no file":                 {`{"question":"How?","pages":[1]}`, "not a PDF"},
		"no question":             {`{"question":"","file":"guide.pdf","pages":[1]}`, "empty"},
		"a duplicate":             {`{"question":"Who?","file":"speech.pdf","pages":[1]}`, "before"},
		"a duplicate in capitals": {`{"question":"WHO?","file":"guide.pdf","pages":[3]}`, "before"},
		"an unknown member":       {`{"question":"How?","file":"guide.pdf","page":[1]}`, "unknown field"},
		"two objects in a line":   {`{"question":"How?","file":"guide.pdf","pages":[1]} {}`, "more than one"},
		"an empty line":           {``, "EOF"},
	} {
		got, err := parse(t, good+c.line+"\n"+`{"question":"Where?","file":"guide.pdf","pages":[1]}`)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "line 2") {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

func TestBadListsOfFilesAreRefused(t *testing.T) {
	t.Parallel()
	for name, list := range map[string]string{
		"no path":               "acme/a 1\n",
		"a PDF without pages":   "acme/a 1 guide.pdf\n",
		"a PDF with no page":    "acme/a 1 guide.pdf 0\n",
		"pages that are a word": "acme/a 1 guide.pdf three\n",
		"slides with pages":     "acme/a 1 slides.pptx 3\n",
		"more than pages":       "acme/a 1 guide.pdf 3 4\n",
		"a name twice":          "acme/a 1 a/guide.pdf 3\nacme/b 1 b/guide.pdf 4\n",
	} {
		if files, err := parseFiles(list); err == nil {
			t.Errorf("%s: %+v", name, files)
		}
	}
}
