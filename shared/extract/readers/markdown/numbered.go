package markdown

import (
	"fmt"
	"strconv"
	"strings"
)

// maxRanges bounds a sentence.
const maxRanges = 20

// Numbered returns a sentence about pages, given in rising order, or nothing without any. one and many have %s for the
// numbers, which become "1, 3-5".
func Numbered(pages []int, one, many string) []string {
	switch len(pages) {
	case 0:
		return nil
	case 1:
		return []string{fmt.Sprintf(one, strconv.Itoa(pages[0]))}
	}
	var parts []string
	for i := 0; i < len(pages); {
		if len(parts) == maxRanges {
			return []string{fmt.Sprintf(many, strings.Join(parts, ", ")+" and more")}
		}
		end := i
		for end+1 < len(pages) && pages[end+1] == pages[end]+1 {
			end++
		}
		part := strconv.Itoa(pages[i])
		if end > i {
			part += "-" + strconv.Itoa(pages[end])
		}
		parts = append(parts, part)
		i = end + 1
	}
	return []string{fmt.Sprintf(many, strings.Join(parts, ", "))}
}
