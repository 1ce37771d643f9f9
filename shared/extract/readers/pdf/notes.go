package pdf

import (
	"slices"

	"docent/shared/extract/readers/markdown"
)

// notes are the pages of which something must be said.
type notes struct {
	pictures, damaged, unreadable []int
}

func (n notes) sentences() []string {
	return slices.Concat(
		markdown.Numbered(n.pictures, "Page %s is a picture without text.", "Pages %s are pictures without text."),
		markdown.Numbered(n.damaged, "Page %s is damaged and was left out.", "Pages %s are damaged and were left out."),
		markdown.Numbered(n.unreadable, "Page %s has letters that cannot be read.", "Pages %s have letters that cannot be read."),
	)
}
