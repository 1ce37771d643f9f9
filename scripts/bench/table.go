package main

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// verdict compares a measurement with its ceiling.
type verdict string

// The verdicts; a row without a ceiling has none.
const (
	none   verdict = ""
	ok     verdict = "ok"
	missed verdict = "missed"
)

func atMost[T int | int64 | float64](measured, ceiling T) verdict {
	if measured <= ceiling {
		return ok
	}
	return missed
}

// because adds the reason for a missed ceiling.
func (v verdict) because(why string) verdict {
	if v != missed || why == "" {
		return v
	}
	return missed + ": " + verdict(why)
}

// row is one line of the table.
type row struct {
	operation, measured, ceiling string
	verdict                      verdict
}

// table has the rows of a part.
type table struct {
	title string
	rows  []row
}

// print writes tables as one, in aligned columns.
func print(out io.Writer, tables []table) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "operation\tmeasured\tceiling\t")
	for _, t := range tables {
		fmt.Fprintf(w, "\t\t\t\n-- %s\t\t\t\n", t.title)
		for _, r := range t.rows {
			ceiling := r.ceiling
			if ceiling == "" {
				ceiling = "-"
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", r.operation, r.measured, ceiling, r.verdict)
		}
	}
	return w.Flush()
}
