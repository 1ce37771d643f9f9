package document_test

import (
	"testing"

	"docent/shared/access"
)

// Whoever may not read one document of a collection learns that, and not how many there are.
func TestContentsAreCountedForWhoReadsAll(t *testing.T) {
	t.Parallel()
	ada := access.Person("ada", "ada", nil)
	adas := &access.Rule{Users: []access.Entry{{ID: "ada", Name: "ada"}}}
	for name, test := range map[string]struct {
		reader    access.Reader
		byDefault *access.Rule
		rules     []*access.Rule
		damaged   bool
		readable  bool
	}{
		"no rules":                    {reader: ada, rules: []*access.Rule{nil, nil}, readable: true},
		"a rule that opens":           {reader: ada, rules: []*access.Rule{nil, adas}, readable: true},
		"a rule that does not":        {reader: ada, rules: []*access.Rule{adas, nobody()}},
		"the default rule does not":   {reader: ada, byDefault: nobody(), rules: []*access.Rule{nil}},
		"a rule against the default":  {reader: ada, byDefault: nobody(), rules: []*access.Rule{adas}, readable: true},
		"everything":                  {reader: access.Everything(), rules: []*access.Rule{nil, nobody()}, readable: true},
		"a damaged entry":             {reader: ada, rules: []*access.Rule{nil, nil}, damaged: true},
		"a damaged entry, everything": {reader: access.Everything(), rules: []*access.Rule{nil, nobody()}, damaged: true, readable: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newFixture(t)
			for n, rule := range test.rules {
				in := h.text(string(rune('a'+n)), "Text.")
				in.Access = rule
				if id, _ := h.put(in); test.damaged && n == 0 {
					h.ruin(listsOf(id))
				}
			}
			n, readable, err := h.Contents(t.Context(), teamID, h.wiki, test.reader, test.byDefault)
			if err != nil || readable != test.readable || readable && n != int64(len(test.rules)) {
				t.Errorf("%d documents, all readable: %t, %v", n, readable, err)
			}
		})
	}
}
