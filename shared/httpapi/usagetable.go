package httpapi

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"mime"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
)

// tableResponses describes a report that is JSON, or a table if Accept asks for one.
func tableResponses(schema *huma.Schema) map[string]*huma.Response {
	text := &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString}}
	return map[string]*huma.Response{"200": {Description: "OK", Content: map[string]*huma.MediaType{
		"application/json": {Schema: schema}, csvType: text, linesType: text}}}
}

const (
	csvType   = "text/csv"
	linesType = "application/x-ndjson"
)

// tableOutput is a report in the form that Accept asks for.
type tableOutput struct {
	ContentType string `header:"Content-Type"`
	Link        string `header:"Link"`
	Body        []byte
}

// preferred returns the form of a report that Accept prefers, the first of equally preferred
// ones (RFC 9110 section 12.5.1).
func preferred(accept string) string {
	best, most := "", 0.0
	for one := range strings.SplitSeq(accept, ",") {
		media, params, err := mime.ParseMediaType(one)
		if err != nil || media != csvType && media != linesType && media != "application/json" {
			continue
		}
		weight := 1.0
		if q, has := params["q"]; has {
			if weight, err = strconv.ParseFloat(q, 64); err != nil {
				continue
			}
		}
		if weight > most {
			best, most = media, weight
		}
	}
	return best
}

// cell is one value of a row of a report as a table.
type cell struct {
	column string
	value  any
}

// tableOf renders a report: whole as JSON, or rows as JSON Lines or as CSV, which always
// has the columns of head.
func tableOf(accept string, whole any, head []cell, rows [][]cell) (*tableOutput, error) {
	var body bytes.Buffer
	switch {
	case preferred(accept) == csvType:
		if err := writeCSV(&body, head, rows); err != nil {
			return nil, err
		}
		return &tableOutput{ContentType: csvType + "; charset=utf-8", Body: body.Bytes()}, nil
	case preferred(accept) == linesType:
		for _, row := range rows {
			object := map[string]any{}
			for _, c := range row {
				if object[c.column] = c.value; c.value == "" {
					object[c.column] = nil // as in the JSON: for instance, of no user
				}
			}
			line, err := json.Marshal(object)
			if err != nil {
				return nil, fmt.Errorf("encode report: %w", err)
			}
			body.Write(append(line, '\n'))
		}
		return &tableOutput{ContentType: linesType, Body: body.Bytes()}, nil
	default:
		text, err := json.Marshal(whole)
		return &tableOutput{ContentType: "application/json", Body: text}, err
	}
}

// writeCSV writes rows under the columns of head (RFC 4180).
func writeCSV(to *bytes.Buffer, head []cell, rows [][]cell) error {
	w := csv.NewWriter(to)
	columns := make([]string, len(head))
	for i, c := range head {
		columns[i] = c.column
	}
	lines := [][]string{columns}
	for _, row := range rows {
		line := make([]string, len(columns))
		for _, c := range row {
			line[slices.Index(columns, c.column)] = plainCell(c.value)
		}
		lines = append(lines, line)
	}
	if err := w.WriteAll(lines); err != nil {
		return fmt.Errorf("encode report: %w", err)
	}
	return nil
}

// formulaStarts begin a formula in some spreadsheet; those of East Asian languages take the wide signs too.
const formulaStarts = "=+-@\t\r\n＝＋－＠"

// plainCell renders a value so that a spreadsheet does not take it for a formula.
func plainCell(value any) string {
	text := fmt.Sprint(value)
	if value == nil {
		return ""
	}
	if list, ok := value.([]string); ok {
		text = strings.Join(list, " ")
	}
	if first, _ := utf8.DecodeRuneInString(text); text != "" && strings.ContainsRune(formulaStarts, first) {
		return "'" + text
	}
	return text
}
