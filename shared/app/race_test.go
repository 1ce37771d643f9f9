//go:build race

package app

// everyNth is which calls are made to fail under the race detector, which makes each many times as slow. make test
// runs the walks once more without it, for every call.
const everyNth = 16
