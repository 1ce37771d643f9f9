package docx

import "strings"

// han returns a number from 1 to 9999 in Chinese characters, as a format of w:numFmt writes it; "" for other formats.
func han(n int, format string) string {
	digits := []rune("〇一二三四五六七八九")
	switch format {
	case "chineseCounting", "taiwaneseCounting":
		if n > 99 { // digit by digit
			return han(n, "ideographDigital")
		}
	case "ideographDigital":
		if n > 9 {
			return han(n/10, format) + string(digits[n%10])
		}
		return string(digits[n])
	case "chineseCountingThousand", "taiwaneseCountingThousand", "japaneseCounting":
	default:
		return ""
	}
	japanese := format == "japaneseCounting"
	var b strings.Builder
	skipped := false
	for _, unit := range []struct {
		of   int
		name string
	}{{1000, "千"}, {100, "百"}, {10, "十"}, {1, ""}} {
		d := n / unit.of % 10
		if d == 0 {
			skipped = b.Len() > 0
			continue
		}
		if skipped && !japanese {
			b.WriteString("零")
		}
		skipped = false
		if d > 1 || unit.of == 1 || !japanese && !(unit.of == 10 && b.Len() == 0) { // ten is 十, not 一十
			b.WriteRune(digits[d])
		}
		b.WriteString(unit.name)
	}
	return b.String()
}
