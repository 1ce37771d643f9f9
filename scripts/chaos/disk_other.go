//go:build !linux

package main

import "errors"

func mountDisk(string) error { return errors.New("only Linux") }

func unmountDisk(string) error { return nil }
