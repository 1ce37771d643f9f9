package httpapi_test

import (
	"strings"
	"testing"

	"docent/shared/growthtest"
	"docent/shared/httpapi"
)

const (
	codeBegins    = "\n\n#### Code Interpreter\n\nYou have access to a Python code interpreter via: `<code_interpreter type=\"code\">`\n"
	codeEnds      = "to achieve the highest-quality analysis for the user."
	browserBegins = "\n\n##### Pyodide Environment\n\n- This runs in the browser.\n"
	browserEnds   = "to discover available files."
	wholePrompt   = codeBegins + codeEnds + browserBegins + browserEnds
)

// TestTheCodePromptIsCutAndNoQuestion: a question or a passage may have part of the prompt.
func TestTheCodePromptIsCutAndNoQuestion(t *testing.T) {
	t.Parallel()
	for name, c := range map[string][2]string{
		"none":                      {"How tall is it?", "How tall is it?"},
		"whole":                     {"How tall is it?" + wholePrompt, "How tall is it?"},
		"two":                       {"One." + wholePrompt + " Two." + codeBegins + codeEnds, "One. Two."},
		"a beginning in a question": {"What is" + codeBegins + "?" + wholePrompt, "What is" + codeBegins + "?"},
		"a beginning in a passage":  {"A passage" + codeBegins + "cut off. How tall is it?" + wholePrompt, "A passage" + codeBegins + "cut off. How tall is it?"},
		"an end in a question":      {"Who wrote " + codeEnds + wholePrompt, "Who wrote " + codeEnds},
		"a second part cut off":     {"A passage" + codeBegins + codeEnds + browserBegins + "How tall is it?" + wholePrompt, "A passage" + browserBegins + "How tall is it?"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := httpapi.WithoutCodePrompts(c[0]); got != c[1] {
				t.Errorf("%q, want %q", got, c[1])
			}
		})
	}
}

// TestManyCodePromptsAreCutInOnePass is not parallel, because it measures memory.
func TestManyCodePromptsAreCutInOnePass(t *testing.T) {
	for name, part := range map[string]string{"whole": "a" + wholePrompt, "a second part cut off": "a" + codeBegins + codeEnds + browserBegins} {
		t.Run(name, func(t *testing.T) {
			growthtest.Linear(t, 1000, func(n int) { httpapi.WithoutCodePrompts(strings.Repeat(part, n)) })
		})
	}
}
