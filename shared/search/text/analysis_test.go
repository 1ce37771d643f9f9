package text_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"docent/shared/search/text"
)

func TestTermsOfProse(t *testing.T) {
	t.Parallel()
	cases := []struct{ name, text, want string }{
		{"stemmed in lower case", "Running DEPLOYMENTS", "run deploy"},
		{"a stop word keeps its place", "the house of cards", "- hous - card"},
		{"links and images keep their text", "[the docs](http://x.example/a(b)) ![a map](m.png) <a name=\"x\"></a>end", "- doc - map end"},
		{"brackets that are no link", "a [note] (here)", "- note -"},
		{"parts at _ and .", "run_time os.path", "run time os path"},
		{"a number stays whole", "version 2.6.1, or 3.", "version 2.6.1 - 3"},
		{"what is not seen within a word", "\ufeffin\u00advis\u00adible \u00ad a\u2060b\u200dc 👩\u200d💻", "invis abc"},
		{"long names have all their parts", strings.Repeat("koala.", 12) + "zebra_lion", strings.Repeat("koala ", 12) + "zebra lion"},
		{"possessive and quotes", "Anna's 'quoted' dogs’ O'Neil’s", "anna quot dog o'neil"},
		{"compatibility forms", "ﬁle ½ Ⅳ", "file 1 2 iv"},
		{"no words", " -- ... !?", ""},
		{"a final point", "End.", "end"},
		{"pairs of a script without spaces", "日本語を", "日本 本語 語を"},
		{"one character of it", "a 水 b", "- 水 b"},
		{"next to letters", "Go言語", "go 言語"},
		{"long words are cut between runes", strings.Repeat("é", 50), strings.Repeat("é", 32)},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := shownTerms(c.text, false); got != c.want {
				t.Errorf("%q gives %q, want %q", c.text, got, c.want)
			}
		})
	}
}

func TestTermsOfCode(t *testing.T) {
	t.Parallel()
	cases := []struct{ name, text, want string }{
		{"an identifier and its parts", "parseHTTPRequest_v2", "parsehttprequest_v2 pars http request v2"},
		{"one word is stemmed", "parsing", "pars"},
		{"dotted", "os.path.Join(x)", "os.path.join os path join x"},
		{"a stop word among the parts", "isReady", "isready - readi"},
		{"a version and its release line", "2.6.1", "2.6.1 2.6"},
		{"a version of four groups", "2.12.7.1,", "2.12.7.1 2.12"},
		{"a version after a v", "v3.8.2", "3.8.2 3.8"},
		{"an address is read so too", "10.0.12.7", "10.0.12.7 10.0"},
		{"two groups are whole and parts", "0.25", "0.25 0 25"},
		{"a version with more in it is an identifier", "4.1.46Final", "4.1.46final 4 1 46 final"},
		{"capitals alone", "HTTP", "http"},
		{"leading marks", "__init__", "init"},
		{"long names have all their parts", "org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.TestQueueLimits",
			"org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity org apach hadoop yarn server resourcemanag schedul capac test queue limit"},
		{"parts are cut", strings.Repeat("q", 70) + "_" + strings.Repeat("z", 70) + ".x",
			strings.Repeat("q", 64) + " " + strings.Repeat("q", 64) + " " + strings.Repeat("z", 64) + " x"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := shownTerms(c.text, true); got != c.want {
				t.Errorf("%q gives %q, want %q", c.text, got, c.want)
			}
		})
	}
}

func TestTermsOfOtherLanguages(t *testing.T) {
	t.Parallel()
	cases := []struct{ name, text, want string }{
		{"German", "Die Häuser werden von den Besitzern nicht verkauft", "- haus - - - besitz - verkauft"},
		{"Spanish", "Los empleados que trabajan para las empresas", "- emple - trabaj - - empres"},
		{"French, with what is joined to a word", "L'eau que nous buvons est dans les rivières d'Europe", "eau - - buvon - - - rivi europ"},
		{"one foreign word does not decide the language", "the Los Angeles teams", "- los angel team"},
		{"an alphabet without spaces", "ประเทศไทย", "ประเ ระเท ะเทศ เทศไ ทศไท ศไทย"},
		{"American spelling", "organisation colours exercise", "organ color exercis"},
		{"irregular forms", "found children won", "find child win"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := shownTerms(c.text, false); got != c.want {
				t.Errorf("%q gives %q, want %q", c.text, got, c.want)
			}
		})
	}
}

// terms analyses s in its own language, as prose or as code.
func terms(s string, code bool) []string {
	return text.Analyser{Language: text.LanguageOf(s), Code: code}.AppendTerms(nil, s)
}

// shownTerms joins terms by spaces, an empty one as "-".
func shownTerms(s string, code bool) string {
	all := terms(s, code)
	for i, term := range all {
		if term == "" {
			all[i] = "-"
		}
	}
	return strings.Join(all, " ")
}

func FuzzTerms(f *testing.F) {
	for _, s := range []string{"parseHTTPRequest_v2 don't", "[a](b) ![c](d)", "日本語 ไทย 한국", "a.b..c._'", "\xff\xfe", "[[[[](", "ﬁ½İß"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, code := range []bool{false, true} {
			all := terms(s, code)
			for _, term := range all {
				if len(term) > 64 || utf8.ValidString(s) && !utf8.ValidString(term) {
					t.Errorf("term %q of %d bytes", term, len(term))
				}
			}
			if again := terms(s, code); !slices.Equal(all, again) {
				t.Errorf("%q then %q", all, again)
			}
			if len(all) > 8*len(s)+1 {
				t.Errorf("%d terms of %d bytes", len(all), len(s))
			}
		}
	})
}

func TestSentences(t *testing.T) {
	t.Parallel()
	cases := []struct{ text, want string }{
		{"One. Two! Three? Four", "One.|Two!|Three?|Four"},
		{"Dr. Who met J. Smith, e.g. here. Yes.", "Dr. Who met J. Smith, e.g. here.|Yes."},
		{"Version 2.6 is out. it is small.", "Version 2.6 is out. it is small."},
		{"He said \"go.\" Then (she went.) End", "He said \"go.\"|Then (she went.)|End"},
		{"一。二！", "一。|二！"},
		{"  ", ""},
	}
	for _, c := range cases {
		var sentences []string
		for _, at := range text.Sentences(c.text) {
			sentences = append(sentences, c.text[at[0]:at[1]])
		}
		if got := strings.Join(sentences, "|"); got != c.want {
			t.Errorf("%q gives %q, want %q", c.text, got, c.want)
		}
	}
}

// TestBoundedCutsWhatBecomesLonger: only a text whose characters stand for many others is cut.
func TestBoundedCutsWhatBecomesLonger(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want string }{
		"longer":             {strings.Repeat("\ufdfa", 100), strings.Repeat("\ufdfa", 30)}, // 33 bytes each
		"after other words":  {strings.Repeat("word ", 200) + strings.Repeat("\ufdfa", 100), strings.Repeat("word ", 200) + strings.Repeat("\ufdfa", 9)},
		"a few":              {"what does \ufdfa mean?", "what does \ufdfa mean?"},
		"long, as it is":     {strings.Repeat("\u00e9", 2000), strings.Repeat("\u00e9", 2000)},
		"composed":           {strings.Repeat("e\u0301", 2000), strings.Repeat("e\u0301", 2000)},
		"of another script":  {strings.Repeat("\ud55c", 2000), strings.Repeat("\ud55c", 2000)},
		"no character of it": {strings.Repeat("\xff", 2000), strings.Repeat("\xff", 2000)},
	} {
		if got := text.Bounded(c.text, 1000); got != c.want {
			t.Errorf("%s: %d bytes, want %d", name, len(got), len(c.want))
		}
	}
}
