// Command postern is the server, its migrations, and the command line of its API in one binary. It owns the flags,
// output and exit codes, and the credentials kept on this machine. It leaves the construction of the server to package
// app, calls of the API to package client, and settings to package config.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"postern/app"
	"postern/platform/nice"
)

func main() {
	os.Exit(run(interruptible(), os.Args[1:], terminal{
		in:      os.Stdin,
		out:     os.Stdout,
		err:     os.Stderr,
		environ: os.Environ(),
		lower:   nice.Lower,
	}))
}

// interruptible returns a context that ends with the first signal. The second signal
// ends the process at once. Ctrl-C skips the drain: a person waits, and no load balancer
// has to notice first.
func interruptible() context.Context {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		first := <-signals
		signal.Stop(signals)
		if first == os.Interrupt {
			cancel(app.ErrNoDrain)
		}
		cancel(context.Canceled)
	}()
	return ctx
}
