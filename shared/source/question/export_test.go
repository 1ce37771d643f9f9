package question

// Parts exports parts.
var Parts = parts
