package markdown

import "strings"

const struckMark = "~~"

// Struck returns text with the marks of text that is struck through, so that what no longer holds does not read as if it did. Marks hold
// on one line, so each line has its own. Text with such marks in it is returned as it is.
func Struck(text string) string {
	if strings.Contains(text, struckMark) {
		return text
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if shown := strings.TrimSpace(line); shown != "" {
			before, after, _ := strings.Cut(line, shown)
			lines[i] = before + struckMark + shown + struckMark + after
		}
	}
	return strings.Join(lines, "\n")
}

// Runs joins runs of text, of which some are struck through. What is struck through without a break has one pair of marks, because
// programs divide words into runs. The zero Runs is empty.
type Runs struct {
	text, struck strings.Builder
}

// Add adds a run.
func (r *Runs) Add(text string, struck bool) {
	if struck {
		r.struck.WriteString(text)
		return
	}
	r.endStruck()
	r.text.WriteString(text)
}

// Len returns the number of bytes, without the marks of the last run.
func (r *Runs) Len() int { return r.text.Len() + r.struck.Len() }

// String returns the text with its marks.
func (r *Runs) String() string {
	r.endStruck()
	return r.text.String()
}

func (r *Runs) endStruck() {
	if r.struck.Len() > 0 {
		r.text.WriteString(Struck(r.struck.String()))
		r.struck.Reset()
	}
}
