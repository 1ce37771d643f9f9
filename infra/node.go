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

// oldestNode is the oldest major version of Node that the CDK runs on. The CDK warns about versions that it no
// longer supports.
const oldestNode = 20

// errNoNode means that there is no Node for the CDK to run in.
var errNoNode = errors.New("node is not installed, or not on the PATH of what runs this: use make, which installs one")

// findNode returns an error if there is no Node that the CDK can run in. Without Node the library panics later.
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
