package wordpiece

import "unicode"

// isSpace reports whether r separates words.
func isSpace(r rune) bool { return unicode.IsSpace(r) }

// isRemoved reports whether cleaning removes r: control, format and private use characters, and what stands for
// undecodable text.
func isRemoved(r rune) bool {
	switch {
	case r == '\t' || r == '\n' || r == '\r':
		return false
	case r < 0x7f:
		return r < ' '
	case r == unicode.ReplacementChar:
		return true
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co)
}

// isAccent reports whether r is a mark that takes no space of its own.
func isAccent(r rune) bool { return unicode.Is(unicode.Mn, r) }

func lower(r rune) rune { return unicode.ToLower(r) }

// isPunctuation reports whether r is a word of its own: as in Unicode, and all ASCII that is neither letter nor digit.
func isPunctuation(r rune) bool {
	if r < 0x80 {
		return r > ' ' && r < 0x7f && !('0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z')
	}
	return unicode.IsPunct(r)
}

// isChinese reports whether r is an ideograph, which BERT takes as a word.
func isChinese(r rune) bool {
	return 0x4E00 <= r && r <= 0x9FFF || 0x3400 <= r && r <= 0x4DBF || 0x20000 <= r && r <= 0x2A6DF ||
		0x2A700 <= r && r <= 0x2B73F || 0x2B740 <= r && r <= 0x2B81F || 0x2B920 <= r && r <= 0x2CEAF ||
		0xF900 <= r && r <= 0xFAFF || 0x2F800 <= r && r <= 0x2FA1F
}
