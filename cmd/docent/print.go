package main

import (
	"encoding/json"
	"fmt"
	"io"
)

// printf writes to w. A command that cannot write its output has failed.
func printf(w io.Writer, format string, args ...any) error {
	_, err := fmt.Fprintf(w, format, args...)
	return err
}

// printJSON writes v as indented JSON, without the escapes that only HTML needs.
func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
