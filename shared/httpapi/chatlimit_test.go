package httpapi_test

import (
	"testing"

	"docent/shared/httpapi"
)

// TestAListAfterCutTextIsNoCode: the block of code in which the text was cut is closed.
func TestAListAfterCutTextIsNoCode(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"plain":                               "",
		"Run `a`":                             "",
		"Run:\n\n```sh\na":                    "\n```",
		"Run:\n\n```sh\na\n```\nThen":         "",
		"Run:\n\n```sh\na\n   ``` \nThen":     "",
		"Run:\n\n````\n```\na":                "\n````",
		"Run:\n\n~~~ `x`\n```\na":             "\n~~~",
		"Run:\n\n```sh\na\n``":                "\n```",
		"```one line```\nThen":                "",
		"> ```sh\n> a":                        "", // ends with the quotation
		"- ```sh\n  a":                        "",
		"```\na\n```\n\n```\nb\n``` no end\n": "\n```",
	} {
		if got := httpapi.Closing(text); got != want {
			t.Errorf("%q is closed by %q, not by %q", text, got, want)
		}
	}
}
