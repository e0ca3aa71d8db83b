// Command postern is the whole product in one binary: the server, its
// migrations, and the command line of its API.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], terminal{in: os.Stdin, out: os.Stdout, err: os.Stderr, environ: os.Environ()})
	stop()
	os.Exit(code)
}
