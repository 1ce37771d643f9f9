package source

// Parts cuts a question that asks several things.
var Parts = parts
