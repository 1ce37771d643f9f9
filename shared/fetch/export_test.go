package fetch

// NewFetcher makes a Fetcher with another resolver and rule.
var NewFetcher = newFetcher
