// Command docent is all of Docent on one machine: the server, the administration of its teams and keys, and a
// client that puts documents and asks questions.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// sameInterrupt is how long after an interrupt another signal is the same one: timeout(1) sends it to the process and to its group, and
// service managers may do so too.
const sameInterrupt = time.Second

func main() {
	ends := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // nohup(1) ignores it
		ends = append(ends, syscall.SIGHUP) // the terminal is closed
	}
	ctx, stop := signal.NotifyContext(context.Background(), ends...)
	context.AfterFunc(ctx, func() {
		time.Sleep(sameInterrupt)
		stop() // a second interrupt ends the program at once
	})
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}
