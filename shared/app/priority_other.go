//go:build !linux

package app

// inBackground runs work. Only Linux has threads with different priorities.
func inBackground(work func()) { work() }
