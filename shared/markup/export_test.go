package markup

// EscapesBracket is escapesBracket.
var EscapesBracket = escapesBracket
