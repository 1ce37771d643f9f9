//go:build race

package faulttest

// EveryNth is which calls a walk makes fail under the race detector, which makes each many times as slow. make test
// runs the walks once more without it, for every call.
const EveryNth = 16
