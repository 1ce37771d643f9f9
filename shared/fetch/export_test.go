package fetch

// NewFetcher exports newFetcher.
var NewFetcher = newFetcher
