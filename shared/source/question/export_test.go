package question

// Parts cuts a question that asks several things.
var Parts = parts
