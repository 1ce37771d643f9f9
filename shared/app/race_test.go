//go:build race

package app

// everyNth: the race detector makes each call many times as slow, so one in so many is made to
// fail. make test runs the walks once more without it, for every call.
const everyNth = 8
