//go:build !race

package app

// everyNth: every call is made to fail.
const everyNth = 1
