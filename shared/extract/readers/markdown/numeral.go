package markdown

import "strings"

// Letters returns n, from 1, as lists count by letters: a to z, then aa to zz, and so on up to five letters.
func Letters(n int) string {
	return strings.Repeat(string(rune('a'+(n-1)%26)), min((n-1)/26+1, 5))
}

// Roman returns n, from 1, as a Roman number. Its length grows with n.
func Roman(n int) string {
	var text strings.Builder
	for _, d := range []struct {
		value int
		sign  string
	}{
		{1000, "M"}, {900, "CM"}, {500, "D"}, {400, "CD"}, {100, "C"}, {90, "XC"}, {50, "L"}, {40, "XL"}, {10, "X"},
		{9, "IX"}, {5, "V"}, {4, "IV"}, {1, "I"},
	} {
		for ; n >= d.value; n -= d.value {
			text.WriteString(d.sign)
		}
	}
	return text.String()
}
