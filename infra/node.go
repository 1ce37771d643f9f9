package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// oldestNode is the oldest major version of Node that the CDK runs on; on one that
// it no longer supports it says so.
const oldestNode = 20

// errNoNode: there is no Node that the CDK could run in.
var errNoNode = errors.New("node is not installed, or not on the PATH of what runs this: use make, which installs one")

// findNode tells whether there is a Node that the CDK can run in. Without it the
// library panics in the middle of the work.
func findNode(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, "node", "--version").Output()
	if err != nil {
		return errNoNode
	}
	version := strings.TrimSpace(string(out))
	major, _, _ := strings.Cut(strings.TrimPrefix(version, "v"), ".")
	if n, err := strconv.Atoi(major); err != nil || n < oldestNode {
		return fmt.Errorf("%w: node %s is too old", errNoNode, version)
	}
	return nil
}
