package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// oldestNode is the oldest major version of Node that the CDK supports.
const oldestNode = 22

// errNoNode: there is no Node that the CDK could run in.
var errNoNode = errors.New("node is not installed: run make node, or install Node 22 or later")

// findNode looks for a Node that the CDK can run in, first for the one that make
// node has installed below the project's folder root. Without any the library
// panics in the middle of the work.
func findNode(ctx context.Context, root string) error {
	own, err := filepath.Abs(filepath.Join(root, ".cache", "node", "bin"))
	if err != nil {
		return err
	}
	if _, err := os.Stat(own); err == nil {
		if err := os.Setenv("PATH", own+string(filepath.ListSeparator)+os.Getenv("PATH")); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, "node", "--version").Output()
	if err != nil {
		return errNoNode
	}
	version := strings.TrimSpace(string(out))
	major, _, _ := strings.Cut(strings.TrimPrefix(version, "v"), ".")
	if n, err := strconv.Atoi(major); err != nil || n < oldestNode {
		return fmt.Errorf("node %s is too old: run make node, or install Node 22 or later", version)
	}
	return nil
}
