package raised_test

import (
	"testing"

	"docent/shared/raised"
)

func TestText(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"6": "⁶", "-19": "⁻¹⁹", "−3": "⁻³", "1, 2": "¹, ²", "0.5": "⁰.⁵", "2+": "²⁺",
		"st": "st", "1st": "1st", "[1]": "[1]", "": "", " ": " ", ",": ",", "TM": "TM", "*": "*",
	} {
		if got := raised.Text(text); got != want {
			t.Errorf("Text(%q) = %q, want %q", text, got, want)
		}
	}
}
