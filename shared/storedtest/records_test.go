package storedtest_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"testing"

	"docent/shared/storedtest"
)

// Forms that the code of another form stores, or that are no longer stored.
const (
	work    = "pending.Work, as of remove-document"
	segment = "as of code"
	old     = "not stored since v0.2"
)

// withoutRecord describes the forms whose fields KeepFields does not check.
var withoutRecord = map[string]string{
	"collections: {team}/count | collections":                                                    "a counter",
	"collections: {team}/count | sources":                                                        "a counter",
	"collections: {team}/source/{source} | sync-asked":                                           "a mark",
	"collections: {team}/source/{source} | seen#{text}#{number}#{number}":                        "a list of ids",
	"collections: {team}/delivered/{source} | {text}":                                            "a mark",
	"collections: pending/{number} | {number}#sync-source#{source}#{number}":                     work,
	"documents: {team}/{doc} | failure":                                                          "a code and its detail",
	"documents: {team}/{doc} | removed":                                                          "a time",
	"documents: pending/{number} | {number}#index-document#{doc}#{number}":                       work,
	"documents: pending-files/{number} | {number}#extract-document#{doc}#{number}":               work,
	"documents: pending/{number} | {number}#remove-chunks#{doc}#{number}":                        work,
	"documents: pending/{number} | {number}#remove-collection#{source}#{number}":                 work,
	"index: {team} | {source}#documentation#{number}#{segment}":                                  segment,
	"index: {team}/meaning | {source}#documentation#{number}#{segment}":                          segment,
	"index: {team}/meaning | {source}#messages#{number}#{segment}":                               segment,
	"index: {team}/meaning | {source}#prs#{number}#{segment}":                                    segment,
	"index: {team}/meaning | {source}#issues#{number}#{segment}":                                 segment,
	"index: {team} | {source}#messages#{number}#{segment}":                                       segment,
	"index: {team} | {source}#prs#{number}#{segment}":                                            segment,
	"index: {team} | {source}#issues#{number}#{segment}":                                         segment,
	"index: {team}/stale | {source}#{space}":                                                     "a counter",
	"index: pending/{number} | {number}#rebuild-index#{source}#{space}#{number}":                 work,
	"index: pending-meaning/{number} | {number}#rebuild-index#{source}#{space}#meaning#{number}": work,
	"index: cleanup | {number}#{segment}":                                                        "a list of names",
	"index: cleanup | orphans":                                                                   "a time and a place",
	"answers: {team}/list/{user} | {number}#{question}":                                          "as under {team}/list",
	"answers: pending/{number} | {number}#answer-question#{question}#{number}":                   work,
	"identities: teams | {team}":                                                                 "a key",
	"identities: {team} | admins":                                                                "a counter",
	"identities: {team}/saml | {number}":                                                         "a part of a text",
	"identities: {team}/assertions | {hash}":                                                     "a mark",
	"identities: {team}/subjects | {hash}":                                                       "an id",
	"identities: {team}/subjects/{user} | {hash}":                                                "a hash",
	"identities: {team}/userNames | {text}":                                                      "an id",
	"identities: {team}/by/{field} | {hash}/{user}":                                              "a key",
	"identities: {team}/inactive | {user}":                                                       "a key",
	"identities: {team}/departed | {user}":                                                       "a key",
	"identities: {team}/groupNames | {hash}":                                                     "an id",
	"identities: {team}/groupsBy/externalId | {hash}/{group}":                                    "a key",
	"identities: {team}/departedGroups | {group}":                                                "a key",
	"identities: key/{key} | used":                                                               "a time",
	"identities: {team}/keys | {number}#{key}":                                                   "a key",
	"identities: {team}/keys/{user} | {key}":                                                     "a key",
	"usage: {team}/quota | answers-day#{date}":                                                   "a counter",
	"usage: {team}/quota | pat-day#{key}#{date}":                                                 "a counter",
	"usage: {team}/folded | {date}":                                                              "a mark",
	"usage: {team}/rate | team":                                                                  "a time",
	"usage: {team}/rate | key#{key}":                                                             "a time",
	"events: {team}/head | head":                                                                 "a counter",
	"events: {team}/marks | {time}":                                                              "a position and a time",
	"events: {team}/head | marks":                                                                "a counter",
	"events: {team}/once | {text}":                                                               "a mark",
	"events: {team}/webhooks | all":                                                              "a version",
	"events: {team}/webhooks/state | {endpoint}":                                                 "times and a counter",
	"events: {team}/waiting/{endpoint} | {number}#{delivery}":                                    "a key",
	"events: pending/{number} | {number}#announce-events#{text}#{number}":                        work,
	"events: pending/{number} | {number}#deliver-webhooks#{endpoint}#{number}":                   work,
	"events: daily | round":                                                                      "a day and a position",
	"events: sweeps | last":                                                                      "times",
	"events: secret | cursor":                                                                    "a secret",
	"queue: {queue}/due | {number}#{message}":                                                    old,
	"queue: {queue}/dead | {message}":                                                            old,
}

// TestEveryFormHasItsFieldsChecked searches the calls of KeepFields in all areas for the name of
// each stored form.
func TestEveryFormHasItsFieldsChecked(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../*/stored_test.go")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	checked := map[string]bool{}
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok {
				if f, ok := call.Fun.(*ast.SelectorExpr); ok && f.Sel.Name == "KeepFields" {
					ast.Inspect(call, func(n ast.Node) bool {
						if text, ok := n.(*ast.BasicLit); ok && text.Kind == token.STRING {
							name, _ := strconv.Unquote(text.Value)
							checked[name] = true
						}
						return true
					})
				}
			}
			return true
		})
	}
	for _, f := range storedtest.Forms {
		if _, listed := withoutRecord[f.Name()]; listed == checked[f.Name()] {
			t.Errorf("%s: KeepFields checks it: %t, listed as without a record: %t", f.Name(), checked[f.Name()], listed)
		}
	}
}
