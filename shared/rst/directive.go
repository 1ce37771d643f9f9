package rst

import (
	"encoding/csv"
	"regexp"
	"strings"
)

// notices are directives that set a text apart, by the words with which it begins here.
var notices = map[string]string{
	"note": "Note", "warning": "Warning", "tip": "Tip", "hint": "Hint", "important": "Important", "caution": "Caution",
	"attention": "Attention", "danger": "Danger", "error": "Error", "seealso": "See also", "todo": "To do",
}

// changes are directives about a version, by the words for it.
var changes = map[string]string{
	"versionadded": "Added in version", "versionchanged": "Changed in version", "versionremoved": "Removed in version",
	"deprecated": "Deprecated since version", "deprecated-removed": "Deprecated since version", "version-added": "Added in version",
}

// codes are directives whose body is code. Their argument is its language.
var codes = words("code-block sourcecode code parsed-literal literal prompt console doctest testcode testsetup testoutput math " +
	"productionlist ipython ipython3 code-tab cmd-block")

// titled are directives whose argument is a title.
var titled = words("rubric topic sidebar admonition tab tab-item group-tab dropdown card grid-item-card step table centered collapse")

// plain are directives of which only the body says something.
var plain = words("only container compound epigraph highlights pull-quote div tabs tab-set grid figure ifconfig rst-class module py:module acks " +
	"cssclass hlist glossary columns list parsed")

// omitted are directives that say nothing without a build, or only how a page looks.
var omitted = words("toctree contents index highlight highlightlang meta include literalinclude raw tabularcolumns currentmodule " +
	"py:currentmodule sectionauthor codeauthor moduleauthor default-domain default-role role sectnum section-numbering target-notes header " +
	"footer image graphviz digraph graph plot mermaid uml autosummary automodule autoclass autofunction automethod autoattribute " +
	"autodata autoexception restructuredtext-test-directive title date unicode bibliography local-contents")

func words(list string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(list) {
		set[word] = true
	}
	return set
}

var language = regexp.MustCompile(`^[A-Za-z0-9_+#.-]+$`)

// directive converts a directive. One that is not known describes what its argument names, such as a function or an option.
func (d *document) directive(x directive, depth int) []block {
	argument := strings.Join(x.arguments, " ")
	switch name := x.name; {
	case omitted[name]:
		if alt := x.options["alt"]; alt != "" && name == "image" {
			return []block{d.paragraph([]string{alt})}
		}
		return nil
	case codes[name]:
		return codeOf(x)
	case notices[name] != "":
		return d.notice(notices[name], append(x.arguments, x.body...), depth)
	case changes[name] != "":
		version := ""
		if len(x.arguments) > 0 {
			version = x.arguments[0]
		}
		version, about, _ := strings.Cut(version, " ")
		below := append([]string{about}, x.arguments[min(1, len(x.arguments)):]...)
		return d.notice(changes[name]+" "+version, append(below, x.body...), depth)
	case name == "list-table" || name == "csv-table":
		return d.tableDirective(x, argument, depth)
	case titled[name]:
		body := d.blocks(dedent(x.body), depth+1)
		if argument == "" {
			return body
		}
		return append([]block{{text: "**" + d.inline(argument) + "**", paragraph: true}}, body...)
	case plain[name]:
		return d.blocks(dedent(x.body), depth+1)
	case len(x.arguments) == 0:
		return d.blocks(dedent(x.body), depth+1)
	}
	names := make([]string, len(x.arguments))
	for i, argument := range x.arguments {
		names[i] = code(strings.TrimSpace(argument))
	}
	term := "**" + strings.Join(names, ", ") + "**"
	for _, name := range []string{"aliases", "type", "default"} {
		if value := x.options[name]; value != "" {
			term += " (" + name + ": " + d.inline(value) + ")"
		}
	}
	return d.defined(term, x.body, depth)
}

// notice begins what lines say with a word in bold.
func (d *document) notice(word string, lines []string, depth int) []block {
	body := d.blocks(trimBlank(lines), depth+1)
	if len(body) == 0 {
		return []block{{text: "**" + word + "**", paragraph: true}}
	}
	if body[0].paragraph {
		body[0].text = "**" + word + ":** " + body[0].text
		return body
	}
	return append([]block{{text: "**" + word + ":**", paragraph: true}}, body...)
}

func codeOf(x directive) []block {
	first := ""
	lines := x.body
	if len(x.arguments) > 0 {
		first = x.arguments[0]
		lines = append(x.arguments[1:], lines...)
		if !language.MatchString(first) || x.name == "math" || x.name == "productionlist" || x.name == "prompt" { // code on the first line
			lines = append([]string{first}, lines...)
			first = ""
		}
	}
	if first == "none" || first == "default" {
		first = ""
	}
	if len(trimBlank(lines)) == 0 {
		return nil
	}
	return []block{fenced(first, lines)}
}

// tableDirective converts a table that is written as a list of lists, or as comma-separated values.
func (d *document) tableDirective(x directive, title string, depth int) []block {
	var out []block
	if title != "" {
		out = append(out, block{text: "**" + d.inline(title) + "**", paragraph: true})
	}
	var rows []row
	header := x.options["header-rows"] != "" && x.options["header-rows"] != "0"
	if x.name == "csv-table" {
		text := strings.Join(trimBlank(dedent(x.body)), "\n")
		if head := x.options["header"]; head != "" {
			text, header = head+"\n"+text, true
		}
		r := csv.NewReader(strings.NewReader(text))
		r.FieldsPerRecord, r.TrimLeadingSpace, r.LazyQuotes = -1, true, true
		records, err := r.ReadAll()
		if err != nil {
			return append(out, fenced("", x.body))
		}
		for _, record := range records {
			var cells row
			for _, text := range record {
				cells = append(cells, strings.Split(text, "\n"))
			}
			rows = append(rows, cells)
		}
	} else {
		for _, item := range itemsOf(dedent(x.body)) {
			cells := row(itemsOf(item))
			if len(cells) == 0 {
				return append(out, fenced("", x.body))
			}
			rows = append(rows, cells)
		}
	}
	if len(rows) == 0 {
		return out
	}
	return append(out, d.markdownTable(rows, header, depth))
}

// itemsOf returns the lines of each item of a list with bullets.
func itemsOf(lines []string) (items [][]string) {
	for _, line := range lines {
		if m := bullet.FindString(line); m != "" {
			items = append(items, []string{line[len(m):]})
		} else if n := len(items); n > 0 {
			items[n-1] = append(items[n-1], line[min(2, indentOf(line)):])
		}
	}
	return items
}
