//go:build !race

package faulttest

// EveryNth is which calls a walk makes fail: each.
const EveryNth = 1
