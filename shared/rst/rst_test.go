package rst_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"docent/shared/growthtest"
	"docent/shared/rst"
)

func TestMarkdown(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, text, want string }{
		{"nothing", "", ""},
		{"paragraphs", "One\nline.\r\n\r\nTwo.", "One\nline.\n\nTwo."},
		{"headings by the order of their styles", "====\nBook\n====\n\nOne\n===\n\nTwo\n~~~\n\nThree\n=====\n\ntext", "# Book\n\n## One\n\n### Two\n\n## Three\n\ntext"},
		{"an underline that is a bit short", "A longer title\n------\n\nx", "# A longer title\n\nx"},
		{"no heading", "A longer title\n--\n\nx", "A longer title\n\\--\n\nx"},
		{"a transition", "a\n\n----\n\nb", "a\n\n---\n\nb"},
		{"literal text", "Run::\n\n    make test\n      -v\n\nThen.", "Run:\n\n```\nmake test\n  -v\n```\n\nThen."},
		{"literal text alone", "::\n\n  a ``` b", "````\na ``` b\n````"},
		{"literal text after a blank", "So ::\n\n  x", "So\n\n```\nx\n```"},
		{"code", ".. code-block:: go\n   :linenos:\n\n   f()\n\nx", "```go\nf()\n```\n\nx"},
		{"code without a blank line", ".. code-block:: sh\n   make", "```sh\nmake\n```"},
		{"a doctest", ">>> 1 + 1\n2\n\nx", "```python\n>>> 1 + 1\n2\n```\n\nx"},
		{"bullets", "* one\n* two\n  lines\n\n  - three\n\n* four", "- one\n- two\n  lines\n\n  - three\n- four"},
		{"numbers", "3. one\n4. two\n\n#. three", "3. one\n4. two\n5. three"},
		{"a name, not a list", "A. Einstein\nwas here", "A. Einstein\nwas here"},
		{"terms", "term\n  What it is.\n\nother : class\n  *x*", "**term**: What it is.\n\n**other (class)**: *x*"},
		{"fields", ":orphan:\n\n:param x: what\n   it is\n:returns: y", "- **param x**: what\n  it is\n- **returns**: y"},
		{"options", "-a, --all  everything\n--file=NAME\n    the file", "- **`-a, --all`**: everything\n- **`--file=NAME`**: the file"},
		{"a line block", "| one\n| two\n  more", "one\\\ntwo more"},
		{"an indented text", "a\n\n   quoted\n\nb", "a\n\nquoted\n\nb"},
		{"comments and addresses", ".. a comment\n   of two lines\n\n.. _label:\n\n..\n\nx", "x"},
		{"a footnote", "See [#a]_ and [2]_.\n\n.. [#a] Text.\n.. [2] More\n   text.", "See [a] and [2].\n\n[a] Text.\n\n[2] More\ntext."},
		{"a notice", ".. note:: Read this\n   first.\n\n   And this.\n\n.. warning::\n\n   - x", "**Note:** Read this\nfirst.\n\nAnd this.\n\n**Warning:**\n\n- x"},
		{"versions", ".. versionadded:: 3.2\n.. deprecated:: 4.0 Use ``x``.", "**Added in version 3.2**\n\n**Deprecated since version 4.0:** Use `x`."},
		{"an option of a program", ".. option:: --level N\n   :default: 3\n\n   How much.", "**`--level N`** (default: 3): How much."},
		{"functions", ".. function:: f(x)\n              g(x)\n\n   Does it.\n\n   .. note:: y", "**`f(x)`, `g(x)`**: Does it.\n\n**Note:** y"},
		{"what only a build fills in", ".. toctree::\n   :maxdepth: 2\n\n   a\n   b\n\n.. image:: x.png\n   :alt: A cat\n\n.. raw:: html\n\n   <b>\n", "A cat"},
		{"an unknown directive with a text", ".. thing::\n\n   text", "text"},
		{"a class", ".. class:: Map(*maps)\n\n   Groups.", "**`Map(*maps)`**: Groups."},
		{"fields in a body", ".. function:: f()\n\n   :returns: x\n\n.. code-block:: yaml\n\n   :a: b", "**`f()`**\n\n- **returns**: x\n\n```yaml\n:a: b\n```"},
		{"an empty comment", "..\n\n   quoted", "quoted"},
		{"the body of a module", ".. module:: m\n   :synopsis: s\n\n   text", "text"},
		{"a list that is no table", ".. list-table::\n\n   * a", "```\n* a\n```"},
		{"a topic", ".. topic:: Title\n\n   text", "**Title**\n\ntext"},
		{"a grid", "+---+-----+\n| a | b   |\n+===+=====+\n| 1 | two |\n|   | x|y |\n+---+-----+", "| a | b |\n| --- | --- |\n| 1 | two x\\|y |"},
		{"a grid with cells over columns", "+---+---+\n| a     |\n+---+---+\n| 1 | 2 |\n+---+---+", "```\n+---+---+\n| a     |\n+---+---+\n| 1 | 2 |\n+---+---+\n```"},
		{"a simple table", "===  ====\nA    B\n===  ====\n1    two\n     more\n\n2\n===  ====\n\nx", "| A | B |\n| --- | --- |\n| 1 | two more |\n| 2 |\n\nx"},
		{"a simple table without a head", "== ==\n1  2\n== ==", "| | |\n| --- | --- |\n| 1 | 2 |"},
		{"a table of lists", ".. list-table:: T\n   :header-rows: 1\n\n   * - A\n     - B\n   * - 1\n     - ``x``", "**T**\n\n| A | B |\n| --- | --- |\n| 1 | `x` |"},
		{"a table of values", ".. csv-table::\n   :header: a,b\n\n   1,\"x, y\"", "| a | b |\n| --- | --- |\n| 1 | x, y |"},
		{"text in code", "``a`b`` and ``x``", "`` a`b `` and `x`"},
		{"links", "`Docs <https://x.example/a_b>`_, Go_, `the site`__ and https://y.example/a_b_.\n\n.. _go: https://go.example\n", "[Docs](https://x.example/a_b), [Go](https://go.example), the site and https://y.example/a_b_."},
		{"a link to another name", "`a b`_\n\n.. _a b: c_\n.. _c: https://c.example", "[a b](https://c.example)"},
		{"a power", "10\\ :sup:`-6` N, 21\\ :sup:`st`, H\\ :sub:`2`\\ O", "10⁻⁶ N, 21st, H2O"},
		{"no link to a script", "`x <javascript:alert(1)>`_", "x"},
		{"roles", ":ref:`my-label`, :ref:`words <x>`, :doc:`/a/the-page`, :doc:`b/index`, :func:`~os.path.join`, :class:`!C`, :rfc:`9110`, `y`:code:", "my label, words, the page, b, `join`, `C`, RFC 9110, `y`"},
		{"the title of a label", ".. _my-label:\n\nThe title\n=========\n\n:ref:`my-label` :ref:`f <x>`", "# The title\n\nThe title f"},
		{"substitutions", "|name| is |version|, a | b | c\n\n.. |name| replace:: The *long*\n   name", "The *long* name is version, a | b | c"},
		{"escapes", `a\ b \*c\* x\y \\`, `ab \*c\* xy \\`},
		{"what Markdown would take for markup", "# no\n\n> no\n\n<b> __init__ a_b\n+ x\n1985. A year.\nx", "\\# no\n\n\\> no\n\n\\<b> \\_\\_init\\_\\_ a_b\n\\+ x\n1985\\. A year.\nx"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := strings.TrimSuffix(rst.Markdown(tt.text), "\n"); got != tt.want {
				t.Errorf("got:\n%s\nwant:\n%s", got, tt.want)
			}
		})
	}
}

// hostile are texts whose size is in proportion to n. A careless conversion would read them again for each of their parts, or make
// them much larger.
var hostile = map[string]func(n int) string{
	"nested lists":         func(n int) string { return strings.Repeat("- ", n) + "x" },
	"stairs down":          func(n int) string { return stairs(n, -1) },
	"stairs up":            func(n int) string { return stairs(n, 1) },
	"open quotes":          func(n int) string { return strings.Repeat("`a ``b :r:`c |d [e <f ", n) },
	"backticks":            func(n int) string { return "::\n\n  " + strings.Repeat("`", n) },
	"roles without an end": func(n int) string { return strings.Repeat(":a", n) },
	"tables without an end": func(n int) string {
		return strings.Repeat("== ==\nx\n\n", n)
	},
	"many columns": func(n int) string { return strings.Repeat("= ", n) + "=\n" + strings.Repeat("x\n", n) },
	"a wide grid":  func(n int) string { return "+" + strings.Repeat("-", n) + "+\n" + strings.Repeat("|\n", n) },
	"many short rows": func(n int) string {
		return strings.Repeat("= ", 99) + "=\n" + strings.Repeat("a\n", n) + strings.Repeat("= ", 99) + "="
	},
	"one long cell": func(n int) string { return "== ==\na  b\n" + strings.Repeat("   c\n", n) + "== ==" },
	"one wide row": func(n int) string {
		return ".. list-table::\n\n   * - a\n" + strings.Repeat("     - b\n", n) + strings.Repeat("   * - c\n", n)
	},
	"one long name": func(n int) string {
		return ".. |a| replace:: " + strings.Repeat("b", n) + "\n\n" + strings.Repeat("|a| ", n)
	},
	"one long address": func(n int) string {
		return ".. _a: http://" + strings.Repeat("b", n) + "\n\n" + strings.Repeat("a_ ", n)
	},
	"one long title": func(n int) string {
		return ".. _a:\n\n" + strings.Repeat("b", n) + "\n====\n\n" + strings.Repeat(":ref:`a` ", n)
	},
	"substitutions":          func(n int) string { return strings.Repeat("  .. |a| replace:: b\n", n) },
	"a title of itself":      func(n int) string { return ".. _a:\n\n:ref:`a`\n=======\n\n" + strings.Repeat("x", n) },
	"terms":                  func(n int) string { return strings.Repeat("a\n  b\n", n) },
	"directives":             func(n int) string { return strings.Repeat(".. a:: b\n", n) },
	"a long line of a block": func(n int) string { return "| a\n" + strings.Repeat("b\n", n) },
	"fields with blanks":     func(n int) string { return strings.Repeat(":a: b\n\n", n) },
}

// stairs returns lines each of which is indented by one space more or less than the one before.
func stairs(n, step int) string {
	n = min(n, 500) // the text itself has the square of n
	var b strings.Builder
	for i := range n {
		at := i
		if step < 0 {
			at = n - i
		}
		b.WriteString(strings.Repeat(" ", at) + "x\n\n")
	}
	return b.String()
}

func TestHostileTextsStayInProportion(t *testing.T) {
	for name, text := range hostile {
		t.Run(name, func(t *testing.T) {
			text20 := text(20_000)
			if got := len(rst.Markdown(text20)); got > 8*len(text20)+64<<10 {
				t.Errorf("%d bytes of %d", got, len(text20))
			}
			growthtest.Linear(t, 20_000, func(n int) { rst.Markdown(text(n)) })
		})
	}
}

// What is read is text that others wrote, among it that of public repositories.
func FuzzMarkdown(f *testing.F) {
	for _, text := range hostile {
		f.Add(text(3))
	}
	paths, err := filepath.Glob("testdata/*.rst")
	if err != nil || len(paths) == 0 {
		f.Fatalf("no sample: %v", err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Fuzz(func(t *testing.T, text string) {
		if got := rst.Markdown(text); len(got) > 64*len(text)+64<<10 {
			t.Errorf("%d bytes of %d", len(got), len(text))
		}
	})
}
