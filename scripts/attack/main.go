// Command attack sends requests that are meant to overload docent serve, while a quiet team works as usual. It prints
// two figures: the peak of the server's resident memory, and how much slower the quiet team was than without the
// attack. It exits with status 1 if a bound is broken. README.md lists the attacks.
//
//	go run ./scripts/attack -docent bin/docent [-for 60s] [-clients 200] [-only readers] [-seed 1]
//
// It starts the server itself, on data of its own that it removes, and connects to the loopback
// interface only. It reads /proc, so it runs on Linux.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdin, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "attack:", err)
		os.Exit(1)
	}
}
